import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, call } from '../api/client';
import type { Me, Welcome } from '../api/types';
import { Button } from '../ui/button';
import { SelectField, TextField } from '../ui/field';
import { Gate } from '../ui/gate';
import { ErrorNote, Note } from '../ui/note';

const PROBLEMS: Record<string, string> = {
  oidc_no_member: 'Your address is not a member of this gateway. Ask an admin for an invitation.',
  oidc_no_group: 'None of your groups at the provider lets you in here. Ask the administrator of the groups, or your operator.',
  oidc_denied: 'The sign-in was cancelled or refused at the provider.',
  oidc_expired: 'The sign-in took too long. Start again.',
  oidc_failed: 'The provider could not be reached. Try again, or tell your operator.',
};

/** Only a path of this page's own origin is a place to return to, as the browser itself reads the address. */
function returnTo(): string {
  const asked = new URLSearchParams(window.location.search).get('return_to') ?? '/';
  const url = URL.canParse(asked, window.location.origin) ? new URL(asked, window.location.origin) : null;
  if (url?.origin !== window.location.origin || !/^\/(?!\/)/.test(url.pathname)) return '/';
  return url.pathname + url.search + url.hash;
}

/** An account of the provider that may be several members: the person says which workspace. */
function Choose() {
  const choices = useQuery({ queryKey: ['oidc-choice'], queryFn: () => call<{ workspaces: string[] }>('GET', '/oidc/choice'), retry: false });
  const choose = useMutation({
    mutationFn: (workspace: string) => call<{ return_to: string }>('POST', '/oidc/choice', { body: { workspace } }),
    onSuccess: (chosen) => window.location.assign(chosen.return_to),
  });
  return (
    <Gate title="Which workspace?">
      <Note tone="warn"><p>Your address was invited to these workspaces. Continue only with one that you know: its admins can use what you connect there.</p></Note>
      {choices.error && <ErrorNote error={choices.error} />}
      {choose.error && <ErrorNote error={choose.error} />}
      <div className="stack">
        {choices.data?.workspaces.map((name) => (
          <Button key={name} busy={choose.isPending} onClick={() => choose.mutate(name)}>{name}</Button>
        ))}
        <a className="button" href="/sign-in">None of these</a>
      </div>
    </Gate>
  );
}

export default function SignIn() {
  return new URLSearchParams(window.location.search).has('choose') ? <Choose /> : <Form />;
}

function Form() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [workspace, setWorkspace] = useState('');
  const welcome = useQuery({ queryKey: ['welcome'], queryFn: () => call<Welcome>('GET', '/welcome') });
  const signIn = useMutation({
    mutationFn: () => call<Me>('POST', '/sign-in', { body: { email, password, ...(workspace && { workspace }) } }),
    onSuccess: () => window.location.assign(returnTo()),
  });
  const problem = new URLSearchParams(window.location.search).get('problem');
  const refused = signIn.error instanceof ApiError ? signIn.error : null;
  const choices = (refused?.details?.workspaces ?? null) as string[] | null;
  const oidc = welcome.data?.sign_in.oidc;

  return (
    <Gate title="Sign in">
      {welcome.data && !welcome.data.set_up && (
        <Note tone="warn">
          <p className="strong">This gateway has not been set up yet.</p>
          <p>Open the setup link that <code>toolgate serve</code> printed when it started, and create the first owner.</p>
        </Note>
      )}
      {problem && <Note tone="bad"><p>{PROBLEMS[problem] ?? 'The sign-in failed.'}</p></Note>}
      {signIn.error && !choices && <ErrorNote error={signIn.error} />}
      {welcome.error && <ErrorNote error={welcome.error} retry={() => void welcome.refetch()} />}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate();
        }}
      >
        <TextField label="E-mail" type="email" name="email" autoComplete="username" required value={email} onChange={setEmail} />
        <TextField label="Password" type="password" name="password" autoComplete="current-password" required value={password} onChange={setPassword} />
        {choices && (
          <SelectField label="Workspace" hint="You belong to several." value={workspace} options={[['', 'Choose one'], ...choices.map((name) => [name, name] as const)]} onChange={setWorkspace} />
        )}
        <Button type="submit" kind="primary" busy={signIn.isPending}>Sign in</Button>
      </form>
      <details className="small">
        <summary>Forgot your password?</summary>
        <p className="muted">Ask an admin of your workspace for a link to set a new one: Members, Reset password. The operator makes one with <code>toolgate member reset</code>.</p>
      </details>
      {oidc && (
        <a className="button" href={`${oidc.start_url}?return_to=${encodeURIComponent(returnTo())}`}>
          Sign in with {oidc.name}
        </a>
      )}
    </Gate>
  );
}

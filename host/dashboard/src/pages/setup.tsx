// What a one-time link is for: the first owner, an invited member, a new password. Its token stays
// in the fragment, which no server and no log sees.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import type { LinkInfo, Me, Welcome } from '../api/types';
import { Button } from '../ui/button';
import { TextField } from '../ui/field';
import { Gate } from '../ui/gate';
import { ErrorNote, Note, Waiting } from '../ui/note';

const PASSWORD_MIN = 12;
const PASSWORD_MAX = 200;

export default function SetUp() {
  const token = window.location.hash.slice(1);
  const link = useQuery({
    queryKey: ['link', token],
    queryFn: () => call<LinkInfo>('POST', '/link', { body: { token } }),
    enabled: token !== '',
    staleTime: Infinity,
    retry: false,
  });
  if (token === '') {
    return (
      <Gate title="This link is incomplete">
        <p>
          Open the complete link, including the part after <code>#</code>. <code>toolgate serve</code> prints a setup link while there is no owner; invitations come from an admin.
        </p>
        <a className="button" href="/sign-in">Go to sign in</a>
      </Gate>
    );
  }
  if (link.error) {
    return (
      <Gate title="This link does not work">
        <ErrorNote error={link.error} />
        <p>Links work once and expire. Ask for a new one, or sign in if you have already used it.</p>
        <a className="button" href="/sign-in">Go to sign in</a>
      </Gate>
    );
  }
  if (!link.data) return <Gate title="One moment"><Waiting /></Gate>;
  return <Form token={token} link={link.data} />;
}

const TITLES = { setup: 'Set up toolgate', join: 'Join', reset: 'Set a new password' };

function Form({ token, link }: { token: string; link: LinkInfo }) {
  const [email, setEmail] = useState(link.email ?? '');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const join = useMutation({
    mutationFn: () => call<Me>('POST', '/setup', { body: { token, email, password, ...(link.kind !== 'reset' && { name }) } }),
    onSuccess: () => window.location.assign('/'),
  });
  const welcome = useQuery({ queryKey: ['welcome'], queryFn: () => call<Welcome>('GET', '/welcome') });
  const provider = link.kind === 'join' ? welcome.data?.sign_in.oidc : null;
  const accept = useMutation({
    mutationFn: () => call<{ url: string }>('POST', '/oidc/start', { body: { token } }),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  const short = password !== '' && password.length < PASSWORD_MIN;
  const differs = again !== '' && again !== password;
  const about = {
    setup: `You become the owner of the workspace ${link.workspace}.`,
    join: `You join the workspace ${link.workspace} as ${link.role}.`,
    reset: `For ${link.workspace}. You are signed out everywhere else.`,
  };
  return (
    <Gate title={TITLES[link.kind]} about={about[link.kind]}>
      {join.error && <ErrorNote error={join.error} />}
      {link.kind === 'setup' && <Note><p>This link works once. After that, sign in with the password you choose here.</p></Note>}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!short && !differs && again === password) join.mutate();
        }}
      >
        <TextField label="E-mail" type="email" name="email" autoComplete="username" required readOnly={link.email != null} value={email} onChange={setEmail} />
        {link.kind !== 'reset' && <TextField label="Name" name="name" autoComplete="name" required maxLength={200} value={name} onChange={setName} />}
        <TextField label="Password" type="password" name="password" autoComplete="new-password" required minLength={PASSWORD_MIN} maxLength={PASSWORD_MAX} hint={`At least ${PASSWORD_MIN} characters. A sentence works well.`} wrong={short ? `${PASSWORD_MIN - password.length} more characters` : null} value={password} onChange={setPassword} />
        <TextField label="Password again" type="password" name="again" autoComplete="new-password" required wrong={differs ? 'The passwords do not match' : null} value={again} onChange={setAgain} />
        <Button type="submit" kind="primary" busy={join.isPending}>{link.kind === 'reset' ? 'Set password' : 'Create account'}</Button>
      </form>
      {accept.error && <ErrorNote error={accept.error} />}
      {provider && <Button busy={accept.isPending} onClick={() => accept.mutate()}>Accept with {provider.name}</Button>}
    </Gate>
  );
}

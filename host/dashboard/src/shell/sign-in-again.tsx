// Asks for the password again when the session ends while a page is open. The page stays mounted, hidden, and keeps what was typed.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useId, useRef, useState } from 'react';
import { call, refresh } from '../api/client';
import { listenAgain } from '../api/events';
import type { Me, Welcome } from '../api/types';
import { Button } from '../ui/button';
import { TextField } from '../ui/field';
import { Icon } from '../ui/icon';
import { ErrorNote } from '../ui/note';
import { useMe } from './me';

export function SignInAgain({ onSignedIn }: { onSignedIn: () => void }) {
  const me = useMe();
  const client = useQueryClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const [password, setPassword] = useState('');
  const welcome = useQuery({ queryKey: ['welcome'], queryFn: () => call<Welcome>('GET', '/welcome') });
  const oidc = welcome.data?.sign_in.oidc;

  const goOn = useCallback(
    (now: Me) => {
      // The page behind shows what its member may see; anybody else begins anew.
      if (now.member_id !== me.member_id) {
        window.location.assign('/');
        return;
      }
      client.setQueryData(['me'], now);
      listenAgain();
      void client.invalidateQueries();
      onSignedIn();
    },
    [client, me.member_id, onSignedIn],
  );
  const signIn = useMutation({
    mutationFn: () => call<Me>('POST', '/sign-in', { body: { email: me.email, password, workspace: me.workspace.name } }),
    onSuccess: goOn,
  });

  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    if (element && !element.open) element.showModal();
    return () => {
      element?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  // Somebody may have signed in in another tab, as one does with a provider.
  useEffect(() => {
    const back = async () => {
      if (document.hidden || (await refresh()) !== 'renewed') return;
      goOn(await call<Me>('GET', '/me'));
    };
    const looked = () => void back().catch(() => {});
    window.addEventListener('focus', looked);
    document.addEventListener('visibilitychange', looked);
    return () => {
      window.removeEventListener('focus', looked);
      document.removeEventListener('visibilitychange', looked);
    };
  }, [goOn]);

  return (
    <dialog ref={dialog} className="again" aria-labelledby={title} onCancel={(event) => event.preventDefault()}>
      <header><h2 id={title}>Sign in again</h2></header>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate();
        }}
      >
        <div className="inner stack">
          <p>Your sign-in has expired. The page is as you left it, including everything you typed.</p>
          {signIn.error && <ErrorNote error={signIn.error} />}
          <TextField label="E-mail" type="email" autoComplete="username" readOnly value={me.email} onChange={() => {}} />
          <TextField label="Password" type="password" autoComplete="current-password" autoFocus required value={password} onChange={setPassword} />
          {oidc && (
            <p>
              <a className="button" href={`${oidc.start_url}?return_to=/overview`} target="_blank" rel="noopener"><Icon name="external" />Sign in with {oidc.name}</a>{' '}
              <span className="muted small">In another tab; then come back to this one.</span>
            </p>
          )}
        </div>
        <footer>
          <a className="button" href="/sign-in">Use another account</a>
          <Button type="submit" kind="primary" busy={signIn.isPending} disabled={!password}>Sign in</Button>
        </footer>
      </form>
    </dialog>
  );
}

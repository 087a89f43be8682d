// An app asks to be let in. The person who is signed in decides, once, and goes back to the app.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ApiError, call, whenSignedOut } from '../api/client';
import type { AppRequest } from '../api/types';
import { Button } from '../ui/button';
import { Gate } from '../ui/gate';
import { Grant } from '../ui/grant';
import { ErrorNote, Note, Waiting } from '../ui/note';
import { Pairs } from '../ui/page';

/** Where the answer goes, in words. */
function destination(goes: AppRequest['goes_to']): string {
  if (goes.kind === 'site') return goes.name;
  if (goes.kind === 'program') return `a program on this computer (${goes.name})`;
  return 'a program on this computer';
}

export default function Authorize() {
  const id = new URLSearchParams(window.location.search).get('request') ?? '';
  useEffect(() => {
    whenSignedOut(() => {
      const { pathname, search } = window.location;
      if (pathname !== '/sign-in') window.location.replace(`/sign-in?return_to=${encodeURIComponent(pathname + search)}`);
    });
  }, []);
  const path = `/app-requests/${encodeURIComponent(id)}`;
  const request = useQuery({ queryKey: ['app-request', id], queryFn: () => call<AppRequest>('GET', path), retry: false, staleTime: Infinity, refetchOnWindowFocus: false });
  const decide = useMutation({
    mutationFn: (allow: boolean) => call<{ url: string }>('POST', path, { body: { allow } }),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  const app = request.data;
  if (!app) {
    if (!request.error || (request.error instanceof ApiError && request.error.status === 401)) return <Waiting />;
    const over = request.error instanceof ApiError && request.error.status === 404;
    return (
      <Gate title="Connect an app">
        {over ? (
          <Note tone="bad">
            <p className="strong">This request was already decided, or is too old.</p>
            <p>Go back to the app and connect again.</p>
          </Note>
        ) : (
          <ErrorNote error={request.error} retry={() => void request.refetch()} />
        )}
      </Gate>
    );
  }
  const busy = decide.isPending || decide.isSuccess;
  const noToolset = app.toolset != null && app.toolset.title == null;
  return (
    <Gate title={`Connect ${app.client_name}?`}>
      <Pairs
        items={[
          ['App', <span className="strong">{app.client_name}</span>],
          ['Verified host', app.verified_host ?? (app.named_by_admin ? 'named by an admin of the workspace' : 'none')],
          ['Goes back to', destination(app.goes_to)],
          ['Workspace', app.workspace],
          app.toolset && ['Toolset', app.toolset.title ?? app.toolset.name],
          ['Acts as', app.user_id],
        ]}
      />
      {app.verified_host == null && !app.named_by_admin && (
        <Note tone="warn">
          <p>Nobody has checked this app: it chose its name itself. Continue only if you started this from an app that you trust.</p>
        </Note>
      )}
      <Grant app={app} />
      {noToolset && <Note tone="bad"><p>The workspace {app.workspace} has no toolset {app.toolset?.name}. Check the address that you gave the app, or sign in to another workspace.</p></Note>}
      {app.blocked && <Note tone="bad"><p>An admin of the workspace has switched this app off.</p></Note>}
      {decide.error && <ErrorNote error={decide.error} />}
      <Button kind="primary" busy={busy} disabled={app.blocked || noToolset} onClick={() => decide.mutate(true)}>Allow</Button>
      <Button disabled={busy} onClick={() => decide.mutate(false)}>Cancel</Button>
      <p className="small muted">You can end this at any time under Settings, Connected apps.</p>
    </Gate>
  );
}

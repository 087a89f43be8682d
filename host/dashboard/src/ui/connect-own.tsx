// Connecting one's own account, with one press.

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import type { Connection, ConnectionPage, ConnectLink } from '../api/types';
import { useMe } from '../shell/me';
import { Button } from './button';
import { CopyLine } from './copy';
import { Dialog } from './dialog';
import { Icon } from './icon';
import { openWhenKnown } from './open-link';
import { Time } from './time';
import { useToast } from './toast';

/** A connect link; `connection` is renewed and keeps its id. */
const link = (service: string, userId: string, connection?: Connection) =>
  call<ConnectLink>('POST', '/connections/link', { body: { service, user_id: userId, ...(connection && { connection_id: connection.connection_id }) } });

/** Opens the page of a connect link; `blocked`: the link of a tab that the browser did not open. */
function useOpenLink() {
  const toast = useToast();
  const [blocked, setBlocked] = useState<ConnectLink | null>(null);
  const open = useMutation({
    mutationFn: async (made: Promise<ConnectLink>) => {
      const { opened } = await openWhenKnown(made.then((one) => one.connect_url));
      if (!opened) setBlocked(await made);
    },
    onError: toast.error,
  });
  return { open, blocked, forget: () => setBlocked(null) };
}

function Blocked({ title, made, onClose }: { title: string; made: ConnectLink; onClose: () => void }) {
  return (
    <Dialog title={`Connect ${title}`} onClose={onClose} footer={<Button onClick={onClose}>Done</Button>}>
      <p>The browser opened no tab. This link works once and expires <Time at={made.expires_at} />.</p>
      <CopyLine text={made.connect_url} label="connect link" />
      <div><a className="button primary" href={made.connect_url} target="_blank" rel="noopener"><Icon name="external" />Open</a></div>
    </Dialog>
  );
}

export function ConnectOwn({ service, title, disabled }: { service: string; title: string; disabled?: boolean }) {
  const me = useMe();
  const { open, blocked, forget } = useOpenLink();
  return (
    <>
      <Button kind="primary" icon="external" busy={open.isPending} disabled={disabled} onClick={() => open.mutate(link(service, me.user_id))}>Connect your account</Button>
      {blocked && <Blocked title={title} made={blocked} onClose={forget} />}
    </>
  );
}

export function Reconnect({ connection, title }: { connection: Connection; title: string }) {
  const { open, blocked, forget } = useOpenLink();
  return (
    <>
      <Button size="small" busy={open.isPending} aria-label={`Reconnect ${connection.account ?? title} of ${connection.user_id}`} onClick={() => open.mutate(link(connection.service, connection.user_id, connection))}>Reconnect</Button>
      {blocked && <Blocked title={title} made={blocked} onClose={forget} />}
    </>
  );
}

/** The link by which something that waits for a connection goes on: it renews the chosen connection, or one that is broken. */
async function linkAgain(service: string, userId: string, chosen: string | null | undefined): Promise<ConnectLink> {
  const { connections } = await call<ConnectionPage>('GET', '/connections', { query: { user_id: userId, service, limit: 100 } });
  if (!chosen) return link(service, userId, connections.find((one) => one.state === 'reauth_needed'));
  const connection = connections.find((one) => one.connection_id === chosen && one.state !== 'revoked');
  if (!connection) throw new Error('Its connection was deleted. Make a new trigger with another connection.');
  return link(service, userId, connection);
}

export function ConnectAgain({ service, title, userId, connectionId }: { service: string; title: string; userId: string; connectionId?: string | null | undefined }) {
  const { open, blocked, forget } = useOpenLink();
  return (
    <>
      <Button size="small" icon="external" busy={open.isPending} aria-label={`Connect ${title} of ${userId}`} onClick={() => open.mutate(linkAgain(service, userId, connectionId))}>Connect</Button>
      {blocked && <Blocked title={title} made={blocked} onClose={forget} />}
    </>
  );
}

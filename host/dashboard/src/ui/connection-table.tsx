// Connections: whose, at which service, in which state, and what can be done about it.

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { Connection, DeletedConnection } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { State } from './badge';
import { Button } from './button';
import { Reconnect } from './connect-own';
import { Confirm } from './dialog';
import { Logo } from './logo';
import { useServices } from './services';
import { Table, type Column } from './table';
import { Time } from './time';
import { useToast } from './toast';

interface Props {
  caption: string;
  connections: Connection[];
  /** Left out where the page is about one of them. */
  hide?: 'service' | 'user';
}

export function ConnectionTable({ caption, connections, hide }: Props) {
  const admin = useIsAdmin();
  const services = useServices();
  const toast = useToast();
  const client = useQueryClient();
  const [removing, setRemoving] = useState<Connection | null>(null);
  const titleOf = (service: string) => services.data?.services.find((one) => one.service === service)?.title ?? service;
  const remove = async (connection: Connection) => {
    const gone = await call<DeletedConnection>('DELETE', `/connections/${connection.connection_id}`);
    void client.invalidateQueries({ queryKey: ['connections'] });
    void client.invalidateQueries({ queryKey: ['services'] });
    toast.success(gone.revoked_at_provider ? 'Disconnected, and revoked at the provider' : 'Disconnected');
  };
  const service: Column<Connection> = { head: 'Service', cell: (row) => <Link href={`/integrations/${row.service}`} className="row named"><Logo service={row.service} title={titleOf(row.service)} size={20} /><span>{titleOf(row.service)}</span></Link> };
  const user: Column<Connection> = { head: 'User', cell: (row) => (admin ? <Link href={`/permissions/${encodeURIComponent(row.user_id)}`}>{row.user_id}</Link> : row.user_id) };
  return (
    <>
      <Table
        caption={caption}
        rows={connections}
        rowKey={(row) => row.connection_id}
        columns={[
          ...(hide === 'service' ? [] : [service]),
          { head: 'Account', cell: (row) => <span className="strong">{row.account ?? 'unnamed'}</span> },
          ...(hide === 'user' ? [] : [user]),
          { head: 'Health', cell: (row) => <Health connection={row} /> },
          { head: 'Since', cell: (row) => <Time at={row.state_since} /> },
          { head: 'Scopes', cell: (row) => <span className="small">{row.scopes.join(', ') || <span className="muted">none</span>}</span> },
          { head: 'Used by', cell: (row) => <Link href={`/executions?service=${row.service}${admin ? `&user_id=${encodeURIComponent(row.user_id)}` : ''}`} className="small">Calls</Link> },
          {
            head: 'Actions',
            align: 'acts',
            cell: (row) => (
              <>
                {row.state === 'reauth_needed' && <Reconnect connection={row} title={titleOf(row.service)} />}
                {row.state !== 'revoked' && <Button size="small" kind="danger" onClick={() => setRemoving(row)}>Disconnect</Button>}
              </>
            ),
          },
        ]}
      />
      {removing && (
        <Confirm title="Disconnect this account?" action="Disconnect" onClose={() => setRemoving(null)} onConfirm={() => remove(removing)}>
          <p>
            <b>{removing.account ?? removing.connection_id}</b> of {removing.user_id} is deleted here, and revoked at {titleOf(removing.service)} if that is supported. Tools that need it will ask for a new connection.
          </p>
        </Confirm>
      )}
    </>
  );
}

function Health({ connection }: { connection: Connection }) {
  return (
    <div className="stack tight">
      <span><State name={connection.state} /></span>
      {connection.last_error && connection.state !== 'active' && <span className="small muted">{connection.last_error}</span>}
      {connection.next_retry_at && connection.state === 'cooling_down' && <span className="small muted">next try <Time at={connection.next_retry_at} /></span>}
    </div>
  );
}

// Connected apps: who let which MCP client in, when it was last used, and the end of it.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { ConnectedApp, ConnectedApps } from '../api/types';
import { useIsAdmin, useMe } from '../shell/me';
import { Button } from '../ui/button';
import { Confirm } from '../ui/dialog';
import { Menu } from '../ui/menu';
import { Empty } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Table } from '../ui/table';
import { Time } from '../ui/time';
import { useToast } from '../ui/toast';
import { NamedClientsCard } from './named-clients';

type OpenDialog = { kind: 'revoke' | 'block'; app: ConnectedApp };

export default function Apps() {
  const me = useMe();
  const admin = useIsAdmin();
  const client = useQueryClient();
  const toast = useToast();
  const apps = useQuery({ queryKey: ['apps'], queryFn: () => call<ConnectedApps>('GET', '/apps') });
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const changed = () => void client.invalidateQueries({ queryKey: ['apps'] });
  const unblock = useMutation({
    mutationFn: (client_id: string) => call('DELETE', '/app-blocks', { body: { client_id } }),
    onSuccess: changed,
    onError: (refused) => toast.error(refused),
  });
  const act = async ({ kind, app }: OpenDialog) => {
    if (kind === 'revoke') await call('DELETE', `/apps/${app.app_id}`);
    else await call('POST', '/app-blocks', { body: { client_id: app.client_id } });
    changed();
    toast.success(kind === 'revoke' ? `Disconnected ${app.client_name}` : `Switched ${app.client_name} off`);
  };
  const about = admin ? 'MCP clients that members have let in by signing in. An app acts as the member who let it in.' : 'MCP clients that you have let in by signing in. An app acts as you.';
  return (
    <Page title="Connected apps" about={about}>
      <Loaded query={apps}>
        {(data) => (
          <div className="stack">
            <Card flush>
              {data.apps.length === 0 ? (
                <Empty icon="clients" title="No connected apps">
                  Add <span className="mono">{me.mcp_url}</span> to an MCP client without a key, and it asks you to sign in. <Link className="in-text" href="/settings/clients">How to connect a client</Link>
                </Empty>
              ) : (
                <Table
                  caption="Connected apps, newest first"
                  rows={data.apps}
                  rowKey={(row) => row.app_id}
                  columns={[
                    { head: 'App', cell: (row) => <span className="strong">{row.client_name}</span> },
                    { head: 'Member', cell: (row) => row.member_name },
                    { head: 'Toolset', cell: (row) => row.toolset ?? <span className="muted">all tools</span> },
                    { head: 'Scopes', cell: (row) => <span className="small">{row.scopes.join(', ')}</span> },
                    { head: 'Connected', cell: (row) => <Time at={row.connected_at} /> },
                    { head: 'Last used', cell: (row) => <Time at={row.last_used_at} /> },
                    {
                      head: 'Actions',
                      align: 'acts',
                      cell: (row) => (
                        <Menu
                          label={`Actions for ${row.client_name}`}
                          entries={[
                            { label: 'Disconnect', icon: 'trash', danger: true, onSelect: () => setDialog({ kind: 'revoke', app: row }) },
                            ...(admin ? [{ label: 'Switch off for everyone', icon: 'close' as const, danger: true, onSelect: () => setDialog({ kind: 'block', app: row }) }] : []),
                          ]}
                        />
                      ),
                    },
                  ]}
                />
              )}
            </Card>
            {data.blocked.length > 0 && (
              <Card title="Switched off" flush>
                <Table
                  caption="Apps that nobody in the workspace may let in"
                  rows={data.blocked}
                  rowKey={(row) => row.client_id}
                  columns={[
                    { head: 'App', cell: (row) => <span className="strong">{row.client_name}</span> },
                    { head: 'Client id', cell: (row) => <span className="mono small">{row.client_id}</span> },
                    { head: 'Since', cell: (row) => <Time at={row.blocked_at} /> },
                    { head: 'Actions', align: 'acts', cell: (row) => <Button size="small" busy={unblock.isPending} onClick={() => unblock.mutate(row.client_id)}>Switch on</Button> },
                  ]}
                />
              </Card>
            )}
            {admin && <NamedClientsCard />}
          </div>
        )}
      </Loaded>
      {dialog?.kind === 'revoke' && (
        <Confirm title={`Disconnect ${dialog.app.client_name}?`} action="Disconnect" onClose={() => setDialog(null)} onConfirm={() => act(dialog)}>
          <p>Its next call fails. {dialog.app.member_name} can let it in again.</p>
        </Confirm>
      )}
      {dialog?.kind === 'block' && (
        <Confirm title={`Switch ${dialog.app.client_name} off?`} action="Switch off" onClose={() => setDialog(null)} onConfirm={() => act(dialog)}>
          <p>Every member of the workspace who has let it in loses it, and nobody can let it in again until you switch it on.</p>
        </Confirm>
      )}
    </Page>
  );
}

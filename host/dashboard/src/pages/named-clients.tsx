// Clients that an admin has named: machines with a secret, and programs that can neither describe nor register themselves.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import type { NamedClient, NamedClients, NewNamedClient } from '../api/types';
import { useMe } from '../shell/me';
import { Button } from '../ui/button';
import { CopyLine } from '../ui/copy';
import { Confirm, Dialog } from '../ui/dialog';
import { CheckField, TextArea, TextField } from '../ui/field';
import { Menu } from '../ui/menu';
import { ErrorNote, Note } from '../ui/note';
import { Card, Loaded } from '../ui/page';
import { Table } from '../ui/table';
import { Time } from '../ui/time';
import { useToast } from '../ui/toast';

type OpenDialog = { kind: 'create' } | { kind: 'remove'; client: NamedClient } | { kind: 'show'; made: NewNamedClient };

export function NamedClientsCard() {
  const client = useQueryClient();
  const toast = useToast();
  const clients = useQuery({ queryKey: ['app-clients'], queryFn: () => call<NamedClients>('GET', '/app-clients') });
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const again = () => void client.invalidateQueries({ queryKey: ['app-clients'] });
  const remove = async (one: NamedClient) => {
    await call('DELETE', `/app-clients/${encodeURIComponent(one.client_id)}`);
    again();
    void client.invalidateQueries({ queryKey: ['apps'] });
    toast.success(`Removed ${one.name}`);
  };
  return (
    <Loaded query={clients}>
      {(data) => (
        <Card title="Named clients" actions={<Button size="small" icon="plus" onClick={() => setDialog({ kind: 'create' })}>Name a client</Button>} flush={data.clients.length > 0}>
          {data.clients.length === 0 ? (
            <p className="muted">Most apps describe or register themselves. Name one here if it cannot, or if it is a machine that acts for a user without asking anybody.</p>
          ) : (
            <Table
              caption="Clients that admins have named, newest first"
              rows={data.clients}
              rowKey={(row) => row.client_id}
              columns={[
                { head: 'Client', cell: (row) => <span className="strong">{row.name}</span> },
                { head: 'Client id', cell: (row) => <span className="mono small">{row.client_id}</span> },
                { head: 'Acts for', cell: (row) => row.acts_for ?? <span className="muted">who lets it in</span> },
                { head: 'Scopes', cell: (row) => <span className="small">{row.scopes.join(', ')}</span> },
                { head: 'Last used', cell: (row) => <Time at={row.last_used_at} /> },
                { head: 'Actions', align: 'acts', cell: (row) => <Menu label={`Actions for ${row.name}`} entries={[{ label: 'Remove', icon: 'trash', danger: true, onSelect: () => setDialog({ kind: 'remove', client: row }) }]} /> },
              ]}
            />
          )}
          {dialog?.kind === 'create' && <Create scopes={data.scopes} onClose={close} onCreated={(made) => { again(); setDialog({ kind: 'show', made }); }} />}
          {dialog?.kind === 'show' && <Show made={dialog.made} onClose={close} />}
          {dialog?.kind === 'remove' && (
            <Confirm title={`Remove ${dialog.client.name}?`} action="Remove client" onClose={close} onConfirm={() => remove(dialog.client)}>
              <p>Everything that it was granted ends with its next request. This cannot be undone.</p>
            </Confirm>
          )}
        </Card>
      )}
    </Loaded>
  );
}

function Create({ scopes, onClose, onCreated }: { scopes: string[]; onClose: () => void; onCreated: (made: NewNamedClient) => void }) {
  const [name, setName] = useState('');
  const [actsFor, setActsFor] = useState('');
  const [uris, setUris] = useState('');
  const [secret, setSecret] = useState(true);
  const [chosen, setChosen] = useState(new Set(scopes));
  const create = useMutation({
    mutationFn: () =>
      call<NewNamedClient>('POST', '/app-clients', {
        body: { name, redirect_uris: uris.split(/\s+/).filter(Boolean), scopes: [...chosen], public: !secret, ...(actsFor && secret && { acts_for: actsFor }) },
      }),
    onSuccess: onCreated,
  });
  const toggle = (scope: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(scope);
    else next.delete(scope);
    setChosen(next);
  };
  return (
    <Dialog title="Name a client" onClose={onClose} onSubmit={() => create.mutate()} footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" busy={create.isPending} disabled={!name.trim() || chosen.size === 0}>Create client</Button></>}>
      {create.error && <ErrorNote error={create.error} />}
      <TextField label="Name" value={name} onChange={setName} hint="Members see it when the client asks to be let in." />
      <CheckField label="It keeps a secret" checked={secret} onChange={setSecret} />
      {secret && <TextField label="Acts for" value={actsFor} onChange={setActsFor} hint="A user. With its secret alone it then gets tokens for that user (client_credentials). Leave empty for an app that people let in." />}
      <TextArea label="Redirect addresses" value={uris} onChange={setUris} hint="One a line, for an app that people let in." />
      <fieldset className="plain">
        <legend>Scopes</legend>
        <div className="checks">
          {scopes.map((scope) => <CheckField key={scope} label={scope} checked={chosen.has(scope)} onChange={(on) => toggle(scope, on)} />)}
        </div>
      </fieldset>
    </Dialog>
  );
}

function Show({ made, onClose }: { made: NewNamedClient; onClose: () => void }) {
  const me = useMe();
  return (
    <Dialog title={`The client ${made.name}`} onClose={onClose} footer={<Button kind="primary" onClick={onClose}>{made.client_secret ? 'I have stored it' : 'Done'}</Button>}>
      {made.client_secret && <Note tone="warn"><p>The secret is shown once. Only its hash is stored.</p></Note>}
      <div className="stack" id="new-client">
        <CopyLine text={made.client_id} label="client id" />
        {made.client_secret && <CopyLine text={made.client_secret} label="client secret" />}
        <CopyLine text={`${me.public_url}/oauth/token`} label="token endpoint" />
        <CopyLine text={me.mcp_url} label="resource" />
      </div>
    </Dialog>
  );
}

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { NewWebhook, Webhook, WebhookList } from '../api/types';
import { useAskedFor } from '../ui/asked-for';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { CopyLine } from '../ui/copy';
import { Dialog } from '../ui/dialog';
import { CheckField, TextField } from '../ui/field';
import { Empty, ErrorNote, Note } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Table } from '../ui/table';
import { Time } from '../ui/time';

/** Groups of events, as a webhook may name them. */
export const GROUPS: [string, string][] = [
  ['tool.*', 'Calls: executed, failed'],
  ['approval.*', 'Approvals: requested, resolved'],
  ['connection.*', 'Connections: created, expiring, expired, recovered, revoked'],
  ['skill.*', 'Skills: created, updated, deleted'],
  ['permission.*', 'Permissions changed'],
  ['api_key.*', 'Keys: created, revoked'],
  ['plugin.*', 'Plugins: activated, quarantined, waiting, rolled back'],
  ['session.*', 'Sessions created'],
  ['message.*', 'Messages created'],
  ['trigger.*', 'Events of connected services'],
];

export default function Webhooks() {
  const [making, setMaking] = useState(false);
  useAskedFor('add', () => setMaking(true));
  const [made, setMade] = useState<NewWebhook | null>(null);
  const webhooks = useQuery({ queryKey: ['webhooks'], queryFn: () => call<WebhookList>('GET', '/webhooks') });
  const add = <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>Add webhook</Button>;
  return (
    <Page title="Webhooks" about="Notify your programs of events. Deliveries are signed according to Standard Webhooks and retried for three days." actions={add}>
      <Loaded query={webhooks}>
        {(data) => (
          <Card flush>
            {data.webhooks.length === 0 ? (
              <Empty icon="webhooks" title="No webhooks yet" action={add}>Your address receives a signed message for each event that you choose.</Empty>
            ) : (
              <Table
                caption="Webhooks"
                rows={data.webhooks}
                rowKey={(row) => row.webhook_id}
                columns={[
                  { head: 'Address', wide: true, cell: (row) => <Link href={`/webhooks/${row.webhook_id}`} className="mono strong">{row.url}</Link> },
                  { head: 'About', wide: true, cell: (row) => <span className="muted">{row.description}</span> },
                  { head: 'State', cell: (row) => <WebhookState row={row} /> },
                  { head: 'Events', cell: (row) => <span className="small">{row.events.join(', ')}</span> },
                  { head: 'Created', cell: (row) => <Time at={row.created_at} /> },
                ]}
              />
            )}
          </Card>
        )}
      </Loaded>
      {making && <Add onClose={() => setMaking(false)} onMade={(webhook) => { setMaking(false); setMade(webhook); }} />}
      {made && <Secret webhook={made} onClose={() => setMade(null)} />}
    </Page>
  );
}

export function WebhookState({ row }: { row: Webhook }) {
  if (!row.enabled) return <Badge tone={row.disabled_reason ? 'bad' : 'plain'}>{row.disabled_reason ? `off: ${row.disabled_reason}` : 'off'}</Badge>;
  if (row.failing_since) return <span className="row"><Badge tone="warn">failing</Badge><span className="small muted">since <Time at={row.failing_since} />{row.paused_until && <>, paused until <Time at={row.paused_until} /></>}</span></span>;
  return <Badge tone="ok">on</Badge>;
}

export function Secret({ webhook, onClose }: { webhook: NewWebhook; onClose: () => void }) {
  return (
    <Dialog title="Signing secret" onClose={onClose} footer={<Button kind="primary" onClick={onClose}>I have stored it</Button>}>
      <Note tone="warn"><p>This is the only time the secret is shown. Your receiver verifies each message with it.</p></Note>
      <CopyLine text={webhook.secret} label="secret" />
    </Dialog>
  );
}

function Add({ onClose, onMade }: { onClose: () => void; onMade: (webhook: NewWebhook) => void }) {
  const client = useQueryClient();
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [events, setEvents] = useState(new Set<string>(['tool.*']));
  const save = useMutation({
    mutationFn: () => call<NewWebhook>('POST', '/webhooks', { body: { url, description, events: [...events] } }),
    onSuccess: (webhook) => {
      void client.invalidateQueries({ queryKey: ['webhooks'] });
      onMade(webhook);
    },
  });
  const toggle = (name: string, on: boolean) => {
    const next = new Set(events);
    if (on) next.add(name);
    else next.delete(name);
    setEvents(next);
  };
  return (
    <Dialog title="Add webhook" onClose={onClose} onSubmit={() => save.mutate()} footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" busy={save.isPending} disabled={!url || events.size === 0}>Add webhook</Button></>}>
      {save.error && <ErrorNote error={save.error} />}
      <TextField label="Address" type="url" name="url" placeholder="https://app.example.com/toolgate" hint="Has to be https and reachable from the gateway." value={url} onChange={setUrl} />
      <TextField label="About" name="description" maxLength={500} value={description} onChange={setDescription} />
      <fieldset className="plain">
        <legend>Events</legend>
        {GROUPS.map(([name, words]) => <CheckField key={name} label={words} hint={name} checked={events.has(name)} onChange={(on) => toggle(name, on)} />)}
      </fieldset>
    </Dialog>
  );
}

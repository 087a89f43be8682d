// One webhook: its deliveries, a test, its secret.

import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { call } from '../api/client';
import type { Delivery, NewWebhook, Webhook as Shape, WebhookDeliveryPage } from '../api/types';
import { State } from '../ui/badge';
import { Button } from '../ui/button';
import { Confirm } from '../ui/dialog';
import { Empty, ErrorNote, Note } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { ShowMore } from '../ui/show-more';
import { Table } from '../ui/table';
import { DueTime, duration, Time } from '../ui/time';
import { useToast } from '../ui/toast';
import { Secret, WebhookState } from './webhooks';

export default function Webhook() {
  const { webhook: id = '' } = useParams<{ webhook: string }>();
  const [, go] = useLocation();
  const client = useQueryClient();
  const toast = useToast();
  const path = `/webhooks/${id}`;
  const [dialog, setDialog] = useState<'delete' | 'rotate' | null>(null);
  const [tested, setTested] = useState<string | null>(null);
  const [rotated, setRotated] = useState<NewWebhook | null>(null);
  const webhook = useQuery({ queryKey: ['webhooks', id], queryFn: () => call<Shape>('GET', path) });
  const again = () => void client.invalidateQueries({ queryKey: ['webhooks'] });
  const test = () => {
    call<Delivery>('POST', `${path}/test`, { body: {} }).then((made) => { setTested(made.delivery_id); again(); }, toast.error);
  };
  /** Switched on, or on and paused, it is sent what waits. */
  const toggle = (on: boolean) => {
    call('PATCH', path, { body: { enabled: on } }).then(again, toast.error);
  };
  const data = webhook.data;
  return (
    <Page
      title={data?.description || 'Webhook'}
      about={<span className="mono">{data?.url}</span>}
      back={{ to: '/webhooks', name: 'Webhooks' }}
      actions={
        data && (
          <>
            <Button icon="play" onClick={test}>Send a test</Button>
            {data.paused_until && <Button onClick={() => toggle(true)}>Resume now</Button>}
            <Button onClick={() => toggle(!data.enabled)}>{data.enabled ? 'Switch off' : 'Switch on'}</Button>
            <Button onClick={() => setDialog('rotate')}>Rotate secret</Button>
            <Button kind="danger" icon="trash" onClick={() => setDialog('delete')}>Delete</Button>
          </>
        )
      }
    >
      <Loaded query={webhook}>
        {(loaded) => (
          <div className="stack">
            <Card>
              <Pairs
                items={[
                  ['State', <WebhookState row={loaded} />],
                  loaded.paused_until ? ['Paused until', <span><Time at={loaded.paused_until} /><span className="small muted"> Deliveries failed. Tests and what you send again go out at once.</span></span>] : null,
                  ['Events', loaded.events.join(', ')],
                  ...Object.entries(loaded.filters).map(([name, values]) => [name.replaceAll('_', ' '), (values ?? []).join(', ')] as const),
                  loaded.previous_secret_until ? ['Old secret signs until', <Time at={loaded.previous_secret_until} />] : null,
                  ['Created', <Time at={loaded.created_at} />],
                ]}
              />
            </Card>
            <Deliveries path={path} id={id} tested={tested} />
          </div>
        )}
      </Loaded>
      {dialog === 'rotate' && (
        <Confirm title="Rotate the secret?" action="Rotate" onClose={() => setDialog(null)} onConfirm={async () => { setRotated(await call<NewWebhook>('POST', `${path}/rotate`, { body: {} })); again(); }}>
          <p>Messages are signed with a new secret from now on, and with the old one too for a day, so that your receiver can switch.</p>
        </Confirm>
      )}
      {dialog === 'delete' && (
        <Confirm title="Delete this webhook?" action="Delete" onClose={() => setDialog(null)} onConfirm={async () => { await call('DELETE', path); client.removeQueries({ queryKey: ['webhooks'], exact: true }); go('/webhooks'); }}>
          <p>Nothing more is sent to {data?.url}. Deliveries that have not arrived yet are dropped.</p>
        </Confirm>
      )}
      {rotated && <Secret webhook={rotated} onClose={() => setRotated(null)} />}
    </Page>
  );
}

/** How the test that was asked for here has gone. */
function TestOutcome({ delivery }: { delivery: Delivery }) {
  if (delivery.status === 'delivered') return <Note tone="ok"><p>The test was delivered: the receiver answered {delivery.response_status} after {duration(delivery.duration_ms)}.</p></Note>;
  const why = delivery.response_status ? `the receiver answered ${delivery.response_status}` : delivery.last_error;
  if (delivery.status === 'pending' && !why) return <Note><p>The test is on its way.</p></Note>;
  return <Note tone="bad"><p>The test has not arrived: {why ?? 'the receiver did not answer'}.{delivery.next_attempt_at && <> It is sent again <DueTime at={delivery.next_attempt_at} />.</>}</p></Note>;
}

function Deliveries({ path, id, tested }: { path: string; id: string; tested: string | null }) {
  const toast = useToast();
  const list = useInfiniteQuery({
    queryKey: ['webhooks', id, 'deliveries'],
    queryFn: ({ pageParam }) => call<WebhookDeliveryPage>('GET', `${path}/deliveries`, { query: { limit: 50, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const rows = list.data?.pages.flatMap((page) => page.deliveries) ?? [];
  const test = rows.find((row) => row.delivery_id === tested);
  const resend = (delivery: Delivery) => {
    call('POST', `${path}/deliveries/${delivery.delivery_id}/resend`, { body: {} }).then(() => { toast.success('Sent again'); void list.refetch(); }, toast.error);
  };
  return (
    <Card title="Deliveries" flush>
      {test && <div className="inner" role="status"><TestOutcome delivery={test} /></div>}
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {list.data && rows.length === 0 && <Empty icon="webhooks" title="Nothing sent yet">Send a test to check that your receiver answers.</Empty>}
      {rows.length > 0 && (
        <Table
          caption="Deliveries, newest first"
          rows={rows}
          rowKey={(row) => row.delivery_id}
          columns={[
            { head: 'Event', cell: (row) => <span className="strong">{row.type}</span> },
            { head: 'Execution', cell: (row) => (row.execution_id ? <Link href={`/executions/${row.execution_id}`} className="mono small">{row.execution_id.slice(-8)}</Link> : <span className="muted">none</span>) },
            { head: 'Status', cell: (row) => <State name={row.status} /> },
            { head: 'Answer', cell: (row) => row.response_status ?? <span className="muted">{row.last_error ?? 'none'}</span> },
            { head: 'Attempts', align: 'right', cell: (row) => row.attempts },
            { head: 'Duration', align: 'right', cell: (row) => duration(row.duration_ms) },
            { head: 'Next try', cell: (row) => (row.next_attempt_at ? <DueTime at={row.next_attempt_at} /> : <span className="muted">none</span>) },
            { head: 'Made', cell: (row) => <Time at={row.created_at} /> },
            { head: 'Actions', align: 'acts', cell: (row) => row.status !== 'pending' && <Button size="small" onClick={() => resend(row)}>Send again</Button> },
          ]}
        />
      )}
      <ShowMore list={list} />
    </Card>
  );
}

// One trigger: how it fares, what it watches, where its events go, and what it would have found.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { showChanged } from '../api/changed';
import { call } from '../api/client';
import type { Trigger as Shape, TriggerTest, WebhookList } from '../api/types';
import { Button } from '../ui/button';
import { Json } from '../ui/copy';
import { Confirm } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { Logo } from '../ui/logo';
import { ErrorNote, Note } from '../ui/note';
import { useOfferedTriggers } from '../ui/offered-triggers';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { useServices } from '../ui/services';
import { count, DueTime, plural, Time } from '../ui/time';
import { useToast } from '../ui/toast';
import { every, isSent } from '../ui/trigger-rules';
import { TriggerHealth } from '../ui/trigger-state';

export default function Trigger() {
  const { trigger: id = '' } = useParams<{ trigger: string }>();
  const [, go] = useLocation();
  const client = useQueryClient();
  const toast = useToast();
  const path = `/triggers/${encodeURIComponent(id)}`;
  const [deleting, setDeleting] = useState(false);
  const trigger = useQuery({ queryKey: ['triggers', id], queryFn: () => call<Shape>('GET', path) });
  const services = useServices();
  const offered = useOfferedTriggers();
  const test = useMutation({ mutationFn: () => call<TriggerTest>('POST', `${path}/test`, { body: {} }) });
  const pause = useMutation({
    mutationFn: (paused: boolean) => call<Shape>('PATCH', path, { body: { paused } }),
    onSuccess: (next) => showChanged(client, ['triggers', id], next),
    onError: toast.error,
  });
  const data = trigger.data;
  const declared = offered.data?.triggers.find((one) => one.service === data?.service && one.trigger === data?.trigger);
  const serviceTitle = services.data?.services.find((one) => one.service === data?.service)?.title ?? data?.service ?? '';
  const title = declared?.title ?? data?.trigger ?? 'Trigger';
  const isPaused = data?.state === 'paused';
  return (
    <Page
      title={title}
      about={declared ? `${serviceTitle}: ${declared.description}` : serviceTitle}
      back={{ to: '/triggers', name: 'Triggers' }}
      mark={data && <Logo service={data.service} title={serviceTitle} size={40} />}
      actions={
        data && (
          <>
            <Button icon="play" busy={test.isPending} onClick={() => test.mutate()}>Test</Button>
            <Button busy={pause.isPending} onClick={() => pause.mutate(!isPaused)}>{isPaused ? 'Resume' : 'Pause'}</Button>
            <Button kind="danger" icon="trash" onClick={() => setDeleting(true)}>Delete</Button>
          </>
        )
      }
    >
      <Loaded query={trigger}>
        {(loaded) => (
          <div className="stack">
            <div aria-live="polite">
              {test.error ? <ErrorNote error={test.error} /> : test.data && <Found test={test.data} />}
            </div>
            <div className="columns two">
              <State trigger={loaded} title={serviceTitle} toolName={declared?.tool_name} />
              <div className="stack">
                <Card title="What is watched">
                  {Object.keys(loaded.config ?? {}).length === 0 ? <p className="muted">No arguments were chosen.</p> : <Json value={loaded.config} label="arguments" />}
                </Card>
                <Receivers trigger={loaded} toolName={declared?.tool_name} isLogged={offered.data?.events_logged} />
              </div>
            </div>
          </div>
        )}
      </Loaded>
      {deleting && (
        <Confirm title="Delete this trigger?" action="Delete" onClose={() => setDeleting(false)} onConfirm={async () => { await call('DELETE', path); client.removeQueries({ queryKey: ['triggers', 'list'] }); go('/triggers'); }}>
          <p>{serviceTitle} is polled no more for <code>{data?.event}</code> of {data?.user_id}, and what the trigger has seen is forgotten. Events that were found are still sent.</p>
        </Confirm>
      )}
    </Page>
  );
}

function State({ trigger, title, toolName }: { trigger: Shape; title: string; toolName: string | undefined }) {
  const polls = `/executions?${new URLSearchParams({ ...(toolName && { tool: toolName }), service: trigger.service, user_id: trigger.user_id, key: 'trigger' })}`;
  return (
    <Card title="State">
      <Pairs
        items={[
          ['State', <TriggerHealth trigger={trigger} title={title} />],
          trigger.failures > 0 && ['Failed', plural(trigger.failures, 'poll')],
          ['Polled', every(trigger.interval_s)],
          ['Last poll', <Time at={trigger.last_poll_at} />],
          trigger.next_poll_at ? ['Next poll', <DueTime at={trigger.next_poll_at} />] : null,
          ['Watching since', trigger.watching_since ? <Time at={trigger.watching_since} /> : <span className="muted">not yet</span>],
          ['Last item', <Time at={trigger.last_item_at} />],
          ['Items found', count(trigger.items_found)],
          ['User', <Link href={`/permissions/${encodeURIComponent(trigger.user_id)}`}>{trigger.user_id}</Link>],
          trigger.connection_id ? ['Connection', <span className="mono">{trigger.connection_id}</span>] : null,
          toolName ? ['Tool', <Link href={`/tools/${toolName}`} className="mono">{toolName}</Link>] : null,
          ['Event', <span className="mono">{trigger.event}</span>],
          ['Receipts', <Link href={polls}>Polls of this tool for this user</Link>],
          ['Created', <Time at={trigger.created_at} />],
        ]}
      />
    </Card>
  );
}

/** The webhooks that are sent the events, or that there are none. */
function Receivers({ trigger, toolName, isLogged }: { trigger: Shape; toolName: string | undefined; isLogged: boolean | undefined }) {
  const webhooks = useQuery({ queryKey: ['webhooks'], queryFn: () => call<WebhookList>('GET', '/webhooks') });
  return (
    <Card title="Where its events go">
      <Loaded query={webhooks}>
        {(data) => {
          const sent = data.webhooks.filter((one) => isSent(one, trigger, toolName));
          if (sent.length === 0 && isLogged === false) {
            return (
              <Note tone="warn">
                <p className="strong">Nowhere: no webhook subscribes to {trigger.event}.</p>
                <p>Nobody reads the log of events either. What is found meanwhile counts as sent.</p>
                <div><Link className="button" href="/webhooks?do=add">Add webhook</Link></div>
              </Note>
            );
          }
          return (
            <div className="stack tight">
              {sent.map((one) => <Link key={one.webhook_id} href={`/webhooks/${one.webhook_id}`} className="mono">{one.url}</Link>)}
              {isLogged && <p className="muted">Programs that read the log of events (<code>GET /v1/events</code>) find them there.</p>}
            </div>
          );
        }}
      </Loaded>
    </Card>
  );
}

/** What a test has found. */
function Found({ test }: { test: TriggerTest }) {
  const receipt = test.execution_id && <p><Link href={`/executions/${test.execution_id}`}>Receipt of the call</Link></p>;
  if (test.status === 'found') {
    const found = test.found ?? test.listed;
    const what = test.since == null
      ? `${plural(test.listed, 'item')} on the first page, as it is listed now: the service gives no times.`
      : `${plural(found, 'item')} of the last day, of ${count(test.listed)} that were read.`;
    const more = test.since == null || test.complete ? '' : ' There may be more on further pages.';
    const some = test.items.length < found ? ` The first ${test.items.length}:` : '';
    return (
      <Card title="What it would have found">
        <div className="stack">
          <p>{what}{more} No event was sent.{some}</p>
          {test.items.length > 0 && <Json value={test.items} label="items" />}
          {receipt}
        </div>
      </Card>
    );
  }
  const { connect } = test;
  return (
    <Note tone={test.status === 'error' ? 'bad' : 'warn'}>
      <p className="strong">{test.message ?? 'Nothing was read.'}</p>
      {connect?.connect_url && <div><a className="button" href={connect.connect_url} target="_blank" rel="noopener"><Icon name="external" />Connect</a></div>}
      {receipt}
    </Note>
  );
}

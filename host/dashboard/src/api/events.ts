// Live updates: the gateway says which topics have changed, the queries of these topics ask again.
// A query's key begins with its topic.

import type { QueryClient } from '@tanstack/react-query';
import { refresh } from './client';

export type Live = 'connecting' | 'live' | 'lost';

/** Topics that the overview is made of. */
const OVERVIEW = ['executions', 'approvals', 'connections', 'plugins', 'webhooks', 'keys'];
/** A busy gateway changes all the time; the overview's sums need not follow each call. */
const OVERVIEW_PAUSE_MS = 5_000;
/** A gateway that refuses the stream is not asked again at once. */
const AGAIN_MS = 2_000;

/** How many hold the events back, and the topics that changed meanwhile. */
let holding = 0;
const held = new Set<string>();
let tellHeld: () => void = () => {};

/** Does what takes away the thing that a page shows. Until that page is left, nothing asks for the thing again. */
export async function holdEvents(work: () => Promise<unknown>): Promise<void> {
  holding += 1;
  try {
    await work();
  } finally {
    // The page that `work` went to stands in the next task.
    setTimeout(() => {
      holding -= 1;
      if (holding === 0) tellHeld();
    });
  }
}

/** Listens until the returned function is called. */
export function listen(client: QueryClient, tell: (live: Live) => void): () => void {
  let source: EventSource | null = null;
  let closed = false;
  let pending: ReturnType<typeof setTimeout> | null = null;

  const overview = () => {
    pending ??= setTimeout(() => {
      pending = null;
      void client.invalidateQueries({ queryKey: ['overview'] });
    }, OVERVIEW_PAUSE_MS);
  };

  const changed = (topics: string[]) => {
    for (const topic of topics) void client.invalidateQueries({ queryKey: [topic] });
    if (topics.includes('plugins') || topics.includes('connections')) void client.invalidateQueries({ queryKey: ['services'] });
    // What a session ran is a receipt; its messages come with it.
    if (topics.includes('executions')) void client.invalidateQueries({ queryKey: ['sessions'] });
    if (topics.some((topic) => OVERVIEW.includes(topic))) overview();
  };
  tellHeld = () => {
    changed([...held]);
    held.clear();
  };

  const open = () => {
    source = new EventSource('/internal/events');
    source.addEventListener('ready', () => tell('live'));
    source.addEventListener('changed', (event) => {
      const { topics } = JSON.parse((event as MessageEvent<string>).data) as { topics: string[] };
      if (holding === 0) changed(topics);
      else for (const topic of topics) held.add(topic);
    });
    source.addEventListener('signed_out', () => void again());
    source.onerror = () => {
      tell('lost');
      // The browser tries again by itself unless the answer was a refusal.
      if (source?.readyState === EventSource.CLOSED) void again();
    };
  };

  const again = async () => {
    source?.close();
    tell('lost');
    await new Promise((done) => setTimeout(done, AGAIN_MS));
    if (closed || !(await refresh()) || closed) return;
    open();
  };

  open();
  return () => {
    closed = true;
    source?.close();
    if (pending) clearTimeout(pending);
  };
}

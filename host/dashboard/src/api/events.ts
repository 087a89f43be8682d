// Live updates: the gateway says which topics have changed, the queries of these topics ask again.
// A query's key begins with its topic.

import type { QueryClient, QueryFilters } from '@tanstack/react-query';
import { ApiError, refresh } from './client';

export type Live = 'connecting' | 'live' | 'lost';

/** Topics whose lists are made of a topic's things too. */
const ALSO: Record<string, string[]> = {
  plugins: ['services', 'tools', 'permissions', 'health', 'toolsets'],
  connections: ['services', 'tools'],
  permissions: ['tools', 'toolsets'],
  // What a session ran is a receipt; its messages come with it.
  executions: ['sessions'],
};
/** Topics that the overview is made of. */
const OVERVIEW = ['executions', 'approvals', 'connections', 'plugins', 'webhooks', 'keys'];
/** A busy gateway changes all the time; the overview's sums need not follow each call. */
const OVERVIEW_PAUSE_MS = 5_000;
/** A gateway that does not give the stream is not asked again at once, and less often the longer it lasts. */
const AGAIN_MS = 1_000;
const AGAIN_MAX_MS = 30_000;
/** In a topic's place: whatever may have changed while nobody listened. */
const EVERYTHING = '*';

/** How many hold the events back, and the topics that have changed and are not asked for yet. */
let holding = 0;
const held = new Set<string>();
let deliverHeld: () => void = () => {};

/** Listens again where that had been given up: somebody has signed in. */
export let listenAgain: () => void = () => {};

/** Does what takes away the thing that a page shows. Until that page is left, nothing asks for the thing again. */
export async function holdEvents(work: () => Promise<unknown>): Promise<void> {
  holding += 1;
  try {
    await work();
  } finally {
    // The page that `work` went to is there in the next task.
    setTimeout(() => {
      holding -= 1;
      if (holding === 0) deliverHeld();
    });
  }
}

/**
 * Listens until the returned function is called. A page that nobody looks at does not: a browser opens six
 * connections to one host (HTTP/1.1), and each stream keeps one.
 */
export function listen(client: QueryClient, tell: (live: Live) => void): () => void {
  let source: EventSource | null = null;
  let closed = false;
  let again_ms = AGAIN_MS;
  let again: ReturnType<typeof setTimeout> | undefined;
  let pending: ReturnType<typeof setTimeout> | null = null;

  const overview = () => {
    pending ??= setTimeout(() => {
      pending = null;
      void client.invalidateQueries({ queryKey: ['overview'] });
    }, OVERVIEW_PAUSE_MS);
  };

  /** What is under way for the first time may have been read before the change: it is asked for once more after it. */
  const askAgain = (filters: QueryFilters) => {
    for (const query of client.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' })) {
      const after = () => setTimeout(() => void client.invalidateQueries({ queryKey: query.queryKey, exact: true }));
      if (query.state.data === undefined) query.promise?.then(after, () => {});
    }
    void client.invalidateQueries(filters);
  };

  const changed = (topics: string[]) => {
    for (const topic of topics) held.add(topic);
    if (holding === 0) deliverHeld();
  };
  deliverHeld = () => {
    const topics = [...held];
    held.clear();
    if (topics.includes(EVERYTHING)) {
      // What was refused stays refused.
      const refusal = (error: unknown) => error instanceof ApiError && error.status !== 0 && error.status < 500;
      askAgain({ predicate: ({ state }) => state.data !== undefined || !refusal(state.error) });
      return;
    }
    for (const topic of new Set(topics.flatMap((topic) => [topic, ...(ALSO[topic] ?? [])]))) askAgain({ queryKey: [topic] });
    if (topics.some((topic) => OVERVIEW.includes(topic))) overview();
  };

  const close = () => {
    clearTimeout(again);
    source?.close();
    source = null;
  };

  const open = () => {
    close();
    source = new EventSource('/internal/live');
    source.addEventListener('ready', () => {
      again_ms = AGAIN_MS;
      tell('live');
      changed([EVERYTHING]);
    });
    source.addEventListener('changed', (event) => changed((JSON.parse((event as MessageEvent<string>).data) as { topics: string[] }).topics));
    source.addEventListener('signed_out', refused);
    source.onerror = () => {
      tell('lost');
      // The browser tries again by itself unless the answer was a refusal.
      if (source?.readyState === EventSource.CLOSED) refused();
    };
  };

  /** Opens the stream again once there is a sign-in; for as long as nobody says that there is none. */
  const refused = () => {
    close();
    tell('lost');
    again = setTimeout(async () => {
      const refreshed = await refresh();
      if (closed || source || document.hidden || refreshed === 'refused') return;
      if (refreshed === 'renewed') open();
      else refused();
    }, again_ms);
    again_ms = Math.min(again_ms * 2, AGAIN_MAX_MS);
  };

  const looked = () => {
    if (document.hidden) close();
    else if (!source) {
      again_ms = AGAIN_MS;
      tell('connecting');
      open();
    }
  };

  /** Does not wait for its next try. */
  const online = () => {
    if (!document.hidden && source?.readyState !== EventSource.OPEN) {
      close();
      looked();
    }
  };

  listenAgain = looked;
  document.addEventListener('visibilitychange', looked);
  window.addEventListener('online', online);
  looked();
  return () => {
    closed = true;
    document.removeEventListener('visibilitychange', looked);
    window.removeEventListener('online', online);
    close();
    if (pending) clearTimeout(pending);
  };
}

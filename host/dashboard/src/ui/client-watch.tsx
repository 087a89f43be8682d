// Says when the client that somebody is connecting has called the gateway.

import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { firstSteps } from './first-steps';
import { Note } from './note';
import { Time } from './time';

const ASK_MS = 3_000;
const KINDS = { key: 'API key', app: 'connected app' };

export function ClientWatch() {
  /** When a client had called last as the page was opened; absent until that is known. */
  const [before, setBefore] = useState<string | null>();
  const query = useQuery({
    ...firstSteps,
    // A page that nobody looks at does not ask.
    refetchInterval: (asked) => (before !== undefined && usedAt(asked.state.data) !== before ? false : ASK_MS),
  });
  const last = query.data?.last_client;
  useEffect(() => {
    if (before === undefined && query.data) setBefore(usedAt(query.data));
  }, [before, query.data]);
  const connected = before !== undefined && last != null && last.used_at !== before;
  return (
    <div role="status" aria-label="Your client">
      {connected ? (
        <Note tone="ok"><p className="strong">Connected: {last.name}</p><p>This {KINDS[last.kind]} called the gateway just now. If it is not yours, open this page again.</p></Note>
      ) : (
        <div className="row">
          <span className="spin" aria-hidden="true" />
          <span>Waiting for your client ...</span>
          {last && <span className="muted small">Last call: {last.name}, <Time at={last.used_at} /></span>}
        </div>
      )}
    </div>
  );
}

const usedAt = (data: { last_client: null | { used_at: string } } | undefined) => data?.last_client?.used_at ?? null;

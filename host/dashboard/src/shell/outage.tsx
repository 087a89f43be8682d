// Says that what a page shows may be old: the browser is offline, or the gateway does not answer.

import { useEffect, useState } from 'react';
import type { Live } from '../api/events';
import { Icon } from '../ui/icon';

/** A gateway that starts again is back before anybody needs to hear of it. */
const PATIENCE_MS = 4_000;
const AGAIN_MS = 5_000;

/** Whether the gateway answers anything: a proxy that passes no streams is not an outage. */
const answers = () => fetch('/internal/welcome', { cache: 'no-store' }).then((response) => response.status < 500, () => false);

function useIsAway(live: Live): boolean {
  const [away, setAway] = useState(false);
  useEffect(() => {
    if (live !== 'lost') {
      setAway(false);
      return;
    }
    let timer: ReturnType<typeof setTimeout>;
    let over = false;
    const look = async () => {
      const there = await answers();
      if (over) return;
      setAway(!there);
      timer = setTimeout(look, AGAIN_MS);
    };
    timer = setTimeout(look, PATIENCE_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [live]);
  return away;
}

function useIsOffline(): boolean {
  const [offline, setOffline] = useState(!navigator.onLine);
  useEffect(() => {
    const changed = () => setOffline(!navigator.onLine);
    window.addEventListener('online', changed);
    window.addEventListener('offline', changed);
    return () => {
      window.removeEventListener('online', changed);
      window.removeEventListener('offline', changed);
    };
  }, []);
  return offline;
}

export function Outage({ live }: { live: Live }) {
  const offline = useIsOffline();
  const away = useIsAway(live);
  // A browser that says it is offline may still reach a gateway on the same machine.
  const said = offline && live !== 'live' ? 'You are offline.' : away ? 'The gateway does not answer.' : null;
  return (
    <div role="status" className={said ? 'outage' : undefined}>
      {said && (
        <>
          <Icon name="warn" />
          <span>{said} What you see may be out of date. What you type is kept, and this page reconnects by itself.</span>
        </>
      )}
    </div>
  );
}

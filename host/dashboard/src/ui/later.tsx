// Decisions that are sent after some seconds, so that they can be taken back. They outlast the page on which they were
// made: who looks at the next call has decided the one before all the same. A browser tab that is closed sends nothing; the browser
// asks first.

import { createContext, useCallback, useContext, useEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from './button';

/** Time to take a decision back. */
export const UNDO_MS = 5_000;

interface Waiting {
  /** What it is about: one at a time. */
  key: string;
  /** What will be done, to be read before "in 5 s". */
  says: string;
  /** Milliseconds of `performance.now()`. */
  at: number;
  /** Too late to take it back; until the work is done, and shown. */
  sending: boolean;
}

interface Later {
  waiting: readonly Waiting[];
  /** Does `work` after [`UNDO_MS`], unless it is taken back. */
  later: (key: string, says: string, work: () => Promise<unknown>) => void;
  takeBack: (key: string) => void;
}

const Context = createContext<Later>({ waiting: [], later: () => {}, takeBack: () => {} });
export const useLater = () => useContext(Context);

export function LaterProvider({ children }: { children: ReactNode }) {
  const [waiting, setWaiting] = useState<readonly Waiting[]>([]);
  const timers = useRef(new Map<string, ReturnType<typeof setTimeout>>());
  const drop = useCallback((key: string) => {
    clearTimeout(timers.current.get(key));
    timers.current.delete(key);
    setWaiting((all) => all.filter((one) => one.key !== key));
  }, []);
  const later = useCallback(
    (key: string, says: string, work: () => Promise<unknown>) => {
      drop(key);
      const send = () => {
        setWaiting((all) => all.map((one) => (one.key === key ? { ...one, sending: true } : one)));
        void work().finally(() => drop(key));
      };
      timers.current.set(key, setTimeout(send, UNDO_MS));
      setWaiting((all) => [...all, { key, says, at: performance.now() + UNDO_MS, sending: false }]);
    },
    [drop],
  );
  useEffect(() => {
    const all = timers.current;
    return () => {
      for (const timer of all.values()) clearTimeout(timer);
    };
  }, []);
  const open = waiting.filter((one) => !one.sending);
  const some = open.length > 0;
  useEffect(() => {
    if (!some) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [some]);
  return (
    <Context.Provider value={{ waiting, later, takeBack: drop }}>
      {children}
      {some && (
        <section className="laters" aria-label="Decisions that can be undone">
          {open.map((one) => <Line key={one.key} one={one} onUndo={() => drop(one.key)} />)}
          <p className="small muted">Closing this tab sends nothing.</p>
        </section>
      )}
    </Context.Provider>
  );
}

const TICK_MS = 250;

function Line({ one, onUndo }: { one: Waiting; onUndo: () => void }) {
  const [left, setLeft] = useState(UNDO_MS);
  useEffect(() => {
    const tick = setInterval(() => setLeft(Math.max(0, one.at - performance.now())), TICK_MS);
    return () => clearInterval(tick);
  }, [one.at]);
  return (
    <div className="row apart">
      <span className="grow"><span role="status">{one.says}</span> <span className="muted number" aria-hidden="true">in {Math.ceil(left / 1000)} s</span></span>
      <Button size="small" icon="undo" aria-label={`Undo: ${one.says}`} onClick={onUndo}>Undo</Button>
    </div>
  );
}

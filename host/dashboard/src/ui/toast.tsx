// Short news in the corner, spoken by screen readers.

import { Toast } from 'radix-ui';
import { createContext, useCallback, useContext, useState, type ReactNode } from 'react';
import { ApiError } from '../api/client';
import { Button } from './button';

interface News {
  id: number;
  tone: 'ok' | 'bad';
  text: string;
  more?: string | undefined;
}

interface Say {
  /** Something was done. */
  done: (text: string) => void;
  /** Something was refused. */
  failed: (error: unknown) => void;
}

const Context = createContext<Say>({ done: () => {}, failed: () => {} });
export const useSay = () => useContext(Context);

let next = 0;

export function Toasts({ children }: { children: ReactNode }) {
  const [news, setNews] = useState<News[]>([]);
  const add = useCallback((item: Omit<News, 'id'>) => setNews((all) => [...all.slice(-3), { ...item, id: next++ }]), []);
  const done = useCallback((text: string) => add({ tone: 'ok', text }), [add]);
  const failed = useCallback(
    (error: unknown) => {
      const api = error instanceof ApiError ? error : null;
      const more = [api?.hint, api?.requestId && `Request ${api.requestId}`].filter(Boolean).join(' ');
      add({ tone: 'bad', text: error instanceof Error ? error.message : String(error), more: more || undefined });
    },
    [add],
  );
  const [say] = useState<Say>({ done, failed });
  const drop = (id: number) => setNews((all) => all.filter((item) => item.id !== id));
  return (
    <Context.Provider value={say}>
      <Toast.Provider swipeDirection="right">
        {children}
        {news.map((item) => (
          <Toast.Root key={item.id} className={`toast ${item.tone}`} type={item.tone === 'bad' ? 'foreground' : 'background'} duration={item.tone === 'bad' ? 12_000 : 4_000} onOpenChange={(open) => open || drop(item.id)}>
            <div className="grow">
              <Toast.Title>{item.text}</Toast.Title>
              {item.more && <Toast.Description className="small muted">{item.more}</Toast.Description>}
            </div>
            <Toast.Close asChild>
              <Button kind="quiet" size="small" icon="close" aria-label="Dismiss" />
            </Toast.Close>
          </Toast.Root>
        ))}
        <Toast.Viewport className="toasts" />
      </Toast.Provider>
    </Context.Provider>
  );
}

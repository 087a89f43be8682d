// Short messages in the corner, spoken by screen readers.

import { Toast } from 'radix-ui';
import { createContext, useCallback, useContext, useState, type ReactNode } from 'react';
import { ApiError } from '../api/client';
import { Button } from './button';

interface ToastItem {
  id: number;
  tone: 'ok' | 'bad';
  text: string;
  more?: string | undefined;
}

interface Toaster {
  /** Something was done. */
  success: (text: string) => void;
  /** Something was refused. */
  error: (error: unknown) => void;
}

const Context = createContext<Toaster>({ success: () => {}, error: () => {} });
export const useToast = () => useContext(Context);

let next = 0;

export function Toasts({ children }: { children: ReactNode }) {
  const [items, setItems] = useState<ToastItem[]>([]);
  const add = useCallback((item: Omit<ToastItem, 'id'>) => setItems((all) => [...all.slice(-3), { ...item, id: next++ }]), []);
  const success = useCallback((text: string) => add({ tone: 'ok', text }), [add]);
  const error = useCallback(
    (error: unknown) => {
      const api = error instanceof ApiError ? error : null;
      const more = [api?.hint, api?.requestId && `Request ${api.requestId}`].filter(Boolean).join(' ');
      add({ tone: 'bad', text: error instanceof Error ? error.message : String(error), more: more || undefined });
    },
    [add],
  );
  const [toaster] = useState<Toaster>({ success, error });
  const drop = (id: number) => setItems((all) => all.filter((item) => item.id !== id));
  return (
    <Context.Provider value={toaster}>
      <Toast.Provider swipeDirection="right">
        {children}
        {items.map((item) => (
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

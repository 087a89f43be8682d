// The filters of a list. On a phone the choices are folded behind one button; the field to type into stays.

import { useState, type ReactNode } from 'react';
import { Button } from './button';

/** `set`: how many of the folded choices are set, which the button says. */
export function Filters({ set, children }: { set: number; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <div className={open ? 'filters folds open' : 'filters folds'} role="search">
      {children}
      <Button className="fold" size="small" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Fewer filters' : set > 0 ? `Filters (${set} set)` : 'Filters'}</Button>
    </div>
  );
}

// A list that does not move while somebody points at it: what is new waits, and what is gone keeps its place.

import { useEffect, useRef, useState, type FocusEvent, type PointerEvent } from 'react';

export interface StillRow<Row> {
  row: Row;
  /** Not in the list any more. */
  gone: boolean;
}

/** What is shown after `shown` when the list is now `fresh`, and how many new rows wait. */
export function still<Row>(shown: readonly StillRow<Row>[], fresh: readonly Row[], keyOf: (row: Row) => string, held: boolean): { rows: StillRow<Row>[]; waiting: number } {
  const now = new Map(fresh.map((row) => [keyOf(row), row]));
  const moves = held && shown.some(({ row }) => now.has(keyOf(row)));
  if (!moves) return { rows: fresh.map((row) => ({ row, gone: false })), waiting: 0 };
  const kept = shown.map(({ row }) => ({ row: now.get(keyOf(row)) ?? row, gone: !now.has(keyOf(row)) }));
  const known = new Set(kept.map(({ row }) => keyOf(row)));
  const last = fresh.findLastIndex((row) => known.has(keyOf(row)));
  // What is below all that is shown moves nothing: a further page.
  const below = fresh.slice(last + 1).map((row) => ({ row, gone: false }));
  return { rows: [...kept, ...below], waiting: fresh.slice(0, last).filter((row) => !known.has(keyOf(row))).length };
}

/** Holds a list while the mouse, or the keyboard's focus, is in its box. `key`: another one is another list. */
export function useStill<Row>(fresh: readonly Row[], keyOf: (row: Row) => string, key: string) {
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const shown = useRef<{ key: string; rows: StillRow<Row>[] }>({ key, rows: [] });
  const before = shown.current.key === key ? shown.current.rows : [];
  const { rows, waiting } = still(before, fresh, keyOf, pointed || focused);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    shown.current = { key, rows };
    // What is taken out of the page says neither that the mouse has left it nor that it has lost the focus.
    if (pointed && !element.current) setPointed(false);
    if (focused && !element.current?.contains(document.activeElement)) setFocused(false);
  });
  const box = {
    ref: element,
    onPointerEnter: (event: PointerEvent) => setPointed(event.pointerType === 'mouse'),
    onPointerLeave: () => setPointed(false),
    onFocus: (event: FocusEvent) => setFocused(event.target.matches(':focus-visible')),
    onBlur: (event: FocusEvent) => setFocused(event.currentTarget.contains(event.relatedTarget)),
  };
  return { rows, waiting, box };
}

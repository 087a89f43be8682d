// Times as people read them. The exact one is in the title and the `datetime`, and a press shows it.

import { useState, useSyncExternalStore } from 'react';

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

export function ago(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1000;
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return RELATIVE.format(Math.trunc(seconds / size), unit);
  }
  return seconds > 0 ? 'in a moment' : 'just now';
}

export const exact = (at: string) => EXACT.format(new Date(at));

const TICK_MS = 30_000;
const waiting = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/** One clock for all times of the page; it does not move where none is shown. */
function everyTick(tell: () => void): () => void {
  if (waiting.size === 0) {
    ticking = setInterval(() => {
      for (const one of waiting) one();
    }, TICK_MS);
  }
  waiting.add(tell);
  return () => {
    waiting.delete(tell);
    if (waiting.size === 0) clearInterval(ticking);
  };
}

export function Time({ at }: { at: string | null | undefined }) {
  const shown = useSyncExternalStore(everyTick, () => (at ? ago(at) : ''));
  const [isExact, setExact] = useState(false);
  if (!at) return <span className="muted">never</span>;
  return (
    <time dateTime={at} title={exact(at)} className="nowrap" onClick={() => setExact(!isExact)}>
      {isExact ? exact(at) : shown}
    </time>
  );
}

/** When something is due: a time that has come is not said as one that has passed. */
export function DueTime({ at }: { at: string }) {
  return Date.parse(at) <= Date.now() ? <>as soon as it is its turn</> : <Time at={at} />;
}

export function duration(ms: number | null | undefined): string {
  if (ms == null) return 'none';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

export function bytes(count: number | null | undefined): string {
  if (count == null) return 'unknown';
  if (count < 1024) return `${count} B`;
  return count < 1_048_576 ? `${(count / 1024).toFixed(1)} KB` : `${(count / 1_048_576).toFixed(1)} MB`;
}

export const count = (number: number) => number.toLocaleString('en');
export const plural = (number: number, one: string, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

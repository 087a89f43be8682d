// What a plugin may do, and what an upgrade would change of it. The gateway owns the shape; this
// shows every entry of it by its name, so that nothing new stays unseen.

import type { Rights as Shape } from '../api/types';
import { Badge, type Tone } from './badge';
import { Pairs } from './page';

interface Entry {
  name: string;
  values: string[];
}

/** One entry for each list or value, named by the way to it: `account user, scopes`. */
export function entries(value: unknown, way: string[] = []): Entry[] {
  const name = way.join(', ').replaceAll('_', ' ');
  if (value == null || value === false) return [];
  if (Array.isArray(value)) {
    const plain = value.filter((item) => typeof item !== 'object').map(String);
    const deep = value.filter((item): item is Record<string, unknown> => typeof item === 'object' && item != null);
    const own = plain.length > 0 ? [{ name, values: plain }] : [];
    return [...own, ...deep.flatMap(({ slot, ...rest }) => entries(rest, named(way, slot)))];
  }
  if (typeof value === 'object') {
    return Object.entries(value).flatMap(([key, item]) => entries(item, way.at(-1) === 'slots' ? named(way, key) : [...way, key]));
  }
  return [{ name, values: [value === true ? 'yes' : String(value)] }];
}

/** A slot is what people know as an account. */
function named(way: string[], slot: unknown): string[] {
  return [...way.slice(0, -1), `account ${String(slot ?? '')}`.trim()];
}

export function Rights({ rights, tone = 'plain' }: { rights: Shape; tone?: Tone }) {
  const all = entries(rights);
  if (all.length === 0) return <p className="muted">None.</p>;
  return (
    <Pairs
      items={all.map((entry) => [
        entry.name,
        <span className="row">
          {entry.values.map((value) => <Badge key={value} tone={tone}>{value}</Badge>)}
        </span>,
      ])}
    />
  );
}

// What a plugin may do, and what an upgrade changes of it: every change the gateway tells, in its words.

import type { Change, Rights as Shape } from '../api/types';
import { Badge, type Tone } from './badge';
import { visible } from './visible';

const HEADS: [Change['weight'], string, Tone][] = [
  ['right', 'waits', 'warn'],
  ['allowed', 'let in', 'plain'],
  ['text', 'text', 'plain'],
  ['less', 'less', 'ok'],
];

/** A first version: everything that it asks for. */
export function Rights({ rights }: { rights: Shape }) {
  if (rights.changes.length === 0) return <p className="muted">None.</p>;
  return (
    <ul className="rights">
      {rights.changes.map((change) => <li key={change.path}><Words change={change} /></li>)}
    </ul>
  );
}

/** An upgrade: what waits first, then what is only shown. */
export function Changes({ difference }: { difference: Shape }) {
  if (difference.changes.length === 0) return <p className="muted">Nothing but the code.</p>;
  return (
    <ul className="rights">
      {HEADS.flatMap(([weight, name, tone]) =>
        difference.changes
          .filter((change) => change.weight === weight)
          .map((change) => <li key={change.path + change.says}><Badge tone={tone}>{name}</Badge> <Words change={change} /></li>),
      )}
    </ul>
  );
}

function Words({ change }: { change: Change }) {
  return <span className="mono" title={visible(change.path)}>{visible(change.says)}</span>;
}

// What a plugin may do, and what an upgrade changes of it: every change the gateway tells, in its words and in four groups.

import type { Change, Rights as Shape } from '../api/types';
import { Badge, type Tone } from './badge';
import { grouped } from './rights-groups';
import { plural } from './time';
import { visible } from './visible';

const WEIGHTS: Record<Change['weight'], [string, Tone]> = {
  right: ['waits', 'warn'],
  allowed: ['let in', 'plain'],
  text: ['text', 'plain'],
  less: ['less', 'ok'],
};

/** A first version: everything that it asks for. */
export function Rights({ rights }: { rights: Shape }) {
  if (rights.changes.length === 0) return <p className="muted">None.</p>;
  return <Groups lead="It asks to:" changes={rights.changes} folded={() => true} />;
}

/** An upgrade: what waits first, then what is only shown. */
export function Changes({ difference }: { difference: Shape }) {
  if (difference.changes.length === 0) return <p className="muted">Nothing but the code.</p>;
  return <Groups lead="Compared with the approved version, it asks to:" changes={difference.changes} weights folded={(change) => change.weight !== 'right'} />;
}

/** `folded`: whether a text is behind a press. */
function Groups({ lead, changes, weights, folded }: { lead: string; changes: Change[]; weights?: boolean; folded: (change: Change) => boolean }) {
  return (
    <div className="stack">
      <p className="small muted">{lead}</p>
      {grouped(changes).map(([name, title, of]) => {
        const hidden = name === 'texts' ? of.filter(folded) : [];
        const shown = of.filter((change) => !hidden.includes(change));
        return (
          <div key={name} role="group" className="stack tight" aria-label={title}>
            <h3>{title}</h3>
            {shown.length > 0 && <List changes={shown} weights={weights} />}
            {hidden.length > 0 && (
              <details>
                <summary className="small">{plural(hidden.length, shown.length > 0 ? 'more text' : 'text')}</summary>
                <List changes={hidden} weights={weights} />
              </details>
            )}
          </div>
        );
      })}
    </div>
  );
}

function List({ changes, weights }: { changes: Change[]; weights: boolean | undefined }) {
  return (
    <ul className="rights">
      {changes.map((change) => (
        <li key={change.path + change.says}>
          {weights && <><Badge tone={WEIGHTS[change.weight][1]}>{WEIGHTS[change.weight][0]}</Badge> </>}
          <span className="mono" title={visible(change.path)}>{visible(change.says)}</span>
        </li>
      ))}
    </ul>
  );
}

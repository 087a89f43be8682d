// What a plugin may do, and what an upgrade would change of it. The gateway owns the shape; this
// shows every entry of it by its name, so that nothing new stays unseen.

import type { Rights as Shape } from '../api/types';
import { Badge, type Tone } from './badge';
import { Pairs } from './page';

const words = (name: string) => name.replaceAll('_', ' ');

/** How an entry of a difference reads: more is what to look at. */
function toneOf(name: string): Tone {
  if (/added|new|wider|gained/.test(name)) return 'warn';
  return /removed|dropped|lost/.test(name) ? 'ok' : 'plain';
}

function isEmpty(value: unknown): boolean {
  if (value == null || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function Value({ value, tone }: { value: unknown; tone: Tone }) {
  if (Array.isArray(value)) {
    return (
      <span className="row">
        {value.map((item, index) => (
          <Value key={index} value={item} tone={tone} />
        ))}
      </span>
    );
  }
  if (value != null && typeof value === 'object') return <Rights rights={value as Shape} tone={tone} />;
  return <Badge tone={tone}>{value === true ? 'yes' : String(value)}</Badge>;
}

export function Rights({ rights, tone = 'plain' }: { rights: Shape; tone?: Tone }) {
  const entries = Object.entries(rights).filter(([, value]) => !isEmpty(value));
  if (entries.length === 0) return <p className="muted">None.</p>;
  return (
    <Pairs
      items={entries.map(([name, value]) => {
        const own = toneOf(name);
        return [words(name), <Value value={value} tone={own === 'plain' ? tone : own} />] as const;
      })}
    />
  );
}

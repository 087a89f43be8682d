// Arguments as a person reads them: names and values, with nothing hidden in the text.

import { useState } from 'react';
import { Badge } from './badge';
import { Button } from './button';
import { Code } from './copy';
import { inWords } from './names';
import { visible } from './visible';

/** What the gateway writes in place of a secret. */
const HIDDEN = '[hidden]';
/** Deeper parts stay JSON. */
const DEPTH_MAX = 3;
/** A longer text is shown in a box of its own. */
const LINE_MAX = 120;

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (value === HIDDEN) return <Badge>hidden</Badge>;
  if (value === null || value === undefined) return <span className="muted">none</span>;
  if (typeof value === 'boolean') return <>{value ? 'Yes' : 'No'}</>;
  if (typeof value === 'number') return <span className="number">{value}</span>;
  if (typeof value === 'string') {
    if (value === '') return <span className="muted">empty text</span>;
    if (value.includes('\n') || value.length > LINE_MAX) return <div className="long-text" tabIndex={0} role="region" aria-label="Text">{visible(value)}</div>;
    return <>{visible(value)}</>;
  }
  if (depth >= DEPTH_MAX) return <code>{visible(JSON.stringify(value))}</code>;
  if (Array.isArray(value)) {
    if (value.length === 0) return <span className="muted">empty list</span>;
    return <ol className="values">{value.map((item, index) => <li key={index}><Value value={item} depth={depth + 1} /></li>)}</ol>;
  }
  return <Fields value={value as Record<string, unknown>} depth={depth + 1} />;
}

function Fields({ value, depth }: { value: Record<string, unknown>; depth: number }) {
  const all = Object.entries(value);
  if (all.length === 0) return <span className="muted">{depth === 0 ? 'No arguments.' : 'empty'}</span>;
  return (
    <dl className={depth === 0 ? 'pairs' : 'pairs inside'}>
      {all.map(([name, item]) => (
        <div key={name} className="pair">
          <dt title={visible(name)}>{inWords(name)}</dt>
          <dd><Value value={item} depth={depth} /></dd>
        </div>
      ))}
    </dl>
  );
}

/** An object as names and values; anything else, and the whole on request, as JSON. */
export function Readable({ value, label }: { value: unknown; label: string }) {
  const [asJson, setAsJson] = useState(false);
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
  const json = <Code text={visible(JSON.stringify(value, null, 2) ?? 'null')} label={label} />;
  if (!isObject) return json;
  return (
    <div className="stack tight">
      {asJson ? json : <Fields value={value as Record<string, unknown>} depth={0} />}
      <div><Button size="small" kind="quiet" aria-pressed={asJson} onClick={() => setAsJson(!asJson)}>{asJson ? 'Show as a form' : 'Show as JSON'}</Button></div>
    </div>
  );
}

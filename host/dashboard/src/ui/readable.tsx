// Arguments as a person reads them: names and values, with nothing hidden in the text. Where names and values would show
// less than the JSON text, such as a number that a browser rounds, the text is all there is.

import { useState } from 'react';
import { Button } from './button';
import { Code } from './copy';
import { inWords } from './names';
import { isReadable } from './readable-text';
import { count } from './time';
import { visible } from './visible';

/** Deeper parts stay JSON. */
const DEPTH_MAX = 3;
/** A longer text is shown in a box of its own. */
const LINE_MAX = 120;

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (value === null || value === undefined) return <span className="muted">none</span>;
  if (typeof value === 'boolean') return <>{value ? 'Yes' : 'No'}</>;
  if (typeof value === 'number') return <span className="number">{value}</span>;
  if (typeof value === 'string') {
    if (value === '') return <span className="muted">empty text</span>;
    if (value.includes('\n') || value.length > LINE_MAX) {
      return (
        <>
          <div className="long-text" tabIndex={0} role="region" aria-label="Text">{visible(value)}</div>
          <span className="small muted">{count(value.length)} characters</span>
        </>
      );
    }
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
  // Two names may be the same in words: then each is shown as it is.
  const words = all.map(([name]) => inWords(name));
  if (all.length === 0) return <span className="muted">{depth === 0 ? 'No arguments.' : 'empty'}</span>;
  return (
    <dl className={depth === 0 ? 'pairs' : 'pairs inside'}>
      {all.map(([name, item]) => (
        <div key={name} className="pair">
          <dt title={visible(name)}>{words.filter((other) => other === inWords(name)).length > 1 ? visible(name) : inWords(name)}</dt>
          <dd><Value value={item} depth={depth} /></dd>
        </div>
      ))}
    </dl>
  );
}

/**
 * An object as names and values; anything else, and the whole on request, as JSON. `text`: the JSON as it runs, with
 * what a reader cannot see escaped.
 */
export function Readable({ value, text, label }: { value: unknown; text: string; label: string }) {
  const [asJson, setAsJson] = useState(false);
  const json = <Code text={visible(text)} label={label} />;
  if (!isReadable(value, text)) return json;
  return (
    <div className="stack tight">
      {asJson ? json : <Fields value={value as Record<string, unknown>} depth={0} />}
      <div><Button size="small" kind="quiet" aria-pressed={asJson} onClick={() => setAsJson(!asJson)}>{asJson ? 'Show as a form' : 'Show as JSON'}</Button></div>
    </div>
  );
}

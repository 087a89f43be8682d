// Text to take away: one line, or a block.

import { useState, type MouseEvent } from 'react';
import { Button } from './button';

/** Stands beside the element with the text. */
function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState<'copied' | 'selected' | null>(null);
  const copy = async (event: MouseEvent<HTMLButtonElement>) => {
    const shown = event.currentTarget.parentElement?.querySelector('code');
    try {
      await navigator.clipboard.writeText(text);
      setDone('copied');
    } catch {
      // Over plain http a browser gives pages no clipboard; a person has one still.
      if (shown) window.getSelection()?.selectAllChildren(shown);
      setDone('selected');
    }
  };
  return (
    <>
      <Button size="small" icon={done === 'copied' ? 'done' : 'copy'} aria-label={label} onClick={copy} onBlur={() => setDone(null)} />
      <span className={done === 'selected' ? 'copy-self' : 'only-read'} role="status">{done === 'copied' ? 'Copied' : done === 'selected' ? 'Press Ctrl+C' : ''}</span>
    </>
  );
}

export function CopyLine({ text, label }: { text: string; label: string }) {
  return (
    <div className="copy-line">
      <code>{text}</code>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  );
}

export function Code({ text, label, copy = true }: { text: string; label: string; copy?: boolean }) {
  return (
    <div className={copy ? 'code with-copy' : 'code'}>
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
      {copy && <CopyButton text={text} label={`Copy ${label}`} />}
    </div>
  );
}

export function Json({ value, label }: { value: unknown; label: string }) {
  return <Code text={JSON.stringify(value, null, 2) ?? 'null'} label={label} />;
}

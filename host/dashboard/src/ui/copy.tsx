// Text to take away: one line, or a block.

import { useState } from 'react';
import { Button } from './button';

export function CopyButton({ text, label = 'Copy', small = true }: { text: string; label?: string; small?: boolean }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <>
      <Button size={small ? 'small' : 'normal'} icon={copied ? 'done' : 'copy'} aria-label={label} onClick={copy} onBlur={() => setCopied(false)} />
      <span className="only-read" role="status">{copied ? 'Copied' : ''}</span>
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

// The keys that work on every page, and a way to do without those that are single letters.

import { useState } from 'react';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { CheckField } from '../ui/field';
import { setSingleKeys, SHORTCUTS, singleKeys } from './keys';

export function HelpKeys({ onClose }: { onClose: () => void }) {
  const [on, setOn] = useState(singleKeys);
  const change = (next: boolean) => {
    setSingleKeys(next);
    setOn(next);
  };
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} footer={<Button kind="primary" onClick={onClose}>Close</Button>}>
      <dl className="keys">
        {SHORTCUTS.map(([key, does]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt>{key.split(' ').map((part) => <kbd key={part}>{part}</kbd>)}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <CheckField label="Single-key shortcuts" hint="Turn them off if you dictate text, or if they get in your way." checked={on} onChange={change} />
    </Dialog>
  );
}

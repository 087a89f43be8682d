// The same call from a program, ready to copy.

import { Tabs } from 'radix-ui';
import { Button } from './button';
import { Code } from './copy';
import { Dialog } from './dialog';
import { LANGUAGES, snippet, type Call } from './snippets';

export function CallAs({ call, about, onClose }: { call: Call; about?: string; onClose: () => void }) {
  return (
    <Dialog wide title={`Call ${call.tool} from a program`} onClose={onClose} footer={<Button kind="primary" onClick={onClose}>Done</Button>}>
      {about && <p className="muted">{about}</p>}
      <Tabs.Root defaultValue="curl">
        <Tabs.List className="tabs" aria-label="Languages">
          {LANGUAGES.map((language) => <Tabs.Trigger key={language} className="tab" value={language}>{language}</Tabs.Trigger>)}
        </Tabs.List>
        {LANGUAGES.map((language) => (
          <Tabs.Content key={language} value={language} tabIndex={-1}>
            <Code text={snippet(language, call)} label={`call in ${language}`} />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </Dialog>
  );
}

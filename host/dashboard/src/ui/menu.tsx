// A menu behind a button.

import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from './button';
import { Icon, type IconName } from './icon';

export interface Entry {
  label: string;
  icon?: IconName;
  danger?: boolean;
  onSelect: () => void;
}

export function Menu({ label, entries, trigger, about }: { label: string; entries: (Entry | false | null)[]; trigger?: ReactNode; about?: ReactNode }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger ?? <Button kind="quiet" size="small" icon="more" aria-label={label} />}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4} aria-label={label}>
          {about && <div className="about">{about}</div>}
          {entries.map(
            (entry) =>
              entry && (
                <DropdownMenu.Item key={entry.label} className={entry.danger ? 'danger' : undefined} onSelect={entry.onSelect}>
                  {entry.icon && <Icon name={entry.icon} />}
                  {entry.label}
                </DropdownMenu.Item>
              ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

// Keys that work on every page.

export type Command = 'palette' | 'search' | 'help' | 'submit';

type KeyPress = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing'>;

/** What a key asks for. A letter that is typed into a field stays a letter. */
export function commandOf(pressed: KeyPress, typing: boolean, singleKeys: boolean): Command | null {
  if (pressed.isComposing || pressed.altKey) return null;
  const main = pressed.ctrlKey || pressed.metaKey;
  if (main) {
    if (pressed.key.toLowerCase() === 'k') return 'palette';
    return pressed.key === 'Enter' && typing ? 'submit' : null;
  }
  if (typing || !singleKeys) return null;
  return pressed.key === '/' ? 'search' : pressed.key === '?' ? 'help' : null;
}

export const SHORTCUTS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'Find an action, page, tool, integration, user or execution'],
  ['/', 'Go to the search of this page'],
  ['Ctrl Enter', 'Send the form'],
  ['?', 'Show these shortcuts'],
  ['Esc', 'Close'],
];

const STORED = 'toolgate.single-keys';
/** Who dictates turns keys without Ctrl off. */
export const singleKeys = (): boolean => localStorage.getItem(STORED) !== 'off';
export function setSingleKeys(on: boolean): void {
  if (on) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, 'off');
}

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

import { describe, expect, it } from 'vitest';
import { commandOf } from './keys';

const key = (name: string, more: object = {}) => ({ key: name, ctrlKey: false, metaKey: false, altKey: false, isComposing: false, ...more });

describe('with Ctrl or the command key', () => {
  it.each([{ ctrlKey: true }, { metaKey: true }])('finds and sends, also from within a field: %o', (held) => {
    expect(commandOf(key('k', held), true, true)).toBe('palette');
    expect(commandOf(key('K', held), false, false)).toBe('palette');
    expect(commandOf(key('Enter', held), true, true)).toBe('submit');
    expect(commandOf(key('Enter', held), false, true)).toBeNull();
    expect(commandOf(key('/', held), false, true)).toBeNull();
  });
});

describe('single keys', () => {
  it('work outside of fields', () => {
    expect(commandOf(key('/'), false, true)).toBe('search');
    expect(commandOf(key('?'), false, true)).toBe('help');
  });
  it('are letters within a field, and where they are turned off', () => {
    for (const name of ['/', '?', 'k', 'Enter']) {
      expect(commandOf(key(name), true, true)).toBeNull();
      expect(commandOf(key(name), false, false)).toBeNull();
    }
  });
  it('are the input method\'s while it composes, and others\' with Alt', () => {
    expect(commandOf(key('/', { isComposing: true }), false, true)).toBeNull();
    expect(commandOf(key('k', { ctrlKey: true, altKey: true }), false, true)).toBeNull();
  });
});

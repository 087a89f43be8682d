import { describe, expect, it } from 'vitest';
import { isReadable } from './readable-text';

const readable = (text: string) => isReadable(JSON.parse(text), text);

describe('arguments', () => {
  it('are shown as names and values where these say everything', () => {
    expect(readable('{\n  "text": "a",\n  "n": 7,\n  "list": [\n    true,\n    null\n  ],\n  "empty": {},\n  "none": []\n}')).toBe(true);
  });
  it('are shown as the text that runs where a browser reads it in another way', () => {
    for (const text of [
      '{\n  "n": 12345678901234567890\n}',
      '{\n  "n": 0.1000000000000000055511151231257827\n}',
      '{\n  "n": 1e400\n}',
      '{\n  "b": 1,\n  "7": 2\n}',
      '{\n  "a": 1,\n  "a": 2\n}',
      '{\n  "text": "a\\u202eb"\n}',
      '[]',
      '"[redacted]"',
    ]) {
      expect(readable(text), text).toBe(false);
    }
  });
});

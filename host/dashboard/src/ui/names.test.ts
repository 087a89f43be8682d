import { describe, expect, it } from 'vitest';
import { inWords } from './names';

describe('names of arguments', () => {
  it('are words', () => {
    const pairs = { max_results: 'Max results', dueDate: 'Due date', URL: 'URL', 'page-token': 'Page token', __: '__', number: 'Number' };
    for (const [name, words] of Object.entries(pairs)) expect(inWords(name)).toBe(words);
  });
  it('hide nothing', () => {
    expect(inWords('a\u202eb')).toBe('A\\u{202e}b');
  });
});

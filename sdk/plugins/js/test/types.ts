// Compiles: what a tool's function is given has the types of what it declared.

import { definePlugin, s, tool } from '../src/index.js';

const typed = tool({
  name: 'typed',
  description: 'Takes everything.',
  effect: 'read',
  input: {
    text: s.string('Text.'),
    count: s.integer('Count.', { default: 1 }),
    word: s.oneOf(['a', 'b'], 'Word.').optional(),
    list: s.array(s.object({ name: s.string('Name.') }), 'List.'),
  },
  run({ text, count, word, list }, cx) {
    const all: [string, number, 'a' | 'b' | undefined, string[]] = [text, count, word, list.map((one) => one.name)];
    // @ts-expect-error a number is not text
    const wrong: string = count;
    return [all, wrong, cx.nowMs()];
  },
});

export default definePlugin({ service: 'typed', title: 'Typed', version: '0.1.0', description: 'Types.', tools: [typed] });

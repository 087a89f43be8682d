import { definePlugin, page, pickEach, s, tool } from 'toolgate-plugin';

const BASE = 'https://api.example.com/v1';

const listNotes = tool({
  name: 'list_notes',
  description: 'Lists notes, newest first.',
  effect: 'read',
  paginated: true,
  input: {
    folder: s.string('Only notes of this folder.').optional(),
    limit: s.integer('Notes on a page.', { min: 1, max: 100, default: 20 }),
  },
  examples: [{ folder: 'work' }],
  async run({ folder, limit }, cx) {
    const query = new URLSearchParams({ limit, page: cx.pageNumber(1) });
    if (folder) query.set('folder', folder);
    const notes = await cx.json(`${BASE}/notes?${query}`);
    const next = notes.length === limit ? String(cx.pageNumber(1) + 1) : undefined;
    return page(pickEach(notes, ['id', 'text', 'author=user/name']), next);
  },
});

const createNote = tool({
  name: 'create_note',
  description: 'Writes a note and answers its number.',
  effect: 'write',
  input: { text: s.string('The text, in Markdown.', { minLength: 1 }) },
  examples: [{ text: 'Buy milk' }],
  async run({ text }, cx) {
    return cx.json(`${BASE}/notes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    });
  },
});

export default definePlugin({
  service: '__SERVICE__',
  title: '__TITLE__',
  version: '0.1.0',
  description: 'Read and write notes kept at example.com.',
  homepage: 'https://example.com',
  categories: ['notes'],
  hosts: ['api.example.com'],
  auth: [
    {
      slot: 'user',
      title: 'API key',
      type: 'api_key',
      placement: { header: 'x-api-key' },
      audience: ['https://api.example.com'],
    },
  ],
  tools: [listNotes, createNote],
});

// Knowledge from the file to the passage, and a session that converses with a model, watched while it
// writes. `asked`: pdf (a file), model (where the scripted model is opened).
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, asked, createKey, live, open, owner, serves, setUp, visit, walk } from './browser.mjs';

const done = (what) => console.log(what);

await walk(async (browser, look) => {
  const { page, wrong } = await open(browser);
  look(page);
  await setUp(page);
  const key = await createKey(page, 'agent', true);
  await serves(key, 'words_count');

  await visit(page, '/knowledge');
  await page.getByText('No documents yet').waitFor();
  const note = join(asked.folder, 'travel.md');
  const picture = join(asked.folder, 'picture.png');
  await writeFile(note, '# Travel policy\n\nTrains before planes. \u{1f682} Hotels up to 120 EUR a night.\n');
  await writeFile(picture, 'no document');
  await page.setInputFiles('input[type=file]', [picture, note, asked.pdf]);
  await page.getByRole('alert').getByText('Only .txt, .md, .html and .pdf files are supported.').waitFor();
  const documents = page.getByRole('table', { name: 'Documents, newest first' });
  await documents.getByRole('link', { name: 'Travel policy' }).waitFor();
  await documents.getByRole('row').filter({ hasText: 'PDF' }).waitFor();
  await page.getByRole('button', { name: 'Write a document' }).click();
  await page.getByRole('dialog').getByLabel('Title').fill('Kitchen');
  await page.getByRole('dialog').getByLabel('Text', { exact: true }).fill('The coffee machine is cleaned on Fridays.');
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  await documents.getByRole('link', { name: 'Kitchen' }).waitFor();
  done('documents are uploaded and written, and what is none is refused');

  await page.getByLabel('Search the knowledge').fill('hotel price per night');
  const passages = page.getByRole('list', { name: 'Passages' });
  await passages.getByText('Hotels up to 120 EUR').waitFor();
  await passages.getByRole('link', { name: 'Travel policy' }).first().click();
  const marked = page.locator('mark');
  await marked.waitFor();
  assert.match(await marked.innerText(), /Hotels up to 120 EUR a night\.$/);
  await visit(page, '/knowledge?query=zeppelin');
  await page.getByText('No passages found').waitFor();
  await live(page);
  const added = await ask(key, 'POST', '/v1/knowledge/documents', { media_type: 'text/plain', content: 'Zeppelins need a form.' });
  await passages.getByRole('link', { name: 'Zeppelins need a form.' }).waitFor();
  await ask(key, 'DELETE', `/v1/knowledge/documents/${added.data.document_id}`);
  await page.getByText('No passages found').waitFor();
  done('a search answers passages that lead into their document, and follows what others change');

  await visit(page, '/knowledge');
  await page.getByRole('button', { name: 'Delete Kitchen' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Delete Kitchen' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await documents.getByRole('link', { name: 'Kitchen' }).waitFor({ state: 'detached' });
  const found = await ask(key, 'GET', '/v1/knowledge/search?query=coffee+machine');
  assert.deepEqual(found.data.passages, []);
  done('a document is deleted once that was confirmed, and found no more');

  await visit(page, '/sessions');
  await page.getByRole('button', { name: 'New session' }).first().click();
  await page.getByRole('dialog').getByLabel('What should be done?').fill('Say hello');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await page.getByRole('heading', { name: 'Say hello', level: 1 }).waitFor();
  const said = page.getByRole('list', { name: 'Messages' });
  await said.locator('strong', { hasText: 'Hello' }).waitFor();
  done('a session is begun with a first message and its answer');

  const session = page.url();
  // The model waits behind a gate with the first words said: what it writes is seen before it is done.
  await page.getByLabel('Message', { exact: true }).fill('How many words has this?');
  await page.getByRole('button', { name: 'Send' }).click();
  const now = page.getByRole('list', { name: 'Being said now' });
  await now.getByText('How many words has this?').waitFor();
  await now.getByText('execute_tool').first().waitFor();
  await fetch(asked.gate, { method: 'POST' });
  await said.getByText('It has four words.').waitFor();
  await now.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Message', { exact: true }).inputValue(), '');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.locator('summary', { hasText: 'answered' }).click();
  await page.getByRole('region', { name: 'execute_tool answered' }).getByText('distinct').waitFor();
  await page.getByRole('link', { name: /^exe_/ }).first().click();
  await page.getByText('words_count').first().waitFor();
  done('a message is answered while the page watches, step by step, with the receipt of what ran');

  await ask(key, 'PATCH', `/v1/permissions/users/${owner.email}/tools/words_count`, { permission: 'ask', approvers: 'self' });
  await page.goto(session);
  await page.getByLabel('Message', { exact: true }).fill('Count them again');
  await page.keyboard.press('Control+Enter');
  await page.getByText('approval required', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'View the request' }).click();
  await page.getByRole('button', { name: 'Approve words_count' }).click();
  await page.getByText('approved', { exact: true }).waitFor();
  await page.goto(session);
  await page.getByRole('button', { name: 'Continue' }).click();
  await said.getByText('Counted after all.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Continue' }).count(), 0);
  done('a turn that waits for a person says so, and goes on once it was approved');

  const noise = /status of (400|404)/;
  assert.deepEqual(wrong.filter((line) => !noise.test(line)), []);
});

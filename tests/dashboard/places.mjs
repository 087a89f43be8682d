// Every page of the dashboard, with something on it to look at. What an address needs to know of the
// gateway is made first, over the public interface, by `furnish`.
import { ask, asked, serves } from './browser.mjs';

/** Fills an empty gateway: calls good and bad, a parked one, Skills, rules, documents, a session, a webhook. */
export async function furnish(key, tool = 'words_count', parkedTool = 'words_count') {
  const must = async (method, path, body) => {
    const answer = await ask(key, method, path, body);
    if (!answer.success) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  };
  await serves(key, tool);
  await serves(key, 'github_list_issues');
  const run = (args, more) => must('POST', `/v1/tools/${tool}/execute`, { arguments: args, ...more });
  const call = await run({ text: 'to be or not to be' });
  for (const user_id of ['charles', 'grace', 'mary']) {
    for (const text of ['one', 'one two', 'one two three']) await run({ text }, { user_id });
  }
  await must('PATCH', `/v1/permissions/users/charles/tools/${parkedTool}`, { permission: 'ask' });
  await must('PATCH', '/v1/permissions/users/charles/services/github', { permission: 'deny' });
  const until = new Date(Date.now() + 7_200_000).toISOString();
  await must('PATCH', '/v1/permissions/users/charles/services/words', { permission: 'allow', expires_at: until, max_calls: 5 });
  const looked = await run({ text: 'only looked at' }, { dry_run: true });
  const parked = await run({ text: 'may I' }, { user_id: 'charles' });
  const instructions = '# Triage\n\n1. List what is open with `github_list_issues`.\n2. For each without a label:\n   - read it\n   - **label** it\n\n> Never close an issue by yourself.\n\n| label | when |\n|---|---|\n| bug | it worked before |\n| question | it is not clear yet |\n';
  const skill = await must('POST', '/v1/skills', { name: 'Triage new issues', summary: 'Sorts what came in over night. Use it every morning.', instructions });
  await must('PUT', `/v1/skills/${skill.skill_id}`, { instructions: instructions.replace('read it', 'read it twice'), version: 1 });
  await must('POST', '/v1/skills', { name: 'Weekly report', summary: 'Collects the numbers of the week and writes them up.', instructions: 'Count with `words_count`.' });
  await must('POST', '/v1/toolsets', { name: 'reports', title: 'Reports', description: 'Counting words, and how the week is written up.', tools: [tool], skills: [skill.skill_id] });
  const add = (title, content) => must('POST', '/v1/knowledge/documents', { title, media_type: 'text/markdown', content });
  await add('Support hours', '# Support hours\n\nWe answer from eight to six. At night and on Sundays the person on call decides what waits.');
  const policy = '# Travel policy\n\nTrains before planes wherever the way takes less than six hours.\n\n## Hotels\n\nA hotel may cost up to 120 EUR a night, in capitals 160 EUR. Breakfast is paid.\n\n## Receipts\n\nSend them within a month.\n';
  const document = await add('Travel policy', policy);
  const from = policy.indexOf('A hotel');
  const passage = { from, to: policy.indexOf('\n', from) };
  const session = await must('POST', '/v1/sessions', { prompt: 'Count the words of a text' });
  await must('POST', `/v1/sessions/${session.session_id}/messages`, { content: 'And what may a hotel cost?' });
  // A gateway without webhooks says so in its document.
  const { paths } = await (await fetch(`${asked.base}/openapi.json`)).json();
  const webhook = '/v1/webhooks' in paths
    ? await must('POST', '/v1/webhooks', { url: 'https://app.example.com/toolgate', events: ['tool.*', 'approval.*'], description: 'Production' })
    : null;
  return { execution: call.execution_id, other: looked.execution_id, approval: parked.approval_id, skill: skill.skill_id, document: document.document_id, passage, session: session.session_id, webhook: webhook?.webhook_id };
}

/** Name of a page, its path, and what to press first. */
export const places = (of) => [
  ['overview', '/overview'],
  ['tools', '/tools?query=count+the+words+of+a+text'],
  ['tool', '/tools/words_count'],
  ['integrations', '/integrations'],
  ['integration', '/integrations/github'],
  ['connections', '/connections'],
  ['plugins', '/plugins'],
  ['plugin', '/plugins/words'],
  ['skills', '/skills'],
  ['skill', `/skills/${of.skill}`],
  ['skill-versions', `/skills/${of.skill}`, (page) => page.getByRole('tab', { name: 'Versions' }).click()],
  ['toolsets', '/toolsets'],
  ['toolset', '/toolsets/reports'],
  ['toolset-new', '/toolsets', async (page) => {
    await page.getByRole('button', { name: 'New toolset' }).first().click();
    await page.getByRole('searchbox', { name: /^Add tools/ }).fill('words');
    await page.getByRole('button', { name: 'Add words_count' }).first().click();
  }],
  ['users', '/permissions'],
  ['user', '/permissions/charles'],
  ['permissions', '/permissions/charles?tab=rules', (page) => page.getByRole('button', { name: 'Words', exact: true }).click()],
  ['permissions-explain', '/permissions/charles', (page) => page.getByRole('tab', { name: 'Explain' }).click()],
  ['permission-for-a-time', '/permissions/charles', (page) => page.getByRole('button', { name: 'Temporary rule' }).click()],
  ['approvals', '/approvals'],
  ['approval', `/approvals/${of.approval}`],
  ['executions', '/executions'],
  ['execution', `/executions/${of.execution}`],
  ['compare', `/executions/compare?a=${of.execution}&b=${of.other}`],
  ['sessions', '/sessions'],
  ['session', `/sessions/${of.session}`],
  ['session-new', '/sessions', (page) => page.getByRole('button', { name: 'New session' }).first().click()],
  ['scripts', '/scripts'],
  ['knowledge', '/knowledge?query=what+may+a+hotel+cost'],
  ['document', `/knowledge/${of.document}?from=${of.passage.from}&to=${of.passage.to}`],
  ['document-new', '/knowledge', (page) => page.getByRole('button', { name: 'Write a document' }).click()],
  ...(of.webhook
    ? [
        ['webhooks', '/webhooks'],
        ['webhook', `/webhooks/${of.webhook}`],
        ['webhook-new', '/webhooks', (page) => page.getByRole('button', { name: 'Add webhook' }).first().click()],
        ['triggers', '/triggers'],
        ['trigger-new', '/triggers', (page) => page.getByRole('button', { name: 'New trigger' }).first().click()],
      ]
    : []),
  ['keys', '/settings/api'],
  ['key-new', '/settings/api', (page) => page.getByRole('button', { name: 'Create key' }).first().click()],
  ['apps', '/settings/apps'],
  ['clients', '/settings/clients'],
  ['client-cursor', '/settings/clients?client=cursor&toolset=reports'],
  ['members', '/settings/members'],
  ['workspace', '/settings/workspace'],
  ['audit', '/settings/audit'],
  ['account', '/settings/account'],
  ['find', '/overview', async (page) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Find/ }).fill('words');
    await page.getByRole('option', { name: 'words_count' }).first().waitFor();
  }],
  ['keys-help', '/overview', async (page) => {
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  }],
  ['nowhere', '/overview/nowhere'],
];

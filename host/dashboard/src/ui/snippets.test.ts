import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { LANGUAGES, python, snippet, type Call } from './snippets';

const NASTY = `it's "quoted" \\ $HOME \`id\` %s \n\u2028 ä`;
const call: Call = { baseUrl: 'https://gate.example.com', tool: 'notes_add', args: { text: NASTY, n: 1.5, done: false, tags: ['a', null] }, userId: 'ada@example.com', dryRun: true };

describe('curl', () => {
  it('means the same to a shell, whatever the arguments are', () => {
    // The shell hands its words to this printf in curl's place.
    const script = snippet('curl', call).replace(/^curl/, "printf '%s\\0'");
    const words = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { ...process.env, TOOLGATE_API_KEY: 'the-key' } }).split('\0');
    expect(words[0]).toBe('https://gate.example.com/v1/tools/notes_add/execute');
    expect(words[2]).toBe('Authorization: Bearer the-key');
    expect(JSON.parse(words[6] ?? '')).toEqual({ arguments: call.args, user_id: 'ada@example.com', dry_run: true });
  });
});

describe('Python', () => {
  it('reads the arguments as they are', () => {
    const said = execFileSync('python3', ['-c', `import json; print(json.dumps(${python(call.args)}))`], { encoding: 'utf8' });
    expect(JSON.parse(said)).toEqual(call.args);
  });
  it('names the user and the dry run', () => {
    expect(snippet('Python', call)).toContain('user_id="ada@example.com", dry_run=True)');
  });
});

describe('TypeScript', () => {
  it('reads the arguments as they are', () => {
    const source = snippet('TypeScript', call);
    const made = /execute\((.*)\);$/m.exec(source)?.[1] ?? '';
    const [tool, args, options] = JSON.parse(`[${made}]`);
    expect([tool, args, options]).toEqual(['notes_add', call.args, { user_id: 'ada@example.com', dry_run: true }]);
  });
});

describe('MCP', () => {
  it('is the request of a client, for the key\'s own user', () => {
    const { method, params } = JSON.parse(snippet('MCP', call));
    expect(method).toBe('tools/call');
    expect(params).toEqual({ name: 'svc_execute_tool', arguments: { tool_name: 'notes_add', arguments: call.args } });
  });
});

it('no snippet says more than was asked for', () => {
  for (const language of LANGUAGES) {
    const said = snippet(language, { baseUrl: 'http://127.0.0.1:8080', tool: 'a_b', args: {} });
    expect(said).not.toMatch(/user_id|dry_run|tg_live/);
  }
});

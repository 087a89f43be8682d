import { describe, expect, it } from 'vitest';
import { base64, clientsFor, obstacle } from './mcp-clients';

const address = { mcp: 'https://tools.example.com/mcp', base: 'https://tools.example.com', key: 'tg_live_secret' };
const by = (id: string, more = {}) => clientsFor({ ...address, ...more }).find((one) => one.id === id)!;

it('every client signs in with the address alone: no key is in what it is given', () => {
  for (const client of clientsFor(address)) {
    expect(client.signIn.length, client.id).toBeGreaterThan(0);
    expect(JSON.stringify(client.signIn), client.id).not.toContain(address.key);
    expect(JSON.stringify(client.signIn), client.id).toContain('tools.example.com');
  }
});

it('what needs a key names it, or where it is read from', () => {
  for (const client of clientsFor(address)) {
    for (const way of client.withKey) expect(way.text, client.id).toMatch(/tg_live_secret|TOOLGATE_API_KEY|input:toolgate-key/);
  }
});

describe('an install link', () => {
  it('of Cursor carries the server as base64 of its JSON', () => {
    const link = new URL(by('cursor').signIn[0]!.install!);
    expect([link.protocol, link.host, link.pathname, link.searchParams.get('name')]).toEqual(['cursor:', 'anysphere.cursor-deeplink', '/mcp/install', 'toolgate']);
    expect(JSON.parse(atob(link.searchParams.get('config')!))).toEqual({ url: address.mcp });
  });
  it('of VS Code carries it as JSON in the query', () => {
    const link = by('vs-code').signIn[0]!.install!;
    expect(link.startsWith('vscode:mcp/install?')).toBe(true);
    expect(JSON.parse(decodeURIComponent(link.split('?')[1]!))).toEqual({ name: 'toolgate', type: 'http', url: address.mcp });
  });
  it('of Goose says that it is streamable HTTP', () => {
    const link = new URL(by('goose').signIn[0]!.install!);
    expect([link.searchParams.get('url'), link.searchParams.get('type')]).toEqual([address.mcp, 'streamable_http']);
  });
});

it('base64 takes every character', () => {
  expect(new TextDecoder().decode(Uint8Array.from(atob(base64('Zürich ✓')), (char) => char.charCodeAt(0)))).toBe('Zürich ✓');
});

it('a toolset is its address, and a name for the program', () => {
  const more = { mcp: 'https://tools.example.com/mcp/t/support', toolset: 'support' };
  expect(by('zed', more).signIn[0]?.text).toContain('/mcp/t/support');
  expect(by('claude', more).withKey[0]?.text).toMatch(/"--toolset",\s*"support"/);
  expect(by('claude').withKey[0]?.text).not.toContain('--toolset');
});

it('a client of the internet needs a public address with https, one on the computer does not', () => {
  for (const here of ['http://127.0.0.1:8080', 'http://localhost:8080', 'https://[::1]:8080', 'http://tools.localhost']) {
    expect(obstacle('internet', here), here).toBe('local');
    expect(obstacle('computer', here), here).toBeNull();
  }
  expect(obstacle('internet', 'http://tools.example.com')).toBe('http');
  expect(obstacle('internet', 'https://tools.example.com')).toBeNull();
});

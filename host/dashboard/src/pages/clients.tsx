// How the usual MCP clients are told about this gateway; ready to copy.

import { Tabs } from 'radix-ui';
import { useState } from 'react';
import { Link } from 'wouter';
import { useIsAdmin, useMe } from '../shell/me';
import { Code, CopyLine } from '../ui/copy';
import { TextField } from '../ui/field';
import { Note } from '../ui/note';
import { Card, Page, Pairs } from '../ui/page';

const HOLDER = 'tg_live_...';

interface Client {
  name: string;
  where: string;
  text: (mcp: string, key: string, base: string) => string;
}

/** Values become ids, which have no spaces. */
const idOf = (client: Client | undefined) => client?.name.replaceAll(' ', '-') ?? '';
const json = (value: unknown) => JSON.stringify(value, null, 2);

const CLIENTS: Client[] = [
  {
    name: 'Claude Code',
    where: 'Run this once in a terminal.',
    text: (mcp, key) => `claude mcp add --transport http toolgate ${mcp} --header "Authorization: Bearer ${key}"`,
  },
  {
    name: 'Claude Desktop',
    where: 'In claude_desktop_config.json (Settings, Developer). It starts the stdio proxy that is built into toolgate.',
    text: (_, key, base) => json({ mcpServers: { toolgate: { command: 'toolgate', args: ['mcp', '--url', base], env: { TOOLGATE_API_KEY: key } } } }),
  },
  {
    name: 'Cursor',
    where: 'In ~/.cursor/mcp.json, or .cursor/mcp.json of a project.',
    text: (mcp, key) => json({ mcpServers: { toolgate: { url: mcp, headers: { Authorization: `Bearer ${key}` } } } }),
  },
  {
    name: 'VS Code',
    where: 'In .vscode/mcp.json. It asks for the key once and stores it.',
    text: (mcp) =>
      json({
        inputs: [{ type: 'promptString', id: 'toolgate-key', description: 'toolgate API key', password: true }],
        servers: { toolgate: { type: 'http', url: mcp, headers: { Authorization: 'Bearer ${input:toolgate-key}' } } },
      }),
  },
  {
    name: 'Codex',
    where: 'In ~/.codex/config.toml, with the key in the environment variable TOOLGATE_API_KEY.',
    text: (mcp) => `[mcp_servers.toolgate]\nurl = "${mcp}"\nbearer_token_env_var = "TOOLGATE_API_KEY"`,
  },
  {
    name: 'Windsurf',
    where: 'In ~/.codeium/windsurf/mcp_config.json.',
    text: (mcp, key) => json({ mcpServers: { toolgate: { serverUrl: mcp, headers: { Authorization: `Bearer ${key}` } } } }),
  },
  {
    name: 'REST',
    where: 'For programs that do not speak MCP.',
    text: (_, key, base) => `curl -H "Authorization: Bearer ${key}" '${base}/v1/tools/search?query=send+a+message'`,
  },
];

export default function Clients() {
  const me = useMe();
  const admin = useIsAdmin();
  const [key, setKey] = useState('');
  return (
    <Page title="Connect a client" about={<>Every client gets the same nine tools: search, describe and execute, Skills, and a health check. For a client that lists well and searches badly, use the address of a <Link className="in-text" href="/toolsets">toolset</Link>.</>}>
      <div className="stack">
        <Card title="Address and key">
          <div className="stack">
            <Pairs
              items={[
                ['MCP', <CopyLine text={me.mcp_url} label="MCP address" />],
                ['REST', <CopyLine text={`${me.public_url}/v1`} label="REST address" />],
                ['API reference', <a href="/docs" target="_blank" rel="noopener">{me.public_url}/docs</a>],
              ]}
            />
            <TextField label="Key for the examples" placeholder={HOLDER} value={key} onChange={setKey} hint="It stays on this page and is not sent or stored." autoComplete="off" spellCheck={false} />
            {admin ? <p className="small">No key yet? <Link href="/settings/api">Create one</Link>.</p> : <Note><p>Ask an admin for a key. Admins create them under Settings, API keys.</p></Note>}
          </div>
        </Card>
        <Tabs.Root defaultValue={idOf(CLIENTS[0])}>
          <Tabs.List className="tabs" aria-label="Clients">
            {CLIENTS.map((client) => <Tabs.Trigger key={client.name} className="tab" value={idOf(client)}>{client.name}</Tabs.Trigger>)}
          </Tabs.List>
          {CLIENTS.map((client) => (
            <Tabs.Content key={client.name} value={idOf(client)} tabIndex={-1}>
              <div className="stack tight">
                <p className="muted">{client.where}</p>
                <Code text={client.text(me.mcp_url, key.trim() || HOLDER, me.public_url)} label={`configuration for ${client.name}`} />
              </div>
            </Tabs.Content>
          ))}
        </Tabs.Root>
      </div>
    </Page>
  );
}

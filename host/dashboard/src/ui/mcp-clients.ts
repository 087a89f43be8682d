// How MCP clients are told of this gateway: by signing in, which needs the address alone, or with a key. Install links are
// those that the client's own documentation names.

export interface Address {
  /** Of the gateway, or of a toolset. */
  mcp: string;
  base: string;
  /** `tg_live_...` where none was entered. */
  key: string;
  /** Of a toolset, where one was chosen. */
  toolset?: string | undefined;
}

/** One way to connect a client. */
export interface Way {
  title: string;
  /** What a person does, in order. */
  steps: string[];
  /** To be copied: a command, or the content of a file. */
  text?: string;
  /** Opens the client, which asks before it adds anything. */
  install?: string;
}

export interface McpClient {
  id: string;
  name: string;
  /** Where its requests come from: the provider's servers, or the person's computer. */
  from: 'internet' | 'computer';
  signIn: Way[];
  withKey: Way[];
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

/** Base64 of a text in UTF-8, as install links of Cursor carry it. */
export function base64(text: string): string {
  let bytes = '';
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

/** cursor.com/docs/mcp/install-links */
const cursorLink = (mcp: string) => `cursor://anysphere.cursor-deeplink/mcp/install?name=toolgate&config=${encodeURIComponent(base64(JSON.stringify({ url: mcp })))}`;
/** code.visualstudio.com/api/extension-guides/ai/mcp */
const codeLink = (mcp: string) => `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: 'toolgate', type: 'http', url: mcp }))}`;
/** Goose: "Using extensions", Deeplinks. */
const gooseLink = (mcp: string) => `goose://extension?url=${encodeURIComponent(mcp)}&type=streamable_http&id=toolgate&name=toolgate&description=${encodeURIComponent('Tools of this workspace')}`;

/** `toolgate mcp`, for clients that start a program. */
function stdio({ base, key, toolset }: Address) {
  return { command: 'toolgate', args: ['mcp', '--url', base, ...(toolset ? ['--toolset', toolset] : [])], env: { TOOLGATE_API_KEY: key } };
}

export function clientsFor(address: Address): McpClient[] {
  const { mcp, base, key } = address;
  const bearer = { Authorization: `Bearer ${key}` };
  return [
    {
      id: 'claude',
      name: 'Claude',
      from: 'internet',
      signIn: [
        { title: 'Web, desktop and phone', steps: ['In Claude, open Settings, Connectors.', 'Select "Add custom connector" and enter this address.', 'Select "Connect" and sign in here.'], text: mcp },
      ],
      withKey: [
        { title: 'Desktop, as a program', steps: ['In Claude Desktop, open Settings, Developer, "Edit Config", and add this. The program toolgate has to be installed on that computer.'], text: json({ mcpServers: { toolgate: stdio(address) } }) },
      ],
    },
    {
      id: 'claude-code',
      name: 'Claude Code',
      from: 'computer',
      signIn: [{ title: 'In a terminal', steps: ['Run this once.', 'In Claude Code, enter /mcp, choose toolgate and "Authenticate".'], text: `claude mcp add --transport http toolgate ${mcp}` }],
      withKey: [{ title: 'In a terminal', steps: ['Run this once.'], text: `claude mcp add --transport http toolgate ${mcp} --header "Authorization: Bearer ${key}"` }],
    },
    {
      id: 'chatgpt',
      name: 'ChatGPT',
      from: 'internet',
      signIn: [{ title: 'Web', steps: ['In ChatGPT, open Settings, Connectors, Advanced, and turn on Developer mode.', 'Select "Create", enter this address, and choose OAuth.', 'Sign in here when it asks.'], text: mcp }],
      withKey: [],
    },
    {
      id: 'cursor',
      name: 'Cursor',
      from: 'computer',
      signIn: [{ title: 'One click', steps: ['Open Cursor with the button, or put this into ~/.cursor/mcp.json.', 'Select "Connect" beside toolgate and sign in here.'], text: json({ mcpServers: { toolgate: { url: mcp } } }), install: cursorLink(mcp) }],
      withKey: [{ title: 'In a file', steps: ['In ~/.cursor/mcp.json, or .cursor/mcp.json of a project.'], text: json({ mcpServers: { toolgate: { url: mcp, headers: bearer } } }) }],
    },
    {
      id: 'vs-code',
      name: 'VS Code',
      from: 'computer',
      signIn: [{ title: 'One click', steps: ['Open VS Code with the button, or put this into .vscode/mcp.json.', 'Select "Start" above toolgate and sign in here.'], text: json({ servers: { toolgate: { type: 'http', url: mcp } } }), install: codeLink(mcp) }],
      withKey: [
        {
          title: 'In a file',
          steps: ['In .vscode/mcp.json. It asks for the key once and stores it.'],
          text: json({
            inputs: [{ type: 'promptString', id: 'toolgate-key', description: 'toolgate API key', password: true }],
            servers: { toolgate: { type: 'http', url: mcp, headers: { Authorization: 'Bearer ${input:toolgate-key}' } } },
          }),
        },
      ],
    },
    {
      id: 'zed',
      name: 'Zed',
      from: 'computer',
      signIn: [{ title: 'In a file', steps: ['Put this into settings.json.', 'Select "Authenticate" and sign in here.'], text: json({ context_servers: { toolgate: { url: mcp } } }) }],
      withKey: [{ title: 'In a file', steps: ['In settings.json.'], text: json({ context_servers: { toolgate: { url: mcp, headers: bearer } } }) }],
    },
    {
      id: 'gemini',
      name: 'Gemini CLI',
      from: 'computer',
      signIn: [{ title: 'In a terminal', steps: ['Run this once.', 'In Gemini CLI, enter /mcp auth toolgate.'], text: `gemini mcp add --transport http toolgate ${mcp}` }],
      withKey: [{ title: 'In a file', steps: ['In ~/.gemini/settings.json.'], text: json({ mcpServers: { toolgate: { httpUrl: mcp, headers: bearer } } }) }],
    },
    {
      id: 'goose',
      name: 'Goose',
      from: 'computer',
      signIn: [{ title: 'One click', steps: ['Open Goose with the button; or run goose configure, choose "Add Extension", "Remote Extension (Streamable HTTP)", and enter this address without headers.', 'Goose opens the browser at the first start: sign in here.'], text: mcp, install: gooseLink(mcp) }],
      withKey: [{ title: 'In the dialog', steps: ['Add a remote extension (Streamable HTTP) with the address, and this as a header.'], text: `Authorization: Bearer ${key}` }],
    },
    {
      id: 'codex',
      name: 'Codex',
      from: 'computer',
      signIn: [{ title: 'In a terminal', steps: ['Run these two commands.'], text: `codex mcp add toolgate --url ${mcp}\ncodex mcp login toolgate` }],
      withKey: [{ title: 'In a file', steps: ['In ~/.codex/config.toml, with the key in the environment variable TOOLGATE_API_KEY.'], text: `[mcp_servers.toolgate]\nurl = "${mcp}"\nbearer_token_env_var = "TOOLGATE_API_KEY"` }],
    },
    {
      id: 'other',
      name: 'Other',
      from: 'computer',
      signIn: [
        { title: 'A client that speaks HTTP', steps: ['Give it this address (Streamable HTTP) and no key. It opens the browser, where you sign in.'], text: mcp },
        { title: 'A client that only starts programs', steps: ['With Node.js, add this.'], text: json({ mcpServers: { toolgate: { command: 'npx', args: ['mcp-remote', mcp] } } }) },
      ],
      withKey: [
        { title: 'HTTP', steps: ['Most clients take this form; Windsurf calls the address serverUrl.'], text: json({ mcpServers: { toolgate: { url: mcp, headers: bearer } } }) },
        { title: 'Standard input and output', steps: ['The program toolgate sends every call to this gateway.'], text: json({ mcpServers: { toolgate: stdio(address) } }) },
        { title: 'REST', steps: ['For programs that do not speak MCP.'], text: `curl -H "Authorization: Bearer ${key}" '${base}/v1/tools/search?query=send+a+message'` },
      ],
    },
  ];
}

/** Why a client cannot use this address; `null` where it can. */
export function obstacle(from: McpClient['from'], base: string): 'local' | 'http' | null {
  const url = new URL(base);
  const host = url.hostname;
  const local = host === 'localhost' || host.endsWith('.localhost') || host.startsWith('127.') || host === '[::1]';
  if (from === 'computer') return null;
  if (local) return 'local';
  return url.protocol === 'https:' ? null : 'http';
}

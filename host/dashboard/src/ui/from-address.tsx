// An integration from an address: paste it, see what is there and what it would become, choose a name, see the rights,
// install. A description goes on in its own dialog.

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { call, upload } from '../api/client';
import type { PluginCheck } from '../api/types';
import { Badge, type Tone } from './badge';
import { Button } from './button';
import { bytesOf } from './bytes';
import { Dialog } from './dialog';
import { CheckField, TextField } from './field';
import { FromDescription } from './from-description';
import { Install } from './install';
import { ErrorNote, Note, Waiting } from './note';
import { Pairs } from './page';
import { plural } from './time';
import { visible } from './visible';

interface ServerSummary {
  service: string;
  title: string;
  protocol: string;
  tools: { name: string; upstream: string; effect: 'read' | 'write' | 'destructive' }[];
  auth: 'oauth2' | 'bearer' | 'none';
  sign_in?: string;
  sign_in_warning?: string;
  notes: { tool?: string; message: string; left_out: boolean }[];
  warnings: string[];
}
type Found = { kind: 'mcp_server'; server: ServerSummary; wasm_base64: string } | { kind: 'description'; text: string };
type FoundServer = Extract<Found, { kind: 'mcp_server' }>;

/** Tools and notes that are shown at once. */
const SHOWN_MAX = 200;
const EFFECT_TONES: Record<ServerSummary['tools'][number]['effect'], Tone> = { read: 'plain', write: 'warn', destructive: 'bad' };
const ACCOUNTS: Record<ServerSummary['auth'], string> = {
  oauth2: 'each user signs in at the service',
  bearer: 'each user enters a token',
  none: 'none is needed',
};

export function FromAddress({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState('');
  const [token, setToken] = useState('');
  const [entersToken, setEntersToken] = useState(false);
  const ask = (service?: string) =>
    call<Found>('POST', '/addresses/read', {
      body: { url: url.trim(), enters_token: entersToken, ...(service && { service }), ...(token && { token }) },
    });
  const read = useMutation({ mutationFn: () => ask() });
  const found = read.data;
  if (found?.kind === 'description') return <FromDescription start={found.text} onClose={onClose} />;
  if (found?.kind === 'mcp_server') return <Server found={found} ask={ask} onBack={() => read.reset()} onClose={onClose} />;
  return (
    <Dialog
      wide
      title="Add integration"
      onClose={onClose}
      onSubmit={() => read.mutate()}
      footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" busy={read.isPending} disabled={!url.trim()}>Look at the address</Button></>}
    >
      <p className="muted">The address of an MCP server, or of an OpenAPI description. Nothing is installed before you have seen what the plugin may do.</p>
      {read.error && <ErrorNote error={read.error} />}
      {read.isPending && <Waiting what="Asking the address" />}
      <TextField label="Address" type="url" placeholder="https://mcp.example.com/mcp" value={url} onChange={setUrl} maxLength={500} required />
      <TextField label="Token for this list" type="password" hint="Only where the server asks for a sign-in before it lists its tools. It is used once and not kept." value={token} onChange={setToken} maxLength={8_000} />
      <CheckField label="Each user enters a token" hint="Where the service has tokens or keys in place of a sign-in." checked={entersToken} onChange={setEntersToken} />
    </Dialog>
  );
}

interface ServerDialog {
  found: FoundServer;
  ask: (service: string) => Promise<Found>;
  onBack: () => void;
  onClose: () => void;
}

function Server({ found, ask, onBack, onClose }: ServerDialog) {
  const [, go] = useLocation();
  const { server } = found;
  const [service, setService] = useState(server.service);
  const review = useMutation({
    mutationFn: async () => {
      const name = service.trim();
      const built = name === server.service ? found : await ask(name);
      if (built.kind !== 'mcp_server') throw new Error('The address no longer answers as an MCP server.');
      const file = new Blob([bytesOf(built.wasm_base64)], { type: 'application/wasm' });
      return { file, check: await upload<PluginCheck>('/plugins/check', file, () => {}) };
    },
  });
  const made = review.data;
  if (made) return <Install check={made.check} file={made.file} onClose={() => review.reset()} onInstalled={() => { onClose(); go(`/plugins?query=${made.check.service}`); }} />;
  const leftOut = server.notes.filter((note) => note.left_out);
  return (
    <Dialog
      wide
      title={`MCP server ${visible(server.title)}`}
      onClose={onClose}
      onSubmit={() => review.mutate()}
      footer={<><Button onClick={onBack}>Back</Button><Button type="submit" kind="primary" busy={review.isPending} disabled={!service.trim()}>Review the rights</Button></>}
    >
      {review.error && <ErrorNote error={review.error} />}
      {review.isPending && <Waiting what="Building the plugin" />}
      <Pairs items={[['Tools', plural(server.tools.length, 'tool')], ['Protocol', `MCP ${visible(server.protocol)}`], ['Account', ACCOUNTS[server.auth]]]} />
      {server.sign_in && <p>{visible(server.sign_in)}</p>}
      {[server.sign_in_warning, ...server.warnings].map((text) => text && <Note key={text} tone="warn"><p>{visible(text)}</p></Note>)}
      <TextField label="Service name" hint="Every tool name begins with it: lowercase letters, digits and underscores." value={service} onChange={setService} maxLength={40} required />
      <ul className="operations">
        {server.tools.slice(0, SHOWN_MAX).map((tool) => (
          <li key={tool.name}><Badge tone={EFFECT_TONES[tool.effect]}>{tool.effect}</Badge> <span className="mono">{visible(tool.upstream)}</span></li>
        ))}
      </ul>
      {server.tools.length > SHOWN_MAX && <p className="muted small">{plural(server.tools.length - SHOWN_MAX, 'more tool')}: the plugin's page lists them.</p>}
      {leftOut.length > 0 && (
        <Note tone="warn">
          <p>Left out: {plural(leftOut.length, 'tool')}.</p>
          {leftOut.slice(0, SHOWN_MAX).map((note) => <p key={`${note.tool} ${note.message}`} className="small">{visible(note.tool ?? '')}: {visible(note.message)}</p>)}
        </Note>
      )}
    </Dialog>
  );
}

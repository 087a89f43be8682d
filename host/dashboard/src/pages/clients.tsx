// How MCP clients are told about this gateway: by signing in, or with a key; for all tools or a toolset.

import { useQuery } from '@tanstack/react-query';
import { Tabs } from 'radix-ui';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { ToolsetList } from '../api/types';
import { useIsAdmin, useIsOperator, useMe } from '../shell/me';
import { useAddressState } from '../ui/address';
import { ClientWatch } from '../ui/client-watch';
import { Code, CopyLine } from '../ui/copy';
import { SelectField, TextField } from '../ui/field';
import { Icon } from '../ui/icon';
import { clientsFor, obstacle, type McpClient, type Way } from '../ui/mcp-clients';
import { Note } from '../ui/note';
import { Card, Page } from '../ui/page';

const HOLDER = 'tg_live_...';

export default function Clients() {
  const me = useMe();
  const [key, setKey] = useState('');
  const [chosen, setChosen] = useAddressState('client');
  const [toolset, setToolset] = useAddressState('toolset');
  const toolsets = useQuery({ queryKey: ['toolsets'], queryFn: () => call<ToolsetList>('GET', '/toolsets') });
  const named = toolsets.data?.toolsets.find((one) => one.name === toolset);
  const mcp = named?.mcp_url ?? me.mcp_url;
  const clients = clientsFor({ mcp, base: me.public_url, key: key.trim() || HOLDER, toolset: named?.name });
  const open = clients.find((client) => client.id === chosen)?.id ?? 'claude';
  return (
    <Page title="Connect a client" about="A client that signs in acts as you, within your permissions, and you can end it under Connected apps. A key is for programs without a person.">
      <div className="stack">
        <ClientWatch />
        <Card>
          <div className="stack">
            <SelectField
              label="Tools"
              value={named?.name ?? ''}
              onChange={setToolset}
              hint={named ? 'The client lists exactly these tools, under their own names.' : 'The client lists tools that search, describe and execute, Skills, and a health check; with code mode also one that runs scripts. For one that lists well and searches badly, choose a toolset.'}
              options={[['', 'All tools, found by search'], ...(toolsets.data?.toolsets ?? []).map((one) => [one.name, `Toolset: ${one.title}`] as const)]}
            />
            <div className="field">
              <span className="label">Address</span>
              <CopyLine text={mcp} label="MCP address" />
            </div>
          </div>
        </Card>
        <Tabs.Root value={open} onValueChange={setChosen}>
          <Tabs.List className="tabs" aria-label="Clients">
            {clients.map((client) => <Tabs.Trigger key={client.id} className="tab" value={client.id}>{client.name}</Tabs.Trigger>)}
          </Tabs.List>
          {clients.map((client) => (
            <Tabs.Content key={client.id} value={client.id} tabIndex={-1}>
              <OneClient client={client} holder={key} onKey={setKey} />
            </Tabs.Content>
          ))}
        </Tabs.Root>
        <p className="small muted">
          REST is at <code>{me.public_url}/v1</code>, with its <a className="in-text" href="/docs" target="_blank" rel="noopener">reference</a>. More about clients is in the <a className="in-text" href="/docs/guide/mcp-clients.html" target="_blank" rel="noopener">guide</a>.
        </p>
      </div>
    </Page>
  );
}

function OneClient({ client, holder, onKey }: { client: McpClient; holder: string; onKey: (key: string) => void }) {
  const admin = useIsAdmin();
  return (
    <div className="columns two">
      <Card title="Sign in">
        <div className="stack">
          <Reach client={client} />
          {client.signIn.map((way) => <Steps key={way.title} way={way} client={client} how="sign-in" />)}
        </div>
      </Card>
      {client.withKey.length > 0 ? (
        <Card title="With a key">
          <div className="stack">
            <TextField label="Key for the examples" placeholder={HOLDER} value={holder} onChange={onKey} hint="It stays on this page and is not sent or stored." autoComplete="off" spellCheck={false} />
            {admin ? <p className="small">No key yet? <Link className="in-text" href="/settings/api?do=create">Create one</Link>.</p> : <p className="small muted">Ask an admin for a key. Admins create them under Settings, API keys.</p>}
            {client.withKey.map((way) => <Steps key={way.title} way={way} client={client} how="key" />)}
          </div>
        </Card>
      ) : (
        <Card title="With a key"><p className="muted">{client.name} takes no key: it signs in.</p></Card>
      )}
    </div>
  );
}

function Steps({ way, client, how }: { way: Way; client: McpClient; how: 'sign-in' | 'key' }) {
  return (
    <section className="stack tight" aria-label={`${client.name}, ${how}: ${way.title}`}>
      <h3>{way.title}</h3>
      {way.install && (
        <div><a className="button primary" href={way.install}><Icon name="external" />Add to {client.name}</a></div>
      )}
      {way.steps.length > 1 ? <ol className="numbered">{way.steps.map((step) => <li key={step}>{step}</li>)}</ol> : <p>{way.steps[0]}</p>}
      {way.text && <Code text={way.text} label={`${client.name}, ${how}, ${way.title.toLowerCase()}`} />}
    </section>
  );
}

/** What the client needs from outside. */
function Reach({ client }: { client: McpClient }) {
  const me = useMe();
  const operator = useIsOperator();
  const between = obstacle(client.from, me.public_url);
  const guide = <a className="in-text" href="/docs/guide/tls.html" target="_blank" rel="noopener">How to set a public address</a>;
  if (between == null) {
    return <p className="small muted">{client.from === 'internet' ? `The servers of ${client.name} send the requests: they have to reach ${me.public_url} from the internet.` : `The requests come from the computer on which the client runs: it has to reach ${me.public_url}.`}</p>;
  }
  return (
    <Note tone="warn">
      <p>
        The servers of {client.name} send the requests, from the internet.{' '}
        {between === 'local' ? `${me.public_url} is reached from this computer only.` : `They need https, and ${me.public_url} is http.`}
      </p>
      <p>{operator ? guide : 'Ask the operator of this gateway for a public address.'}</p>
    </Note>
  );
}

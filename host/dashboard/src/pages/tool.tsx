// One tool: its schema, and a form to try it.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams, useSearchParams } from 'wouter';
import { call } from '../api/client';
import type { Execution, Receipt, ToolSchema } from '../api/types';
import { useIsAdmin, useMe } from '../shell/me';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { CallAs } from '../ui/call-as';
import { Json } from '../ui/copy';
import { TextArea, TextField } from '../ui/field';
import { ErrorNote } from '../ui/note';
import { Answer } from '../ui/answer';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { RequestTable } from '../ui/requests';
import { SchemaForm, violationsOf, type Arguments } from '../ui/schema-form';
import { Segments } from '../ui/segments';
import { Effect } from './tools';

export default function Tool() {
  const { tool: name = '' } = useParams<{ tool: string }>();
  const schema = useQuery({ queryKey: ['tools', 'schema', name], queryFn: () => call<ToolSchema>('GET', `/tools/${encodeURIComponent(name)}/schema`) });
  return (
    <Page title={name} about={schema.data?.description} back={{ to: '/tools', name: 'Tools' }}>
      <Loaded query={schema}>{(tool) => <Body key={tool.name} tool={tool} />}</Loaded>
    </Page>
  );
}

function Body({ tool }: { tool: ToolSchema }) {
  return (
    <div className="stack">
      <TryIt tool={tool} />
      <div className="columns two">
        <Card title="About">
          <Pairs
            items={[
              ['Service', <Link href={`/integrations/${tool.service}`}>{tool.service}</Link>],
              ['Effect', <Effect tool={{ ...tool, version: '' }} />],
              ['Safe to repeat', tool.annotations.idempotentHint || tool.annotations.readOnlyHint ? 'yes' : 'no'],
              ['Credential', tool.auth.type === 'none' ? 'none needed' : tool.auth.type],
              tool.auth.scopes.length > 0 && ['Scopes', <span className="row">{tool.auth.scopes.map((scope) => <Badge key={scope}>{scope}</Badge>)}</span>],
            ]}
          />
        </Card>
        <Card title="Input schema"><Json value={tool.inputSchema} label="input schema" /></Card>
        {tool.outputSchema && <Card title="Output schema"><Json value={tool.outputSchema} label="output schema" /></Card>}
      </div>
    </div>
  );
}

type ArgumentsView = 'form' | 'json';

function TryIt({ tool }: { tool: ToolSchema }) {
  const me = useMe();
  const admin = useIsAdmin();
  const [view, setView] = useState<ArgumentsView>('form');
  const [value, setValue] = useState<Arguments>({});
  const [text, setText] = useState('{}');
  const [search] = useSearchParams();
  const [userId, setUserId] = useState(admin ? (search.get('user_id') ?? me.user_id) : me.user_id);
  const [copied, setCopied] = useState<Arguments | null>(null);
  const [broken, setBroken] = useState<string | null>(null);
  const run = useMutation({
    mutationFn: ({ dryRun, args }: { dryRun: boolean; args: Arguments }) =>
      call<Execution>('POST', `/tools/${encodeURIComponent(tool.name)}/execute`, { body: { arguments: args, dry_run: dryRun, user_id: userId } }),
  });
  const change = (next: ArgumentsView) => {
    if (next === 'json') setText(JSON.stringify(value, null, 2));
    else if (!take()) return;
    setView(next);
  };
  const take = (): Arguments | null => {
    if (view === 'form') return value;
    try {
      const read = JSON.parse(text) as unknown;
      if (typeof read !== 'object' || read == null || Array.isArray(read)) throw new Error('The arguments have to be one JSON object.');
      setValue(read as Arguments);
      setBroken(null);
      return read as Arguments;
    } catch (error) {
      setBroken(error instanceof Error ? error.message : 'This is not valid JSON.');
      return null;
    }
  };
  const start = (dryRun: boolean) => {
    const args = take();
    if (args) run.mutate({ dryRun, args });
  };
  return (
    <div className="columns two">
      <Card title="Try it" actions={<Segments label="How to write the arguments" value={view} options={[{ value: 'form', label: 'Form' }, { value: 'json', label: 'JSON' }]} onChange={change} />}>
        <form
          className="stack"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            start(false);
          }}
        >
          {view === 'form' ? (
            <SchemaForm schema={tool.inputSchema} value={value} onChange={setValue} violations={violationsOf(run.error)} />
          ) : (
            <TextArea label="Arguments" code rows={10} wrong={broken} value={text} onChange={setText} />
          )}
          {admin && <TextField label="Run as user" hint="The user whose connections and permissions apply." value={userId} onChange={setUserId} maxLength={128} />}
          <div className="row">
            <Button type="submit" kind="primary" icon="play" busy={run.isPending && !run.variables.dryRun}>Run</Button>
            <Button busy={run.isPending && run.variables.dryRun} onClick={() => start(true)}>Dry run</Button>
            <Button kind="quiet" icon="copy" onClick={() => setCopied(take())}>Copy as ...</Button>
          </div>
          <p className="muted small">A dry run shows what would be sent without sending it.</p>
        </form>
      </Card>
      {copied && <CallAs call={{ baseUrl: me.public_url, tool: tool.name, args: copied, userId }} onClose={() => setCopied(null)} />}
      <div className="stays">
      <Card title="Answer">
        {run.error ? (
          <ErrorNote error={run.error} />
        ) : run.data ? (
          <div className="stack" aria-live="polite">
            <Answer execution={run.data} />
            <ReceiptOf id={run.data.execution_id} />
          </div>
        ) : (
          <p className="muted">The result and its receipt appear here.</p>
        )}
      </Card>
      </div>
    </div>
  );
}

function ReceiptOf({ id }: { id: string }) {
  const receipt = useQuery({ queryKey: ['executions', id], queryFn: () => call<Receipt>('GET', `/executions/${id}`) });
  return (
    <div className="stack tight">
      <div className="row apart">
        <h3>Receipt</h3>
        <Link href={`/executions/${id}`} className="small mono">{id}</Link>
      </div>
      <Loaded query={receipt}>{(data) => (data.requests.length === 0 ? <p className="muted">No request left the gateway.</p> : <RequestTable requests={data.requests} />)}</Loaded>
    </div>
  );
}

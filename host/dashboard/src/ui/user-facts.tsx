// What there is of one user: connections, rules that were set for them, and the newest calls.

import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { ConnectionPage, ExecutionPage, UserPermissions } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { State } from './badge';
import { Button } from './button';
import { ConnectionTable } from './connection-table';
import { Empty } from './note';
import { Card, Loaded } from './page';
import { approversOf, whoDecides, type Kind } from './rules';
import { Table } from './table';
import { duration, Time } from './time';

const CONNECTIONS_SHOWN = 50;
const CALLS_SHOWN = 10;

export function UserFacts({ user, own, rules, onRules }: { user: string; own: boolean; rules: UserPermissions; onRules: () => void }) {
  return (
    <div className="stack">
      <TheirConnections user={user} own={own} />
      <TheirRules rules={rules} onRules={onRules} />
      <TheirCalls user={user} />
    </div>
  );
}

function TheirConnections({ user, own }: { user: string; own: boolean }) {
  const admin = useIsAdmin();
  const list = useQuery({ queryKey: ['connections', 'user', user], queryFn: () => call<ConnectionPage>('GET', '/connections', { query: { user_id: user, limit: CONNECTIONS_SHOWN } }) });
  const all = <Link className="button small" href={`/connections${admin ? `?user_id=${encodeURIComponent(user)}` : ''}`}>All connections</Link>;
  return (
    <Card title="Connections" flush actions={list.data?.next_cursor && all}>
      <Loaded query={list}>
        {(data) =>
          data.connections.length === 0 ? (
            <Empty icon="connections" title="No connections" action={<Link className="button" href="/integrations?state=ready">Choose a service</Link>}>
              {own ? 'Tools that need an account ask you to connect one.' : 'A tool that needs an account answers with a link for this user.'}
            </Empty>
          ) : (
            <ConnectionTable caption="Connections, newest first" connections={data.connections} hide="user" />
          )
        }
      </Loaded>
    </Card>
  );
}

function TheirRules({ rules, onRules }: { rules: UserPermissions; onRules: () => void }) {
  const set = (['services', 'tools'] as const).flatMap((kind: Kind) => Object.entries(rules[kind]).map(([name, permission]) => ({ kind, name, permission })));
  return (
    <Card title="Rules" flush actions={<Button size="small" onClick={onRules}>All services and tools</Button>}>
      {set.length === 0 ? (
        <Empty icon="permissions" title="No rules" action={<Button onClick={onRules}>Services and tools</Button>}>
          {rules.default === 'allow' ? 'Every tool is allowed by default.' : 'By default, tools that read are allowed and others ask.'}
        </Empty>
      ) : (
        <Table
          caption="Rules for this user"
          rows={set}
          rowKey={(row) => `${row.kind} ${row.name}`}
          columns={[
            { head: 'For', cell: (row) => (row.kind === 'tools' ? <Link href={`/tools/${row.name}`} className="mono">{row.name}</Link> : <Link href={`/integrations/${row.name}`}>{row.name}</Link>) },
            { head: 'Kind', cell: (row) => <span className="muted">{row.kind === 'tools' ? 'tool' : 'all tools of a service'}</span> },
            { head: 'Rule', cell: (row) => <State name={row.permission} /> },
            { head: 'Decided by', wide: true, cell: (row) => (row.permission === 'ask' ? <span className="small">{whoDecides(approversOf(rules, row.kind, row.name))}</span> : <span className="muted small">nobody has to</span>) },
          ]}
        />
      )}
    </Card>
  );
}

function TheirCalls({ user }: { user: string }) {
  const admin = useIsAdmin();
  const list = useQuery({ queryKey: ['executions', 'user', user], queryFn: () => call<ExecutionPage>('GET', '/executions', { query: { user_id: user, limit: CALLS_SHOWN } }) });
  const all = `/executions${admin ? `?user_id=${encodeURIComponent(user)}` : ''}`;
  return (
    <Card title="Newest calls" flush actions={<Link className="button small" href={all}>All calls</Link>}>
      <Loaded query={list}>
        {(data) =>
          data.executions.length === 0 ? (
            <Empty icon="executions" title="No calls yet" action={<Link className="button" href="/tools">Try a tool</Link>} />
          ) : (
            <Table
              caption="Newest calls"
              rows={data.executions}
              rowKey={(row) => row.execution_id}
              columns={[
                { head: 'Tool', cell: (row) => <Link href={`/executions/${row.execution_id}`} className="mono strong">{row.tool_name}</Link> },
                { head: 'Status', cell: (row) => <State name={row.status} /> },
                { head: 'By', cell: (row) => <span className="muted">{row.key.name}</span> },
                { head: 'Duration', align: 'right', cell: (row) => duration(row.duration_ms) },
                { head: 'Started', cell: (row) => <Time at={row.started_at} /> },
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

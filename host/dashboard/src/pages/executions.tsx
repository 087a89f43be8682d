import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { Receipt } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { useAddressState } from '../ui/address';
import { State } from '../ui/badge';
import { Button } from '../ui/button';
import { SelectField, TextField } from '../ui/field';
import { Empty, ErrorNote, Waiting } from '../ui/note';
import { Card, Page } from '../ui/page';
import { download } from '../ui/download';
import { failureOf } from '../ui/failures';
import { Table } from '../ui/table';
import { duration, Time } from '../ui/time';

const STATUSES = ['success', 'error', 'auth_required', 'auth_expired', 'approval_required', 'dry_run', 'running', 'interrupted'];

/** What is seen at once; the rest comes in larger pieces. */
const FIRST_PAGE = 25;

export default function Executions() {
  const admin = useIsAdmin();
  const [tool, setTool] = useAddressState('tool_name');
  const [user, setUser] = useAddressState('user_id');
  const [status, setStatus] = useAddressState('status');
  const [kind, setKind] = useAddressState('kind');
  const filter = useDeferredValue({ tool_name: tool.trim(), user_id: user.trim(), status, kind });
  const list = useInfiniteQuery({
    queryKey: ['executions', 'list', filter],
    queryFn: ({ pageParam }) => call<{ executions: Receipt[]; next_cursor?: string | null }>('GET', '/executions', { query: { ...filter, limit: pageParam ? 100 : FIRST_PAGE, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const rows = list.data?.pages.flatMap((page) => page.executions) ?? [];
  const filtered = Boolean(tool || user || status || kind);
  const clear = () => {
    setTool('');
    setUser('');
    setStatus('');
    setKind('');
  };
  return (
    <Page title="Executions" about="Every call with its receipt: what was sent, where to, and with which credential.">
      <div className="filters" role="search">
        <div className="search"><TextField bare label="Tool" type="search" placeholder="Exact tool name" value={tool} onChange={setTool} /></div>
        {admin && <div className="search"><TextField bare label="User" type="search" placeholder="Exact user ID" value={user} onChange={setUser} /></div>}
        <SelectField bare label="Status" className="narrow" value={status} onChange={setStatus} options={[['', 'Any status'], ...STATUSES.map((name) => [name, name.replaceAll('_', ' ')] as const)]} />
        <SelectField bare label="Kind" className="narrow" value={kind} onChange={setKind} options={[['', 'Calls of tools'], ['connection', 'The gateway\'s own requests']]} />
      </div>
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Waiting />}
      {list.data && (
        <Card flush>
          {rows.length === 0 ? (
            <Empty icon="executions" title={filtered ? 'No matches' : 'No calls yet'} action={filtered ? <Button onClick={clear}>Clear filters</Button> : <Link className="button primary" href="/tools">Try a tool</Link>}>
              {filtered ? 'Tool names and user IDs have to match exactly.' : 'Run a tool here, or give an agent a key. Calls appear here as they happen.'}
            </Empty>
          ) : (
            <Table
              caption="Executions, newest first"
              rows={rows}
              rowKey={(row) => row.execution_id}
              columns={[
                { head: 'Tool', cell: (row) => <Link href={`/executions/${row.execution_id}`} className="mono strong">{row.tool_name}</Link> },
                { head: 'Status', cell: (row) => <Outcome row={row} /> },
                { head: 'User', cell: (row) => row.user_id },
                { head: 'By', cell: (row) => <span className="muted">{row.key.name}</span> },
                { head: 'Requests', align: 'right', cell: (row) => row.requests.length },
                { head: 'Duration', align: 'right', cell: (row) => duration(row.duration_ms) },
                { head: 'Started', cell: (row) => <Time at={row.started_at} /> },
              ]}
            />
          )}
          {rows.length > 0 && (
            <div className="inner row">
              {list.hasNextPage && <Button size="small" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>Show more</Button>}
              <Button size="small" kind="quiet" icon="download" onClick={() => download('executions.json', rows)}>Download these {rows.length} as JSON</Button>
            </div>
          )}
        </Card>
      )}
    </Page>
  );
}

/** The state, and why where it is an error. */
function Outcome({ row }: { row: Receipt }) {
  const why = row.status === 'error' ? failureOf(row)?.why : undefined;
  return (
    <div className="stack tight">
      <span><State name={row.reason && row.status === 'error' ? row.reason : row.status} /></span>
      {why && <span className="small muted">{why}</span>}
    </div>
  );
}

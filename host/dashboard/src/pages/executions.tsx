import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client';
import type { ExecutionPage, Keys, Receipt } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { useAddressState } from '../ui/address';
import { State } from '../ui/badge';
import { Button } from '../ui/button';
import { SelectField, TextField } from '../ui/field';
import { Filters } from '../ui/filters';
import { Empty, ErrorNote, Waiting } from '../ui/note';
import { Card, Page } from '../ui/page';
import { download } from '../ui/download';
import { csv } from '../ui/export';
import { failureOf } from '../ui/failures';
import { useServices } from '../ui/services';
import { ShowMore } from '../ui/show-more';
import { Table } from '../ui/table';
import { duration, exact, Time } from '../ui/time';

const STATUSES = ['success', 'error', 'auth_required', 'auth_expired', 'approval_required', 'dry_run', 'running', 'interrupted'];
const REASONS = ['provider_error', 'provider_rate_limited', 'provider_refused', 'not_configured', 'timeout', 'limit_exceeded', 'plugin_crashed', 'cancelled'];
/** How far back, as the address says it. */
const SINCE = { '1h': ['Last hour', 3_600_000], '24h': ['Last 24 hours', 86_400_000], '7d': ['Last 7 days', 604_800_000], '30d': ['Last 30 days', 2_592_000_000] } as const;

/** What is seen at once; the rest comes in larger pieces. */
const FIRST_PAGE = 25;
/** Receipts of one file. */
const EXPORT_MAX = 5_000;

interface Filter {
  [name: string]: string;
  tool_name_part: string;
  service: string;
  user_id: string;
  key_prefix: string;
  status: string;
  reason: string;
  since: string;
  kind: string;
}

const words = (name: string) => name.replaceAll('_', ' ');

function ask({ since, ...filter }: Filter, limit: number, cursor: string | null): Promise<ExecutionPage> {
  const back_ms = since in SINCE ? SINCE[since as keyof typeof SINCE][1] : null;
  const started_after = back_ms == null ? '' : new Date(Date.now() - back_ms).toISOString();
  return call<ExecutionPage>('GET', '/executions', { query: { ...filter, started_after, limit, cursor } });
}

/** All that the filter finds, up to what one file holds. */
async function everything(filter: Filter): Promise<Receipt[]> {
  const rows: Receipt[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: ExecutionPage = await ask(filter, 100, cursor);
    rows.push(...page.executions);
    cursor = page.next_cursor ?? null;
    if (cursor == null || rows.length >= EXPORT_MAX) return rows.slice(0, EXPORT_MAX);
  }
}

export default function Executions() {
  const admin = useIsAdmin();
  const [tool, setTool] = useAddressState('tool');
  const [service, setService] = useAddressState('service');
  const [user, setUser] = useAddressState('user_id');
  const [key, setKey] = useAddressState('key');
  const [status, setStatus] = useAddressState('status');
  const [reason, setReason] = useAddressState('reason');
  const [since, setSince] = useAddressState('since');
  const [kind, setKind] = useAddressState('kind');
  const services = useServices();
  const keys = useQuery({ queryKey: ['keys'], queryFn: () => call<Keys>('GET', '/keys'), enabled: admin });
  const filter: Filter = useDeferredValue({ tool_name_part: tool.trim(), service, user_id: user.trim(), key_prefix: key, status, reason, since, kind });
  const list = useInfiniteQuery({
    queryKey: ['executions', 'list', filter],
    queryFn: ({ pageParam }) => ask(filter, pageParam ? 100 : FIRST_PAGE, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const save = useMutation({
    mutationFn: async (format: 'json' | 'csv') => {
      const rows = await everything(filter);
      if (format === 'json') download('executions.json', JSON.stringify(rows, null, 2));
      else download('executions.csv', csv(rows), 'text/csv');
    },
  });
  const rows = list.data?.pages.flatMap((page) => page.executions) ?? [];
  const [, go] = useLocation();
  const [picked, setPicked] = useState<string[]>([]);
  // The two that were picked last.
  const pick = (id: string, on: boolean) => setPicked(on ? [...picked, id].slice(-2) : picked.filter((one) => one !== id));
  const filtered = [tool, service, user, key, status, reason, since, kind].some(Boolean);
  const clear = () => [setTool, setService, setUser, setKey, setStatus, setReason, setSince, setKind].forEach((set) => set(''));
  const choices = (all: readonly string[], any: string) => [['', any], ...all.map((name) => [name, words(name)] as const)] as const;
  return (
    <Page title="Executions" about="Every call with its receipt: what was sent, where to, and with which credential.">
      <Filters set={[service, key, status, reason, since, kind].filter(Boolean).length}>
        <div className="search"><TextField bare label="Tool" type="search" placeholder="Part of a tool's name" value={tool} onChange={setTool} maxLength={200} /></div>
        {admin && <div className="search"><TextField bare label="User" type="search" placeholder="Exact user ID" value={user} onChange={setUser} maxLength={128} /></div>}
        <SelectField bare label="Service" className="narrow" value={service} onChange={setService} options={[['', 'Any service'], ...(services.data?.services ?? []).map((item) => [item.service, item.title] as const)]} />
        {admin && <SelectField bare label="Key" className="narrow" value={key} onChange={setKey} options={[['', 'Any key'], ['trigger', 'Triggers'], ...(keys.data?.keys ?? []).map((one) => [one.prefix, one.name] as const)]} />}
        <SelectField bare label="Status" className="narrow" value={status} onChange={setStatus} options={choices(STATUSES, 'Any status')} />
        <SelectField bare label="Code" className="narrow" value={reason} onChange={setReason} options={choices(REASONS, 'Any code')} />
        <SelectField bare label="Time" className="narrow" value={since} onChange={setSince} options={[['', 'Any time'], ...Object.entries(SINCE).map(([name, [shown]]) => [name, shown] as const)]} />
        <SelectField bare label="Kind" className="narrow" value={kind} onChange={setKind} options={[['', 'Calls of tools'], ['connection', 'The gateway\'s own requests']]} />
        {filtered && <Button kind="quiet" size="small" onClick={clear}>Clear filters</Button>}
        {picked.length > 0 && <Button size="small" disabled={picked.length < 2} onClick={() => go(`/executions/compare?a=${picked[0]}&b=${picked[1]}`)}>{picked.length < 2 ? 'Select another to compare' : 'Compare'}</Button>}
      </Filters>
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {save.error && <ErrorNote error={save.error} />}
      {list.isPending && <Waiting />}
      {list.data && (
        <Card flush>
          {rows.length === 0 ? (
            <Empty icon="executions" title={filtered ? (list.hasNextPage ? 'No matches in the newest executions' : 'No matches') : 'No calls yet'} action={filtered ? list.hasNextPage ? <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>Search further back</Button> : <Button onClick={clear}>Clear filters</Button> : <Link className="button primary" href="/tools">Try a tool</Link>}>
              {filtered ? 'A user ID has to match exactly; of a tool a part of its name is enough.' : 'Run a tool here, or give an agent a key. Calls appear here as they happen.'}
            </Empty>
          ) : (
            <Table
              caption="Executions, newest first"
              rows={rows}
              rowKey={(row) => row.execution_id}
              columns={[
                { head: 'Compare', align: 'acts', cell: (row) => <label className="pick"><input type="checkbox" aria-label={`Compare ${row.tool_name}, ${exact(row.started_at)}`} checked={picked.includes(row.execution_id)} onChange={(event) => pick(row.execution_id, event.target.checked)} /></label> },
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
              <ShowMore list={list} inset={false} />
              <Button size="small" kind="quiet" icon="download" busy={save.isPending} onClick={() => save.mutate('csv')}>Export as CSV</Button>
              <Button size="small" kind="quiet" icon="download" busy={save.isPending} onClick={() => save.mutate('json')}>Export as JSON</Button>
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

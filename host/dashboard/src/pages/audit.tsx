import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { call } from '../api/client';
import type { AuditEntry, Keys, Members } from '../api/types';
import { useAddressState } from '../ui/address';
import { ACTIONS, matches, origin, plain, sentence } from '../ui/audit-words';
import { Button } from '../ui/button';
import { download } from '../ui/download';
import { auditCsv, jsonLines } from '../ui/export';
import { SelectField, TextField } from '../ui/field';
import { Filters } from '../ui/filters';
import { Empty, ErrorNote, Waiting } from '../ui/note';
import { Card, Page } from '../ui/page';
import { ShowMore } from '../ui/show-more';
import { Table } from '../ui/table';
import { plural, Time } from '../ui/time';

/** Entries that are read at once, and those of one file. */
const PAGE = 50;
const EXPORT_PAGE = 200;
const EXPORT_MAX = 10_000;

interface Filter {
  actor: string;
  action: string;
  from: string;
  until: string;
}

interface Entries {
  entries: AuditEntry[];
  next_cursor?: string | null;
}

/** The beginning of a day as the browser's clock has it, `later` days on; empty where it is no day. */
function moment(day: string, later = 0): string {
  const at = new Date(`${day}T00:00:00`);
  if (Number.isNaN(at.getTime())) return '';
  at.setDate(at.getDate() + later);
  return at.toISOString();
}

function ask({ actor, action, from, until }: Filter, limit: number, cursor: string | null): Promise<Entries> {
  return call<Entries>('GET', '/audit', { query: { actor, action, from: moment(from), before: moment(until, 1), limit, cursor } });
}

/** All that the filter finds and that has the typed words, up to what one file holds. */
async function everything(filter: Filter, typed: string): Promise<AuditEntry[]> {
  const rows: AuditEntry[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: Entries = await ask(filter, EXPORT_PAGE, cursor);
    rows.push(...page.entries.filter((entry) => matches(entry, typed)));
    cursor = page.next_cursor ?? null;
    if (cursor == null || rows.length >= EXPORT_MAX) return rows.slice(0, EXPORT_MAX);
  }
}

/** Who may have acted: members, keys, those without an id, and whom the shown entries name besides. */
function useActors(entries: readonly AuditEntry[], chosen: string): (readonly [string, string])[] {
  const members = useQuery({ queryKey: ['members'], queryFn: () => call<Members>('GET', '/members') });
  const keys = useQuery({ queryKey: ['keys'], queryFn: () => call<Keys>('GET', '/keys') });
  const actors = new Map([['', 'Anyone'], ['operator', 'Command line'], ['gateway', 'The gateway itself']]);
  for (const member of members.data?.members ?? []) actors.set(`member:${member.member_id}`, member.name);
  for (const key of keys.data?.keys ?? []) actors.set(`key:${key.key_id}`, `API key ${key.name}`);
  for (const { actor, actor_name } of entries) if (!actors.has(actor)) actors.set(actor, actor_name ?? actor);
  if (!actors.has(chosen)) actors.set(chosen, chosen);
  return [...actors];
}

export default function Audit() {
  const [typed, setTyped] = useAddressState('query');
  const [actor, setActor] = useAddressState('actor');
  const [action, setAction] = useAddressState('action');
  const [from, setFrom] = useAddressState('from');
  const [until, setUntil] = useAddressState('until');
  const filter: Filter = useDeferredValue({ actor, action, from, until });
  const list = useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam }) => ask(filter, PAGE, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const save = useMutation({
    mutationFn: async (format: 'jsonl' | 'csv') => {
      // What was typed selects here as it does in the list.
      const rows = await everything(filter, typed);
      if (format === 'csv') download('audit-log.csv', auditCsv(rows), 'text/csv');
      else download('audit-log.jsonl', jsonLines(rows), 'application/jsonl');
    },
  });
  const loaded = list.data?.pages.flatMap((page) => page.entries) ?? [];
  const entries = loaded.filter((entry) => matches(entry, typed));
  const actors = useActors(loaded, actor);
  const chosen = [actor, action, from, until];
  const filtered = typed !== '' || chosen.some(Boolean);
  const clear = () => [setTyped, setActor, setAction, setFrom, setUntil].forEach((set) => set(''));
  return (
    <Page title="Audit log" about="Who changed what, when, and from where. Entries cannot be edited.">
      <Filters set={chosen.filter(Boolean).length}>
        <div className="search"><TextField bare label="Filter entries" type="search" placeholder="Filter by person, action or subject" value={typed} onChange={setTyped} /></div>
        <SelectField bare label="Who" className="narrow" value={actor} onChange={setActor} options={actors} />
        <SelectField bare label="Action" className="narrow" value={action} onChange={setAction} options={[['', 'Any action'], ...ACTIONS.map((name) => [name, name] as const)]} />
        <TextField bare label="From" type="date" className="narrow" value={from} max={until || undefined} onChange={setFrom} />
        <TextField bare label="Until" type="date" className="narrow" value={until} min={from || undefined} onChange={setUntil} />
        {filtered && <Button kind="quiet" size="small" onClick={clear}>Clear filters</Button>}
        {typed && list.data && <span className="muted small" role="status">{entries.length} of {plural(loaded.length, 'loaded entry', 'loaded entries')}</span>}
      </Filters>
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {save.error && <ErrorNote error={save.error} />}
      {list.isPending && <Waiting />}
      {list.data && (
        <Card flush>
          {entries.length === 0 ? (
            <Empty icon="audit" title={filtered ? 'No matches' : 'No changes yet'} action={filtered && <Button onClick={clear}>Clear filters</Button>}>
              {typed ? 'Words are looked for in the entries that are loaded.' : filtered ? 'No entry has this person, action and time.' : 'Creating a key, inviting a member or setting a rule adds an entry here.'}
            </Empty>
          ) : (
            <Table
              caption="Changes, newest first"
              rows={entries}
              rowKey={(row) => row.entry_id}
              columns={[
                { head: 'When', cell: (row) => <Time at={row.at} /> },
                {
                  head: 'What',
                  wide: true,
                  cell: (row) => (
                    <details className="entry">
                      <summary>{sentence(row)}</summary>
                      <p className="small muted">{row.actor}{row.request_id && `, request ${row.request_id}`}</p>
                      <p className="small mono">{[row.subject, plain(row.details)].filter(Boolean).join('; ')}</p>
                    </details>
                  ),
                },
                { head: 'Action', cell: (row) => <span className="mono small">{row.action}</span> },
                { head: 'From', cell: (row) => <From row={row} /> },
              ]}
            />
          )}
          {entries.length > 0 ? (
            <div className="inner row">
              <ShowMore list={list} inset={false} />
              <Button size="small" kind="quiet" icon="download" busy={save.isPending} onClick={() => save.mutate('csv')}>Export as CSV</Button>
              <Button size="small" kind="quiet" icon="download" busy={save.isPending} onClick={() => save.mutate('jsonl')}>Export as JSON lines</Button>
              <span className="muted small">The newest {EXPORT_MAX.toLocaleString('en')} entries that match.</span>
            </div>
          ) : (
            <ShowMore list={list} />
          )}
        </Card>
      )}
    </Page>
  );
}

function From({ row }: { row: AuditEntry }) {
  const { way, address } = origin(row);
  return (
    <div className="stack tight">
      <span className="muted">{way}</span>
      {address && <span className="small">{address}</span>}
    </div>
  );
}

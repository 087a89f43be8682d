import { useInfiniteQuery } from '@tanstack/react-query';
import { call } from '../api/client';
import type { AuditEntry } from '../api/types';
import { useAddressState } from '../ui/address';
import { matches, plain, sentence } from '../ui/audit-words';
import { Button } from '../ui/button';
import { TextField } from '../ui/field';
import { Empty, ErrorNote, Waiting } from '../ui/note';
import { Card, Page } from '../ui/page';
import { ShowMore } from '../ui/show-more';
import { Table } from '../ui/table';
import { plural, Time } from '../ui/time';

export default function Audit() {
  const list = useInfiniteQuery({
    queryKey: ['audit'],
    queryFn: ({ pageParam }) => call<{ entries: AuditEntry[]; next_cursor?: string | null }>('GET', '/audit', { query: { limit: 50, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const [typed, setTyped] = useAddressState('query');
  const loaded = list.data?.pages.flatMap((page) => page.entries) ?? [];
  const entries = loaded.filter((entry) => matches(entry, typed));
  return (
    <Page title="Audit log" about="Who changed what, when, and from where. Entries cannot be edited.">
      <div className="filters" role="search">
        <div className="search"><TextField bare label="Filter entries" type="search" placeholder="Filter by person, action or subject" value={typed} onChange={setTyped} /></div>
        {typed && list.data && <span className="muted small" role="status">{entries.length} of {plural(loaded.length, 'loaded entry', 'loaded entries')}</span>}
      </div>
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Waiting />}
      {list.data && (
        <Card flush>
          {entries.length === 0 ? (
            <Empty icon="audit" title={typed ? 'No matches' : 'No changes yet'} action={typed && <Button onClick={() => setTyped('')}>Clear filters</Button>}>
              {typed ? 'Only entries that are loaded are searched.' : 'Creating a key, inviting a member or setting a rule adds an entry here.'}
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
                { head: 'From', cell: (row) => row.address ?? <span className="muted">command line</span> },
              ]}
            />
          )}
          <ShowMore list={list} />
        </Card>
      )}
    </Page>
  );
}

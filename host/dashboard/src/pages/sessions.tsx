import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { Session } from '../api/types';
import { Button } from '../ui/button';
import { Confirm } from '../ui/dialog';
import { Empty, ErrorNote, Waiting } from '../ui/note';
import { Card, Page } from '../ui/page';
import { Table } from '../ui/table';
import { Time } from '../ui/time';
import { useSay } from '../ui/toast';

export default function Sessions() {
  const client = useQueryClient();
  const say = useSay();
  const [removing, setRemoving] = useState<Session | null>(null);
  const list = useInfiniteQuery({
    queryKey: ['sessions', 'list'],
    queryFn: ({ pageParam }) => call<{ sessions: Session[]; next_cursor?: string | null }>('GET', '/sessions', { query: { limit: 50, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const sessions = list.data?.pages.flatMap((page) => page.sessions) ?? [];
  const remove = async (session: Session) => {
    await call('DELETE', `/sessions/${session.session_id}`);
    void client.invalidateQueries({ queryKey: ['sessions'] });
    say.done('Session deleted');
  };
  return (
    <Page title="Sessions" about="Steps that belong together share a session and what plugins keep in it. A session ends after a day of quiet.">
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Waiting />}
      {list.data && (
        <Card flush>
          {sessions.length === 0 ? (
            <Empty icon="sessions" title="No sessions now" action={<Link className="button" href="/tools">Try a tool</Link>}>
              Each call makes one, unless it names the session of an earlier step.
            </Empty>
          ) : (
            <Table
              caption="Sessions"
              rows={sessions}
              rowKey={(row) => row.session_id}
              columns={[
                { head: 'Session', cell: (row) => <Link href={`/sessions/${row.session_id}`} className="mono">{row.session_id}</Link> },
                { head: 'User', cell: (row) => row.user_id },
                { head: 'Created', cell: (row) => <Time at={row.created_at} /> },
                { head: 'Last used', cell: (row) => <Time at={row.last_active_at} /> },
                { head: 'Expires', cell: (row) => <Time at={row.expires_at} /> },
                { head: 'Actions', align: 'acts', cell: (row) => <Button size="small" kind="danger" aria-label={`Delete session ${row.session_id}`} onClick={() => setRemoving(row)}>Delete</Button> },
              ]}
            />
          )}
          {list.hasNextPage && <div className="inner"><Button size="small" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>Show more</Button></div>}
        </Card>
      )}
      {removing && (
        <Confirm title="Delete this session?" action="Delete" onClose={() => setRemoving(null)} onConfirm={() => remove(removing)}>
          <p>What plugins kept in it is lost; a step that names it later is refused.</p>
        </Confirm>
      )}
    </Page>
  );
}

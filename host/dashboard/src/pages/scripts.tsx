// Scripts: whether they run in this workspace, and the runs of the last day.

import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { Link } from 'wouter';
import { showChanged } from '../api/changed';
import { call } from '../api/client';
import type { CodeMode, ScriptRunPage, ScriptRunSummary } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { useAddressState } from '../ui/address';
import { Badge, State } from '../ui/badge';
import { Button } from '../ui/button';
import { TextField } from '../ui/field';
import { Empty, ErrorNote, Note, Waiting } from '../ui/note';
import { Card, Page } from '../ui/page';
import { ShowMore } from '../ui/show-more';
import { Table } from '../ui/table';
import { count, Time } from '../ui/time';
import { useToast } from '../ui/toast';
import { USER_ID, USER_ID_RULE } from '../ui/user-id';

const ABOUT = 'With code mode an agent sends one script in place of many calls. Each call in it has the permissions, the approvals and the receipt of a call by itself.';

export default function Scripts() {
  const admin = useIsAdmin();
  const client = useQueryClient();
  const toast = useToast();
  const [user, setUser] = useAddressState('user_id');
  const typed = useDeferredValue(user.trim());
  const wrong = typed !== '' && !USER_ID.test(typed);
  const user_id = wrong ? '' : typed;
  const mode = useQuery({ queryKey: ['code-mode'], queryFn: () => call<CodeMode>('GET', '/code-mode') });
  const list = useInfiniteQuery({
    queryKey: ['scripts', 'list', user_id],
    queryFn: ({ pageParam }) => call<ScriptRunPage>('GET', '/scripts/runs', { query: { user_id, limit: 50, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const change = useMutation({
    mutationFn: (enabled: boolean) => call<CodeMode>('PUT', '/code-mode', { body: { enabled } }),
    onSuccess: (next) => {
      showChanged(client, ['code-mode'], next);
      toast.success(next.enabled ? 'Code mode is on' : 'Code mode is off');
    },
    onError: toast.error,
  });
  const runs = list.data?.pages.flatMap((page) => page.items) ?? [];
  const isOn = mode.data?.enabled;
  const toggle = admin && isOn != null && (
    <Button kind={isOn ? 'plain' : 'primary'} busy={change.isPending} onClick={() => change.mutate(!isOn)}>{isOn ? 'Switch code mode off' : 'Switch code mode on'}</Button>
  );
  return (
    <Page title="Scripts" about={ABOUT} actions={toggle}>
      {mode.error && <ErrorNote error={mode.error} retry={() => void mode.refetch()} />}
      {isOn === false && <Note><p>Code mode is off: no script runs. {admin ? 'Clients are offered it as soon as you switch it on.' : 'An admin can switch it on.'}</p></Note>}
      {admin && (
        <div className="filters" role="search">
          <div className="search"><TextField bare label="User" type="search" placeholder="Exact user ID" value={user} onChange={setUser} maxLength={128} wrong={wrong ? USER_ID_RULE : null} /></div>
        </div>
      )}
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Waiting />}
      {list.data && (
        <Card flush>
          {runs.length === 0 ? (
            <Empty icon="scripts" title={typed === '' ? 'No runs yet' : 'No matches'} action={typed !== '' && <Button onClick={() => setUser('')}>Clear filters</Button>}>
              {typed === '' ? 'A run is kept for a day.' : 'A user ID has to match exactly.'}
            </Empty>
          ) : (
            <>
              <Runs runs={runs} />
              <ShowMore list={list} />
            </>
          )}
        </Card>
      )}
    </Page>
  );
}

function Runs({ runs }: { runs: ScriptRunSummary[] }) {
  const admin = useIsAdmin();
  return (
    <Table
      caption="Runs of scripts, newest first"
      rows={runs}
      rowKey={(row) => row.run_id}
      columns={[
        { head: 'Run', cell: (row) => <Link href={`/scripts/${row.run_id}`} className="mono">{row.run_id}</Link> },
        { head: 'User', cell: (row) => (admin ? <Link href={`/permissions/${encodeURIComponent(row.user_id)}`}>{row.user_id}</Link> : row.user_id) },
        { head: 'Status', cell: (row) => <span className="row"><State name={row.status} />{row.dry_run && <Badge tone="info">dry run</Badge>}</span> },
        { head: 'Steps', align: 'right', cell: (row) => count(row.steps) },
        { head: 'Started', cell: (row) => <Time at={row.created_at} /> },
        { head: 'Changed', cell: (row) => <Time at={row.updated_at} /> },
      ]}
    />
  );
}

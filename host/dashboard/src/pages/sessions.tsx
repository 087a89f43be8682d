import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client';
import { stream } from '../api/stream';
import type { Session, SessionPage } from '../api/types';
import { useIsAdmin, useMe } from '../shell/me';
import { useAddressState } from '../ui/address';
import { useAskedFor } from '../ui/asked-for';
import { Button } from '../ui/button';
import { Written } from '../ui/conversation';
import { Confirm, Dialog } from '../ui/dialog';
import { SelectField, TextArea, TextField } from '../ui/field';
import { Empty, ErrorNote, Waiting } from '../ui/note';
import { Card, Page } from '../ui/page';
import { ShowMore } from '../ui/show-more';
import { Table } from '../ui/table';
import { Time } from '../ui/time';
import { useToast } from '../ui/toast';
import { visible } from '../ui/visible';

/** A call that names no session has one of its own, which nobody looks for. */
const isImplicit = (session: Session) => session.session_id.startsWith('tool_');
const PAGES_AT_ONCE = 10;

export default function Sessions() {
  const client = useQueryClient();
  const toast = useToast();
  const [removing, setRemoving] = useState<Session | null>(null);
  const list = useInfiniteQuery({
    queryKey: ['sessions', 'list'],
    queryFn: ({ pageParam }) => call<SessionPage>('GET', '/sessions', { query: { limit: 50, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const [which, setWhich] = useAddressState('which');
  const [typed, setTyped] = useAddressState('query');
  const loaded = list.data?.pages.flatMap((page) => page.sessions) ?? [];
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (session: Session) => words.every((word) => `${session.title ?? ''} ${session.session_id} ${session.user_id}`.toLowerCase().includes(word));
  const sessions = loaded.filter((session) => (which === 'all' || !isImplicit(session)) && matches(session));
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = list;
  const pages = list.data?.pages.length ?? 0;
  // Pages of nothing but folded ones are read on, some at a time.
  useEffect(() => {
    if (sessions.length === 0 && hasNextPage && !isFetchingNextPage && pages < PAGES_AT_ONCE) void fetchNextPage();
  }, [sessions.length, hasNextPage, isFetchingNextPage, pages, fetchNextPage]);
  const remove = async (session: Session) => {
    await call('DELETE', `/sessions/${session.session_id}`);
    void client.invalidateQueries({ queryKey: ['sessions'] });
    toast.success('Session deleted');
  };
  const [beginning, setBeginning] = useState(false);
  useAskedFor('new', () => setBeginning(true));
  const begin = <Button kind="primary" icon="plus" onClick={() => setBeginning(true)}>New session</Button>;
  return (
    <Page title="Sessions" about="A session groups the messages and calls that belong together, with the state that plugins keep for them. It ends after a day without activity." actions={begin}>
      <div className="filters" role="search">
        <div className="search"><TextField bare label="Filter sessions" type="search" placeholder="Filter by title, user or ID" value={typed} onChange={setTyped} /></div>
        <SelectField bare label="Which sessions" className="narrow" value={which} onChange={setWhich} options={[['', 'Conversations and named sessions'], ['all', 'All, also of single calls']]} />
      </div>
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Waiting />}
      {list.data && (
        <Card flush>
          {sessions.length === 0 ? (
            <Empty icon="sessions" title={typed ? 'No matches' : 'No sessions'} action={typed ? <Button onClick={() => setTyped('')}>Clear filter</Button> : loaded.length > 0 ? <Button onClick={() => setWhich('all')}>Show sessions of single calls</Button> : <>{begin}<Link className="button" href="/tools">Try a tool</Link></>}>
              {typed ? 'Only sessions that are loaded are searched.' : loaded.length > 0 ? 'Only single calls so far. Each call that names no session creates one of its own; these are hidden here.' : 'Start one here, or let an agent name a session in its calls.'}
            </Empty>
          ) : (
            <Table
              caption="Sessions"
              rows={sessions}
              rowKey={(row) => row.session_id}
              columns={[
                { head: 'Session', wide: true, cell: (row) => (row.title ? <><Link href={`/sessions/${row.session_id}`} className="strong">{visible(row.title)}</Link><div className="mono small muted">{row.session_id}</div></> : <Link href={`/sessions/${row.session_id}`} className="mono">{row.session_id}</Link>) },
                { head: 'User', cell: (row) => row.user_id },
                { head: 'Created', cell: (row) => <Time at={row.created_at} /> },
                { head: 'Last used', cell: (row) => <Time at={row.last_active_at} /> },
                { head: 'Expires', cell: (row) => <Time at={row.expires_at} /> },
                { head: 'Actions', align: 'acts', cell: (row) => <Button size="small" kind="danger" aria-label={`Delete session ${row.session_id}`} onClick={() => setRemoving(row)}>Delete</Button> },
              ]}
            />
          )}
          <ShowMore list={list} />
        </Card>
      )}
      {removing && (
        <Confirm title="Delete this session?" action="Delete" onClose={() => setRemoving(null)} onConfirm={() => remove(removing)}>
          <p>Its messages and the state that plugins kept in it are lost. A call that names it later is refused.</p>
        </Confirm>
      )}
      {beginning && <Begin onClose={() => setBeginning(false)} />}
    </Page>
  );
}

/** Says the first message and shows the answer while it is made. */
function Begin({ onClose }: { onClose: () => void }) {
  const me = useMe();
  const admin = useIsAdmin();
  const client = useQueryClient();
  const [, go] = useLocation();
  const [prompt, setPrompt] = useState('');
  const [userId, setUserId] = useState(me.user_id);
  const [heard, setHeard] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  // Who has closed the dialog meanwhile stays where they are; the session is in the list.
  const open = useRef(true);
  useEffect(() => {
    open.current = true;
    return () => {
      open.current = false;
    };
  }, []);
  const begin = () => {
    setHeard('');
    setError(null);
    stream<Session>('/sessions', { prompt: prompt.trim(), user_id: userId }, {
      text: (piece) => setHeard((text) => (text ?? '') + piece),
      step: () => setHeard(''),
    })
      .then((session) => open.current && go(`/sessions/${session.session_id}`))
      .catch((refused: unknown) => {
        setError(refused);
        setHeard(null);
      })
      .finally(() => void client.invalidateQueries({ queryKey: ['sessions'] }));
  };
  return (
    <Dialog
      wide
      title="New session"
      onClose={onClose}
      onSubmit={begin}
      footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" busy={heard != null} disabled={!prompt.trim()}>Start</Button></>}
    >
      {error != null && <ErrorNote error={error} />}
      <TextArea label="What should be done?" required rows={5} maxLength={100_000} value={prompt} onChange={setPrompt} />
      {admin && <TextField label="Run as user" hint="The user whose connections and permissions apply." value={userId} onChange={setUserId} maxLength={128} />}
      {heard != null && (heard === '' ? <Waiting what="Working" /> : <div aria-live="polite"><Written text={heard} /></div>)}
    </Dialog>
  );
}

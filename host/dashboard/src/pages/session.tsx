// One session: what was said, what is being said, and a place to say more.

import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { call } from '../api/client';
import { stream } from '../api/stream';
import type { Message, MessagePage, Session as Shape } from '../api/types';
import { Button } from '../ui/button';
import { Messages, Stands, Step, Written } from '../ui/conversation';
import { Confirm } from '../ui/dialog';
import { TextArea } from '../ui/field';
import { Empty, ErrorNote, Waiting } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { ShowMore } from '../ui/show-more';
import { Time } from '../ui/time';
import { visible } from '../ui/visible';

export default function Session() {
  const { session: id = '' } = useParams<{ session: string }>();
  const [, go] = useLocation();
  const client = useQueryClient();
  const [removing, setRemoving] = useState(false);
  const session = useQuery({ queryKey: ['sessions', id], queryFn: () => call<Shape>('GET', `/sessions/${id}`) });
  const remove = async () => {
    await call('DELETE', `/sessions/${id}`);
    client.removeQueries({ queryKey: ['sessions', 'list'] });
    go('/sessions');
  };
  return (
    <Page
      title={session.data?.title ? visible(session.data.title) : 'Session'}
      about={<span className="mono">{id}</span>}
      back={{ to: '/sessions', name: 'Sessions' }}
      actions={session.data && <Button kind="danger" icon="trash" onClick={() => setRemoving(true)}>Delete</Button>}
    >
      <Loaded query={session}>
        {(data) => (
          <div className="stack">
            <Card>
              <Pairs items={[['User', data.user_id], ['Created', <Time at={data.created_at} />], ['Last used', <Time at={data.last_active_at} />], ['Expires', <Time at={data.expires_at} />]]} />
            </Card>
            <Conversation session={data} />
            <Steps id={id} />
          </div>
        )}
      </Loaded>
      {removing && (
        <Confirm title="Delete this session?" action="Delete" onClose={() => setRemoving(false)} onConfirm={remove}>
          <p>Its messages and the state that plugins kept in it are lost. A call that names it later is refused.</p>
        </Confirm>
      )}
    </Page>
  );
}

/** A turn that runs: what was said to begin it, and what has been heard since. */
interface Turn {
  /** Messages that were there when it began; what is kept meanwhile is shown as it is heard. */
  before: Set<string>;
  said: string | null;
  text: string;
  steps: Message[];
}

function Conversation({ session }: { session: Shape }) {
  const client = useQueryClient();
  const [typed, setTyped] = useState('');
  const [turn, setTurn] = useState<Turn | null>(null);
  const [error, setError] = useState<unknown>(null);
  // The reply of the last turn holds links that are not kept.
  const [reply, setReply] = useState<Message | null>(null);
  const end = useRef<HTMLDivElement>(null);
  const kept = session.messages ?? [];
  const messages = turn ? kept.filter((message) => turn.before.has(message.message_id)) : kept;
  const last = messages.at(-1);
  const standing = reply && reply.message_id === last?.message_id ? reply : last;
  useEffect(() => {
    if (turn) end.current?.scrollIntoView({ block: 'nearest' });
  }, [turn]);

  const begin = (said: string | null) => {
    setError(null);
    setReply(null);
    setTurn({ before: new Set(kept.map((message) => message.message_id)), said, text: '', steps: [] });
    const path = `/sessions/${session.session_id}`;
    stream<Message>(said == null ? `${path}/resume` : `${path}/messages`, said == null ? {} : { content: said }, {
      text: (piece) => setTurn((now) => now && { ...now, text: now.text + piece }),
      step: (step) => setTurn((now) => now && { ...now, text: '', steps: step.role === 'user' ? now.steps : [...now.steps, step] }),
    })
      .then((replied) => {
        setReply(replied);
        if (said != null) setTyped('');
      })
      .catch(setError)
      .finally(() => {
        void client.invalidateQueries({ queryKey: ['sessions'] }).finally(() => setTurn(null));
      });
  };
  return (
    <Card title="Messages">
      <div className="stack">
        {messages.length > 0 ? <Messages messages={messages} /> : !turn && <Empty icon="sessions" title="No messages">So far this session holds tool calls only. Send a message below to start a conversation.</Empty>}
        {turn && <Running turn={turn} />}
        {!turn && standing && <Stands last={standing} busy={false} resume={() => begin(null)} />}
        {error != null && <ErrorNote error={error} />}
        <div ref={end} />
        <form
          className="stack tight"
          onSubmit={(event) => {
            event.preventDefault();
            if (typed.trim() && !turn) begin(typed.trim());
          }}
        >
          <TextArea
            label="Message"
            rows={3}
            maxLength={100_000}
            placeholder="What should be done?"
            value={typed}
            onChange={setTyped}
          />
          <div className="row">
            <Button type="submit" kind="primary" busy={turn != null} disabled={!typed.trim()}>Send</Button>
            <span className="muted small grow">Tools run as {session.user_id}. Ctrl+Enter sends.</span>
          </div>
        </form>
      </div>
    </Card>
  );
}

function Running({ turn }: { turn: Turn }) {
  return (
    <ol className="messages" aria-label="Being said now">
      {turn.said != null && <li className="user"><div className="small muted strong">User</div><div className="said">{turn.said}</div></li>}
      <li className="assistant" aria-live="polite" aria-busy="true">
        <div className="small muted strong">Assistant</div>
        <div className="stack tight">
          {turn.steps.map((step) =>
            step.role === 'tool' ? (
              <Step key={step.message_id} step={step} />
            ) : (
              step.tool_calls?.map((asked) => <Step key={asked.tool_call_id} step={{ ...step, operation: asked.operation, content: asked.arguments }} />)
            ),
          )}
          {turn.text ? <Written text={turn.text} /> : <span className="row muted"><span className="spin" aria-hidden="true" />working</span>}
        </div>
      </li>
    </ol>
  );
}

/** Everything that was done, with what operations answered; asked for when it is opened. */
function Steps({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  const steps = useInfiniteQuery({
    queryKey: ['sessions', id, 'steps'],
    queryFn: ({ pageParam }) => call<MessagePage>('GET', `/sessions/${id}/messages`, { query: { limit: 100, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor ?? null,
    enabled: open,
  });
  const all = steps.data?.pages.flatMap((page) => page.messages) ?? [];
  return (
    <Card title="All steps" actions={<Button size="small" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Hide' : 'Show'}</Button>}>
      {!open && <p className="muted">Everything the assistant asked for, with the answers, in order.</p>}
      {open && steps.isPending && <Waiting />}
      {open && steps.error && <ErrorNote error={steps.error} retry={() => void steps.refetch()} />}
      {open && steps.data && (all.length > 0 ? <Messages messages={all} /> : <p className="muted">There are no steps yet.</p>)}
      {open && <ShowMore list={steps} inset={false} />}
    </Card>
  );
}

import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { Approval, ApprovalPage } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { useAddressState } from '../ui/address';
import { Planned } from '../ui/answer';
import { Badge, State } from '../ui/badge';
import { Button } from '../ui/button';
import { Decide, isDestructive } from '../ui/decide';
import { DecideMany } from '../ui/decide-many';
import { SelectField } from '../ui/field';
import { useLater } from '../ui/later';
import { Empty, ErrorNote, Waiting } from '../ui/note';
import { Card, Page } from '../ui/page';
import { Readable } from '../ui/readable';
import { ShowMore } from '../ui/show-more';
import { useStill } from '../ui/still';
import { Table } from '../ui/table';
import { plural, Time } from '../ui/time';
import { visible } from '../ui/visible';

const STATUSES = [['pending', 'Waiting'], ['', 'All'], ['approved', 'Approved'], ['used', 'Approved and run'], ['denied', 'Denied'], ['expired', 'Expired']] as const;

export default function Approvals() {
  const admin = useIsAdmin();
  const [chosen, setChosen] = useAddressState('status');
  const status = chosen === '' ? 'pending' : chosen === 'all' ? '' : chosen;
  const list = useInfiniteQuery({
    queryKey: ['approvals', 'list', status],
    queryFn: ({ pageParam }) => call<ApprovalPage>('GET', '/approvals', { query: { status, limit: 50, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const approvals = list.data?.pages.flatMap((page) => page.approvals) ?? [];
  const still = useStill(approvals, idOf, status);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [deciding, setDeciding] = useState(false);
  const { waiting: soon } = useLater();
  // What was decided meanwhile, or is in some seconds, is not picked any more.
  const decidable = approvals.filter((row) => row.can_decide && !soon.some((one) => one.key === row.approval_id));
  const chosenOnes = decidable.filter((row) => picked.has(row.approval_id));
  const pick = (id: string, on: boolean) => {
    const next = new Set(picked);
    if (on) next.add(id);
    else next.delete(id);
    setPicked(next);
  };
  return (
    <Page title="Approvals" about="Calls that need a person's approval. An approved call runs once, when the agent repeats it.">
      <div className="filters">
        <SelectField bare label="Status" className="narrow" value={status} options={STATUSES} onChange={(value) => setChosen(value === '' ? 'all' : value === 'pending' ? '' : value)} />
        {decidable.length > 1 && (
          <>
            <Button size="small" onClick={() => setPicked(new Set(chosenOnes.length === decidable.length ? [] : decidable.map((row) => row.approval_id)))}>{chosenOnes.length === decidable.length ? 'Select none' : 'Select all'}</Button>
            <Button size="small" kind="primary" disabled={chosenOnes.length === 0} onClick={() => setDeciding(true)}>Review {plural(chosenOnes.length, 'call')}</Button>
          </>
        )}
        {/* Beside the list, which must not move. */}
        <span className="muted small" role="status">{still.waiting > 0 && status === 'pending' && `${plural(still.waiting, 'new call')}: shown when you leave the list`}</span>
      </div>
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Waiting />}
      {list.data && (
        <Card flush>
          {approvals.length === 0 ? (
            <Empty icon="approvals" title={status === 'pending' ? 'Nothing to approve' : 'No approvals'} action={admin && <Link className="button" href="/permissions">Users and permissions</Link>}>
              {admin ? 'Set a service or tool to Ask for a user, and its calls wait here with the requests they would send.' : 'Your calls that need approval appear here.'}
            </Empty>
          ) : status === 'pending' ? (
            <Waits still={still} picked={picked} onPick={decidable.length > 1 ? pick : null} />
          ) : (
            <Decided approvals={approvals} />
          )}
          <ShowMore list={list} />
        </Card>
      )}
      {deciding && <DecideMany approvals={chosenOnes} onClose={() => setDeciding(false)} />}
    </Page>
  );
}

const idOf = (row: Approval) => row.approval_id;
type Still = ReturnType<typeof useStill<Approval>>;

/** What waits, each with all that is decided. */
function Waits({ still, picked, onPick }: { still: Still; picked: ReadonlySet<string>; onPick: null | ((id: string, on: boolean) => void) }) {
  return (
    <div {...still.box}>
      <ul className="list" aria-label="Calls that wait">
        {still.rows.map(({ row, gone }) => (
          <li key={row.approval_id} className="line">
            <article className="stack tight" aria-label={`${row.tool_name} for ${row.user_id}`}>
              <div className="row apart top waits">
                <div className="row top grow">
                  {onPick && row.can_decide && !gone && <label className="pick"><input type="checkbox" aria-label={`Select ${row.tool_name} for ${row.user_id}`} checked={picked.has(row.approval_id)} onChange={(event) => onPick(row.approval_id, event.target.checked)} /></label>}
                  <div className="grow">
                    <h2><Link href={`/approvals/${row.approval_id}`}>{row.title}</Link> <span className="mono small muted">{row.tool_name}</span> {isDestructive(row) && <Badge tone="bad">destructive</Badge>}</h2>
                    <p className="small muted">For {row.user_id}, requested by {row.asked_by_name} <Time at={row.created_at} />{row.connection_id && `, with ${row.account ? `the account ${row.account}` : 'an account without a name'}`}</p>
                  </div>
                </div>
                <div className="row end">{gone ? <Badge>no longer waiting</Badge> : row.can_decide && (isWhole(row) ? <Decide approval={row} /> : <Link href={`/approvals/${row.approval_id}`} className="button small" aria-label={`Review ${row.tool_name} for ${row.user_id}`}>Review</Link>)}</div>
              </div>
              {!gone && <Content approval={row} />}
            </article>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The arguments and the request, or where to find them whole. */
function Content({ approval }: { approval: Approval }) {
  if (!isWhole(approval)) return <p className="mono small">{brief(approval)}</p>;
  return (
    <>
      <Readable value={approval.arguments} text={approval.arguments_text} label={`arguments of ${approval.tool_name}`} />
      <details>
        <summary className="mono small">{firstRequest(approval)}</summary>
        <Planned requests={approval.requests} />
      </details>
    </>
  );
}

function Decided({ approvals }: { approvals: Approval[] }) {
  return (
    <Table
      caption="Approvals"
      rows={approvals}
      rowKey={idOf}
      columns={[
        { head: 'Call', cell: (row) => <><Link href={`/approvals/${row.approval_id}`} className="strong">{row.title}</Link><div className="mono small muted">{row.tool_name}</div>{isDestructive(row) && <div><Badge tone="bad">destructive</Badge></div>}</> },
        { head: 'User', cell: (row) => row.user_id },
        { head: 'Account', cell: (row) => row.account ?? <span className="muted">{row.connection_id ? 'without a name' : 'none'}</span> },
        { head: 'Arguments', wide: true, cell: (row) => <span className="mono small">{brief(row)}</span> },
        { head: 'Would send', wide: true, cell: (row) => <span className="mono small">{firstRequest(row)}</span> },
        { head: 'Status', cell: (row) => <State name={row.status} /> },
        { head: 'Requested', cell: (row) => <Time at={row.created_at} /> },
        { head: 'Actions', align: 'acts', cell: (row) => row.can_decide && <Link href={`/approvals/${row.approval_id}`} className="button small" aria-label={`Review ${row.tool_name} for ${row.user_id}`}>Review</Link> },
      ]}
    />
  );
}

const firstRequest = (row: Approval): string => (row.requests[0] ? visible(`${row.requests[0].method} ${row.requests[0].url}`) : 'Nothing would be sent.');

const BRIEF_MAX = 160;
/** Longer arguments are decided on the page of the approval, which has the room for them. */
const WHOLE_MAX = 1_000;

/** Arguments on one line; the page of the approval has them whole. */
function brief(row: Approval): string {
  const text = oneLine(row);
  return text.length > BRIEF_MAX ? `${text.slice(0, BRIEF_MAX)}...` : text;
}

/** Whether the list shows all that is decided; otherwise the decision is on the page that does. */
const isWhole = (row: Approval): boolean => oneLine(row).length <= WHOLE_MAX && row.requests.length <= 1 && !row.secrets_masked;

const oneLine = (row: Approval): string => visible(row.arguments_text.replaceAll(/\n\s*/g, ' '));

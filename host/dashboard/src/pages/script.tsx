// One run of a script: its outcome, what it waits for, and its calls in time.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { showChanged } from '../api/changed';
import { call } from '../api/client';
import type { ScriptRun } from '../api/types';
import { State } from '../ui/badge';
import { Button } from '../ui/button';
import { Code, Json } from '../ui/copy';
import { Confirm } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { Note } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { ScriptCalls } from '../ui/script-calls';
import { Table } from '../ui/table';
import { plural } from '../ui/time';
import { useToast } from '../ui/toast';
import { visible } from '../ui/visible';

/** How often a run that is under way is looked at. */
const LOOK_MS = 2_000;

export default function Script() {
  const { run: id = '' } = useParams<{ run: string }>();
  const client = useQueryClient();
  const toast = useToast();
  const [cancelling, setCancelling] = useState(false);
  const path = `/scripts/runs/${encodeURIComponent(id)}`;
  const run = useQuery({
    queryKey: ['scripts', id],
    queryFn: () => call<ScriptRun>('GET', path),
    refetchInterval: (query) => (query.state.data?.status === 'running' ? LOOK_MS : false),
  });
  const resume = useMutation({
    mutationFn: () => call<ScriptRun>('POST', `${path}/resume`, { body: {} }),
    onSuccess: (next) => showChanged(client, ['scripts', id], next),
    onError: toast.error,
  });
  const isOver = run.data == null || !['paused', 'running'].includes(run.data.status);
  return (
    <Page
      title="Run of a script"
      about={<span className="mono">{id}</span>}
      back={{ to: '/scripts', name: 'Scripts' }}
      actions={
        !isOver && (
          <>
            <Button icon="play" busy={resume.isPending} onClick={() => resume.mutate()}>Resume</Button>
            <Button kind="danger" onClick={() => setCancelling(true)}>Cancel run</Button>
          </>
        )
      }
    >
      <Loaded query={run}>
        {(data) => (
          <div className="stack">
            <div aria-live="polite"><Outcome run={data} resumed={resume.data} /></div>
            <Card title="Calls">
              {data.calls.length === 0 ? <p className="muted">It has called nothing.</p> : <ScriptCalls calls={data.calls} />}
            </Card>
            {data.plan.length > 0 && <Plan run={data} />}
            {data.logs.length > 0 && <Card title="Log"><Code label="log" text={data.logs.map((line) => `${line.level}: ${visible(line.text)}`).join('\n')} /></Card>}
          </div>
        )}
      </Loaded>
      {cancelling && (
        <Confirm title="Cancel this run?" action="Cancel run" onClose={() => setCancelling(false)} onConfirm={async () => showChanged(client, ['scripts', id], await call<ScriptRun>('POST', `${path}/cancel`, { body: {} }))}>
          <p>No further call is made. What was sent stays sent.</p>
        </Confirm>
      )}
    </Page>
  );
}

/** `resumed`: the answer to the last resumption, which alone has the link for a connection. */
function Outcome({ run, resumed }: { run: ScriptRun; resumed: ScriptRun | undefined }) {
  const pause = run.status === 'paused' ? (resumed?.pause ?? run.pause) : null;
  return (
    <div className="stack">
      {pause && (
        <Note tone="warn">
          <p className="strong">{visible(pause.message)}</p>
          <p><Link href={`/tools/${pause.tool}`} className="mono">{pause.tool}</Link>{pause.line != null && `, line ${pause.line}`}</p>
          {pause.connect_url && <div><a className="button" href={pause.connect_url} target="_blank" rel="noopener"><Icon name="external" />Connect</a></div>}
          {pause.approval_id && <div><Link className="button" href={`/approvals/${pause.approval_id}`}>Decide</Link></div>}
          {pause.reason === 'connection' && !pause.connect_url && <p>Resume the run for a new link.</p>}
        </Note>
      )}
      {run.error && (
        <Note tone="bad">
          <p className="strong">{visible(`${run.error.name}: ${run.error.message}`)}</p>
          <p className="small">{[run.error.code, run.error.line != null && `line ${run.error.line}`].filter(Boolean).join(', ')}</p>
        </Note>
      )}
      {run.warnings.map((warning) => <Note key={warning} tone="warn"><p>{visible(warning)}</p></Note>)}
      <Card title="Outcome">
        <div className="stack">
          <Pairs
            items={[
              ['Status', <State name={run.status} />],
              ['Calls', plural(run.calls.length, 'call')],
              ['Receipt', <Link href={`/executions/${run.execution_id}`} className="mono">{run.execution_id}</Link>],
            ]}
          />
          {run.status === 'done' && <Json value={run.result ?? null} label="result" />}
        </div>
      </Card>
    </div>
  );
}

function Plan({ run }: { run: ScriptRun }) {
  return (
    <Card title="What it would change" flush>
      <Table
        caption="Calls that the dry run held back"
        rows={run.plan}
        rowKey={(row) => String(row.step)}
        columns={[
          { head: 'Tool', cell: (row) => <Link href={`/tools/${row.tool}`} className="mono">{row.tool}</Link> },
          { head: 'Line', align: 'right', cell: (row) => row.line ?? '' },
          { head: 'Arguments', wide: true, cell: (row) => <code>{visible(JSON.stringify(row.arguments))}</code> },
        ]}
      />
    </Card>
  );
}

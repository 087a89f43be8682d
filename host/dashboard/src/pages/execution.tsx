// The receipt of one call: what left, why it has no result, and the same call again.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { call } from '../api/client';
import type { ExecutionPayloads, Receipt } from '../api/types';
import { useIsAdmin, useMe } from '../shell/me';
import { State } from '../ui/badge';
import { Button } from '../ui/button';
import { CallAs } from '../ui/call-as';
import { Code, CopyLine } from '../ui/copy';
import { failureOf } from '../ui/failures';
import { Empty, Note } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { RequestTable } from '../ui/requests';
import { Waterfall } from '../ui/waterfall';
import { bytes, duration, exact, Time } from '../ui/time';

export default function Execution() {
  const { execution: id = '' } = useParams<{ execution: string }>();
  const receipt = useQuery({ queryKey: ['executions', id], queryFn: () => call<Receipt>('GET', `/executions/${id}`) });
  const me = useMe();
  const admin = useIsAdmin();
  const [copying, setCopying] = useState(false);
  const ran = receipt.data?.kind === 'connection' ? undefined : receipt.data;
  const again = ran && `/tools/${ran.tool_name}${ran.user_id === me.user_id ? '' : `?user_id=${encodeURIComponent(ran.user_id)}`}`;
  return (
    <Page
      title={receipt.data ? `Receipt of ${receipt.data.tool_name}` : 'Receipt'}
      back={{ to: '/executions', name: 'Executions' }}
      actions={
        again && (
          <>
            <Link className="button" href={again}>Run or dry-run again</Link>
            <Button icon="copy" onClick={() => setCopying(true)}>Copy as ...</Button>
          </>
        )
      }
    >
      <Loaded query={receipt}>
        {(data) => (
          <div className="stack">
            <Failed receipt={data} />
            <Card title="The call">
              <Pairs
                items={[
                  ['Status', <span className="row"><State name={data.status} />{data.reason && <span>{data.reason.replaceAll('_', ' ')}</span>}</span>],
                  ['Tool', data.kind === 'connection' ? <span className="mono">{data.tool_name}</span> : <Link href={`/tools/${data.tool_name}`} className="mono">{data.tool_name}</Link>],
                  ['User', data.user_id],
                  ['By', data.key.prefix ? `${data.key.name} (${data.key.prefix})` : data.key.name],
                  ['Started', <>{exact(data.started_at)} (<Time at={data.started_at} />)</>],
                  ['Duration', duration(data.duration_ms)],
                  ['Plugin', <><Link href={`/plugins/${data.plugin.service}`}>{data.plugin.service}</Link> {data.plugin.version}, <span className="mono">{data.plugin.sha256.slice(0, 16)}</span></>],
                  data.connection_id ? ['Connection', <span className="mono">{data.connection_id}</span>] : null,
                  ['Execution id', <CopyLine text={data.execution_id} label="execution id" />],
                ]}
              />
            </Card>
            <Card title="Requests that left" flush>
              {data.requests.length === 0 ? <Empty icon="executions" title="No request left the gateway" /> : <><Waterfall requests={data.requests} total_ms={data.duration_ms} /><RequestTable requests={data.requests} /></>}
            </Card>
            {admin && data.requests.length > 0 && <Bodies id={data.execution_id} />}
          </div>
        )}
      </Loaded>
      {copying && ran && (
        <CallAs
          call={{ baseUrl: me.public_url, tool: ran.tool_name, args: {}, userId: ran.user_id }}
          about="A receipt does not contain the arguments. Fill them in, or enter them on the tool's page and copy the call there."
          onClose={() => setCopying(false)}
        />
      )}
    </Page>
  );
}

function Failed({ receipt }: { receipt: Receipt }) {
  const failure = failureOf(receipt);
  if (!failure) return null;
  return (
    <Note tone={receipt.status === 'error' ? 'bad' : 'warn'}>
      <p className="strong">{failure.why}</p>
      {failure.words && <blockquote className="words">{failure.words}</blockquote>}
      <p>{failure.next}</p>
      <p className="small"><code>{failure.code}</code>{failure.to && <> <Link href={failure.to.path}>{failure.to.name}</Link></>}</p>
    </Note>
  );
}

/** What requests and answers said, where the workspace keeps it; asked for when it is opened, for every reading is written down. */
function Bodies({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  const payloads = useQuery({ queryKey: ['payloads', id], queryFn: () => call<ExecutionPayloads>('GET', `/executions/${id}/payloads`), enabled: open, staleTime: Infinity });
  return (
    <Card title="Bodies" actions={<Button size="small" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Hide' : 'Show'}</Button>}>
      {!open && <p className="muted">The bodies of requests and answers, if the workspace keeps them. The audit log records who reads them.</p>}
      {open && (
        <Loaded query={payloads}>
          {(data) =>
            data.payloads.length === 0 ? (
              <p className="muted">Nothing was kept. The workspace did not keep bodies when this call ran.</p>
            ) : (
              <div className="stack">
                {data.payloads.map((payload) => (
                  <div key={`${payload.number} ${payload.side}`} className="stack tight">
                    <h3>{payload.side === 'request' ? `Request ${payload.number}` : `Answer to request ${payload.number}`} <span className="muted small">{payload.method} {payload.origin}{payload.path}</span></h3>
                    <Code text={payload.content} label={`${payload.side} ${payload.number}`} />
                    <p className="small muted">
                      {[payload.media_type, bytes(payload.bytes_total), payload.truncated && 'only its beginning was kept', payload.encoding === 'base64' && 'as Base64'].filter(Boolean).join(', ')}
                    </p>
                  </div>
                ))}
              </div>
            )
          }
        </Loaded>
      )}
    </Card>
  );
}

// The receipt of one call.

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { call } from '../api/client';
import type { Receipt } from '../api/types';
import { State } from '../ui/badge';
import { CopyLine } from '../ui/copy';
import { Empty } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { RequestTable } from '../ui/requests';
import { duration, exact, Time } from '../ui/time';

export default function Execution() {
  const { execution: id = '' } = useParams<{ execution: string }>();
  const receipt = useQuery({ queryKey: ['executions', id], queryFn: () => call<Receipt>('GET', `/executions/${id}`) });
  return (
    <Page title={receipt.data ? `Receipt of ${receipt.data.tool_name}` : 'Receipt'} back={{ to: '/executions', name: 'Executions' }}>
      <Loaded query={receipt}>
        {(data) => (
          <div className="stack">
            <Card title="The call">
              <Pairs
                items={[
                  ['Status', <span className="row"><State name={data.status} />{data.reason && <span>{data.reason.replaceAll('_', ' ')}</span>}</span>],
                  ['Tool', <Link href={`/tools/${data.tool_name}`} className="mono">{data.tool_name}</Link>],
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
              {data.requests.length === 0 ? <Empty icon="executions" title="No request left the gateway" /> : <RequestTable requests={data.requests} />}
            </Card>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

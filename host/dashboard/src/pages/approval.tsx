// One question: what exactly would leave the gateway if it is approved.

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { call } from '../api/client';
import type { Approval as Shape } from '../api/types';
import { Planned } from '../ui/answer';
import { State } from '../ui/badge';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { Time } from '../ui/time';
import { Decide } from './approvals';

export default function Approval() {
  const { approval: id = '' } = useParams<{ approval: string }>();
  const approval = useQuery({ queryKey: ['approvals', id], queryFn: () => call<Shape>('GET', `/approvals/${id}`) });
  const data = approval.data;
  return (
    <Page title={data ? `May ${data.user_id} run ${data.tool_name}?` : 'Approval'} back={{ to: '/approvals', name: 'Approvals' }} actions={data?.status === 'pending' && <Decide approval={data} size="normal" />}>
      <Loaded query={approval}>
        {(loaded) => (
          <div className="columns wide-right">
            <Card title="The question">
              <Pairs
                items={[
                  ['Status', <State name={loaded.status} />],
                  ['Tool', <Link href={`/tools/${loaded.tool_name}`} className="mono">{loaded.tool_name}</Link>],
                  ['User', <Link href={`/permissions/${encodeURIComponent(loaded.user_id)}`}>{loaded.user_id}</Link>],
                  ['Asked', <Time at={loaded.created_at} />],
                  ['Expires', <Time at={loaded.expires_at} />],
                  loaded.decided_by ? ['Decided by', loaded.decided_by] : null,
                  loaded.decided_at ? ['Decided', <Time at={loaded.decided_at} />] : null,
                ]}
              />
            </Card>
            <Card title="What would be sent"><Planned requests={loaded.requests} /></Card>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

// One question: what exactly would leave the gateway if it is approved.

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { call } from '../api/client';
import type { Approval as Shape } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { Planned } from '../ui/answer';
import { Badge, State } from '../ui/badge';
import { Decide, isDestructive, SecretsMasked } from '../ui/decide';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { Readable } from '../ui/readable';
import { whoDecides } from '../ui/rules';
import { Time } from '../ui/time';

const ASKED_BY: Record<string, string> = { key: 'API key', app: 'connected app' };

export default function Approval() {
  const { approval: id = '' } = useParams<{ approval: string }>();
  const admin = useIsAdmin();
  const approval = useQuery({ queryKey: ['approvals', id], queryFn: () => call<Shape>('GET', `/approvals/${id}`) });
  const data = approval.data;
  return (
    <Page title={data ? `May ${data.user_id} run ${data.tool_name}?` : 'Approval'} back={{ to: '/approvals', name: 'Approvals' }} actions={data?.can_decide && <Decide approval={data} size="normal" />}>
      <Loaded query={approval}>
        {(loaded) => (
          <div className="columns wide-right">
            <Card title="Request">
              <Pairs
                items={[
                  ['Status', <State name={loaded.status} />],
                  ['Tool', <><span>{loaded.title} </span><Link href={`/tools/${loaded.tool_name}`} className="mono">{loaded.tool_name}</Link>{isDestructive(loaded) && <> <Badge tone="bad">destructive</Badge></>}</>],
                  ['User', admin ? <Link href={`/permissions/${encodeURIComponent(loaded.user_id)}`}>{loaded.user_id}</Link> : loaded.user_id],
                  ['Account', loaded.connection_id ? (loaded.account ?? <>without a name <span className="mono small muted">{loaded.connection_id}</span></>) : 'none'],
                  ['Requested by', `${loaded.asked_by_name} (${ASKED_BY[loaded.asked_by.split(':')[0] ?? ''] ?? 'member'})`],
                  ['Can approve', whoDecides(loaded.approvers)],
                  ['Plugin', <>{loaded.plugin.version} <span className="mono small" title={loaded.plugin.sha256}>{loaded.plugin.sha256.slice(0, 12)}</span></>],
                  ['Requested', <Time at={loaded.created_at} />],
                  ['Expires', <Time at={loaded.expires_at} />],
                  loaded.decided_by ? ['Decided by', loaded.decided_by] : null,
                  loaded.decided_at ? ['Decided', <Time at={loaded.decided_at} />] : null,
                ]}
              />
            </Card>
            <div className="stack">
              <Card title="Arguments">
                {loaded.secrets_masked && <SecretsMasked />}
                <Readable value={loaded.arguments} text={loaded.arguments_text} label="arguments" />
              </Card>
              <Card title="Planned requests">
                <Planned requests={loaded.requests} />
                <p className="small muted">
                  {loaded.requests_complete
                    ? 'Only these requests may be sent. A run that tries anything else is stopped.'
                    : 'The run has to start with these. Later requests depend on the answers, so they cannot be shown in advance; the receipt lists them.'}
                </p>
              </Card>
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

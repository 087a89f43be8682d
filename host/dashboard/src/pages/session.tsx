import { useQuery } from '@tanstack/react-query';
import { useParams } from 'wouter';
import { call } from '../api/client';
import type { Session as Shape } from '../api/types';
import { Empty } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { Time } from '../ui/time';

export default function Session() {
  const { session: id = '' } = useParams<{ session: string }>();
  const session = useQuery({ queryKey: ['sessions', id], queryFn: () => call<Shape>('GET', `/sessions/${id}`) });
  return (
    <Page title="Session" about={<span className="mono">{id}</span>} back={{ to: '/sessions', name: 'Sessions' }}>
      <Loaded query={session}>
        {(data) => (
          <div className="stack">
            <Card>
              <Pairs items={[['User', data.user_id], ['Created', <Time at={data.created_at} />], ['Last used', <Time at={data.last_active_at} />], ['Expires', <Time at={data.expires_at} />]]} />
            </Card>
            <Card title="Messages">
              {data.messages && data.messages.length > 0 ? (
                <ol className="messages">
                  {data.messages.map((message, index) => (
                    <li key={index}>
                      <div className="row apart small muted"><span className="strong">{message.role}</span><Time at={message.created_at} /></div>
                      {message.content}
                    </li>
                  ))}
                </ol>
              ) : (
                <Empty icon="sessions" title="No messages">This session carries the steps of tool calls only.</Empty>
              )}
            </Card>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

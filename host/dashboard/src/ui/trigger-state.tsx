// How a trigger fares, in words, and what can be done about it.

import type { Trigger } from '../api/types';
import { Badge } from './badge';
import { ConnectAgain } from './connect-own';
import { DueTime } from './time';

export const TRIGGER_STATES = [
  ['', 'Any state'],
  ['active', 'Active'],
  ['failing', 'Failing'],
  ['waiting_for_connection', 'Waiting for a connection'],
  ['paused', 'Paused'],
] as const;

export function TriggerHealth({ trigger, title }: { trigger: Trigger; title: string }) {
  switch (trigger.state) {
    case 'active':
      return (
        <div className="stack tight">
          <span><Badge tone="ok">active</Badge></span>
          {!trigger.watching_since && <span className="small muted">reads what is there already</span>}
        </div>
      );
    case 'failing':
      return (
        <div className="stack tight">
          <span><Badge tone="bad">failing</Badge></span>
          {trigger.last_error && <span className="small">{trigger.last_error}</span>}
          {trigger.next_poll_at && <span className="small muted">next try <DueTime at={trigger.next_poll_at} /></span>}
        </div>
      );
    case 'waiting_for_connection':
      return (
        <div className="stack tight">
          <span><Badge tone="warn">waiting for a connection</Badge></span>
          <span className="row"><ConnectAgain service={trigger.service} title={title} userId={trigger.user_id} connectionId={trigger.connection_id} /></span>
        </div>
      );
    case 'paused':
      return <Badge>paused</Badge>;
  }
}

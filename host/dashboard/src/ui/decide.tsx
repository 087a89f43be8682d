// The decision about a call that waits: approve or deny, and for an admin also a rule for the calls that follow.

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import type { Approval, UserPermissions } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { Button } from './button';
import { Confirm } from './dialog';
import { Menu } from './menu';
import { Note } from './note';
import { oneRule } from './rules';
import { useSay } from './toast';

const HOUR_MS = 3_600_000;

export type Decision = 'approve' | 'deny';

export const decide = (approval: Approval, decision: Decision) => call<Approval>('POST', `/approvals/${approval.approval_id}`, { body: { decision } });

export const isDestructive = (approval: Approval): boolean => approval.annotations?.destructiveHint === true;

/** How long the tool is allowed after the approved call. */
type Then = 'hour' | 'always';
const THEN: Record<Then, string> = { hour: 'for an hour', always: 'always' };

function allow(approval: Approval, then: Then) {
  const { method, path, body } = oneRule(approval.user_id, 'tools', approval.tool_name, 'allow', 'admins');
  const expires_at = then === 'hour' ? new Date(Date.now() + HOUR_MS).toISOString() : undefined;
  return call<UserPermissions>(method, path, { body: { ...body, ...(expires_at && { expires_at }) } });
}

type Asked = { kind: 'destructive' } | { kind: 'then'; then: Then };

export function Decide({ approval, size = 'small' }: { approval: Approval; size?: 'small' | 'normal' }) {
  const client = useQueryClient();
  const admin = useIsAdmin();
  const say = useSay();
  const [busy, setBusy] = useState<Decision | null>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const decided = () => void client.invalidateQueries({ queryKey: ['approvals'] });
  const now = (decision: Decision) => {
    setBusy(decision);
    decide(approval, decision)
      .then(() => say.done(decision === 'approve' ? 'Approved. The agent can repeat the call.' : 'Denied'))
      .catch(say.failed)
      .finally(() => {
        setBusy(null);
        decided();
      });
  };
  const approve = () => (isDestructive(approval) ? setAsked({ kind: 'destructive' }) : now('approve'));
  const confirmed = async (then: Then | null) => {
    await decide(approval, 'approve');
    say.done('Approved. The agent can repeat the call.');
    try {
      if (then) {
        await allow(approval, then);
        void client.invalidateQueries({ queryKey: ['permissions'] });
      }
    } catch (refused) {
      // The dialog closes with the decided approval: it cannot show that the rule was not saved.
      say.failed(refused);
    } finally {
      // Last, because "approved" on the page also stands for the rule.
      decided();
    }
  };
  return (
    <>
      <Button size={size} kind="primary" icon="done" busy={busy === 'approve'} aria-label={`Approve ${approval.tool_name}`} onClick={approve}>Approve</Button>
      {admin && (
        <Menu
          label={`More options for ${approval.tool_name}`}
          entries={[
            { label: 'Approve this exact call, once', icon: 'done', onSelect: approve },
            { label: 'Approve, and allow this tool for an hour', onSelect: () => setAsked({ kind: 'then', then: 'hour' }) },
            { label: 'Approve, and always allow this tool', onSelect: () => setAsked({ kind: 'then', then: 'always' }) },
          ]}
        />
      )}
      <Button size={size} kind="danger" busy={busy === 'deny'} aria-label={`Deny ${approval.tool_name}`} onClick={() => now('deny')}>Deny</Button>
      {asked?.kind === 'destructive' && (
        <Confirm title={`Approve ${approval.title}?`} action="Approve" onClose={() => setAsked(null)} onConfirm={() => confirmed(null)}>
          <p><span className="mono">{approval.tool_name}</span> deletes or overwrites something that may not come back. Check the arguments before you approve.</p>
        </Confirm>
      )}
      {asked?.kind === 'then' && (
        <Confirm title={`Allow ${approval.tool_name} ${THEN[asked.then]}?`} action={`Approve and allow ${THEN[asked.then]}`} onClose={() => setAsked(null)} onConfirm={() => confirmed(asked.then)}>
          <p>This call runs once. {asked.then === 'hour' ? 'For the next hour' : 'From now on'}, calls of <span className="mono">{approval.tool_name}</span> for the user {approval.user_id} run without approval, with any arguments.</p>
          {isDestructive(approval) && <Note tone="warn"><p>This tool deletes or overwrites something that may not come back.</p></Note>}
        </Confirm>
      )}
    </>
  );
}

// The decision about a call that waits: approve or deny, and for an admin also a rule for the calls that follow.

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import type { Approval, UserPermissions } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { Button } from './button';
import { Confirm } from './dialog';
import { useLater } from './later';
import { Menu } from './menu';
import { Note } from './note';
import { oneRule } from './rules';
import { useToast } from './toast';

const HOUR_MS = 3_600_000;

export type Decision = 'approve' | 'deny';

export const decide = (approval: Approval, decision: Decision) => call<Approval>('POST', `/approvals/${approval.approval_id}`, { body: { decision } });

export const isDestructive = (approval: Approval): boolean => approval.annotations?.destructiveHint === true;

/** Why a part of what is decided cannot be read. */
export function SecretsMasked() {
  return <Note tone="warn"><p>The call contains a secret of the connection, which reads [redacted] here. No call needs that: the gateway adds the secret itself.</p></Note>;
}

/** How long the tool is allowed after the approved call. */
type AllowFor = 'hour' | 'always';
const ALLOW_FOR: Record<AllowFor, string> = { hour: 'for an hour', always: 'always' };

function allow(approval: Approval, allowFor: AllowFor) {
  const { method, path, body } = oneRule(approval.user_id, 'tools', approval.tool_name, 'allow', 'admins');
  const expires_at = allowFor === 'hour' ? new Date(Date.now() + HOUR_MS).toISOString() : undefined;
  return call<UserPermissions>(method, path, { body: { ...body, ...(expires_at && { expires_at }) } });
}

type OpenDialog = { kind: 'destructive' } | { kind: 'allow'; allowFor: AllowFor };

export function Decide({ approval, size = 'small' }: { approval: Approval; size?: 'small' | 'normal' }) {
  const client = useQueryClient();
  const admin = useIsAdmin();
  const toast = useToast();
  const { waiting, later, takeBack } = useLater();
  const [pressed, setPressed] = useState(false);
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const decided = () => client.invalidateQueries({ queryKey: ['approvals'] });
  const soon = (decision: Decision) => {
    setPressed(true);
    later(approval.approval_id, `${decision === 'approve' ? 'Approve' : 'Deny'} ${approval.tool_name} for ${approval.user_id}`, () =>
      decide(approval, decision)
        .then(() => toast.success(decision === 'approve' ? 'Approved. The agent can repeat the call.' : 'Denied'))
        .catch(toast.error)
        // Until the page shows what was decided, nothing can be pressed.
        .finally(decided),
    );
  };
  const approve = () => (isDestructive(approval) ? setDialog({ kind: 'destructive' }) : soon('approve'));
  const confirmed = async (allowFor: AllowFor | null) => {
    await decide(approval, 'approve');
    toast.success('Approved. The agent can repeat the call.');
    try {
      if (allowFor) {
        await allow(approval, allowFor);
        void client.invalidateQueries({ queryKey: ['permissions'] });
      }
    } catch (refused) {
      // The dialog closes once the approval is decided, so it cannot show this error.
      toast.error(refused);
    } finally {
      // Refresh last: the page must not show "approved" before the rule is saved.
      void decided();
    }
  };
  const soonDone = waiting.find((one) => one.key === approval.approval_id);
  if (soonDone) {
    // In the place of the pressed button, so that the keyboard focus stays there.
    return <Button size={size} icon="undo" autoFocus={pressed} busy={soonDone.sending} aria-label={`Take back: ${soonDone.says}`} onClick={() => takeBack(approval.approval_id)}>Undo</Button>;
  }
  return (
    <>
      <Button size={size} kind="primary" icon="done" autoFocus={pressed} aria-label={`Approve ${approval.tool_name}`} onClick={approve}>Approve</Button>
      {admin && (
        <Menu
          label={`More options for ${approval.tool_name}`}
          entries={[
            { label: 'Approve this exact call, once', icon: 'done', onSelect: approve },
            { label: 'Approve, and allow this tool for an hour', onSelect: () => setDialog({ kind: 'allow', allowFor: 'hour' }) },
            { label: 'Approve, and always allow this tool', onSelect: () => setDialog({ kind: 'allow', allowFor: 'always' }) },
          ]}
        />
      )}
      <Button size={size} kind="danger" aria-label={`Deny ${approval.tool_name}`} onClick={() => soon('deny')}>Deny</Button>
      {dialog?.kind === 'destructive' && (
        <Confirm title={`Approve ${approval.title}?`} action="Approve" onClose={() => setDialog(null)} onConfirm={() => confirmed(null)}>
          <p><span className="mono">{approval.tool_name}</span> deletes or overwrites something that may not come back. Check the arguments before you approve.</p>
        </Confirm>
      )}
      {dialog?.kind === 'allow' && (
        <Confirm title={`Allow ${approval.tool_name} ${ALLOW_FOR[dialog.allowFor]}?`} action={`Approve and allow ${ALLOW_FOR[dialog.allowFor]}`} onClose={() => setDialog(null)} onConfirm={() => confirmed(dialog.allowFor)}>
          <p>This call runs once. {dialog.allowFor === 'hour' ? 'For the next hour' : 'From now on'}, calls of <span className="mono">{approval.tool_name}</span> for the user {approval.user_id} run without approval, with any arguments.</p>
          {isDestructive(approval) && <Note tone="warn"><p>This tool deletes or overwrites something that may not come back.</p></Note>}
        </Confirm>
      )}
    </>
  );
}

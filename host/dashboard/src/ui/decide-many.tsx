// Several waiting calls decided together: what each of them would do is shown before anybody decides.

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Approval } from '../api/types';
import { Planned } from './answer';
import { Badge } from './badge';
import { Button } from './button';
import { decide, isDestructive, SecretsMasked, type Decision } from './decide';
import { Dialog } from './dialog';
import { ErrorNote } from './note';
import { Readable } from './readable';
import { plural } from './time';
import { useToast } from './toast';

export function DecideMany({ approvals, onClose }: { approvals: Approval[]; onClose: () => void }) {
  const client = useQueryClient();
  const toast = useToast();
  const [busy, setBusy] = useState<Decision | null>(null);
  const [error, setError] = useState<unknown>(null);
  const destructive = approvals.filter(isDestructive).length;
  const all = async (decision: Decision) => {
    setBusy(decision);
    setError(null);
    let done = 0;
    try {
      for (const approval of approvals) {
        await decide(approval, decision);
        done += 1;
      }
      toast.success(`${plural(done, 'call')} ${decision === 'approve' ? 'approved' : 'denied'}`);
      onClose();
    } catch (refused) {
      // Those before it are decided: the list behind shows what is left.
      setError(refused);
      setBusy(null);
    } finally {
      void client.invalidateQueries({ queryKey: ['approvals'] });
    }
  };
  return (
    <Dialog
      wide
      title={`Decide ${plural(approvals.length, 'call')}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" busy={busy === 'deny'} disabled={busy != null} onClick={() => void all('deny')}>Deny all</Button>
          <Button kind={destructive > 0 ? 'destroy' : 'primary'} busy={busy === 'approve'} disabled={busy != null} onClick={() => void all('approve')}>
            {destructive > 0 ? `Approve all, ${destructive} destructive` : 'Approve all'}
          </Button>
        </>
      }
    >
      {error != null && <ErrorNote error={error} />}
      {approvals.map((approval, n) => (
        <section key={approval.approval_id} className="card" aria-label={`Call ${n + 1} of ${approvals.length}: ${approval.tool_name}`}>
          <header>
            <h3>{approval.title} <span className="mono small muted">{approval.tool_name}</span></h3>
            {isDestructive(approval) && <Badge tone="bad">destructive</Badge>}
          </header>
          <div className="inner stack tight">
            <p className="small muted">For {approval.user_id}, requested by {approval.asked_by_name}{approval.account ? `, with the account ${approval.account}` : ''}</p>
            {approval.secrets_masked && <SecretsMasked />}
            <Readable value={approval.arguments} text={approval.arguments_text} label={`arguments of ${approval.tool_name}`} />
            <details>
              <summary>Planned requests</summary>
              <Planned requests={approval.requests} />
            </details>
          </div>
        </section>
      ))}
    </Dialog>
  );
}

// Who may sign in to the dashboard, and as what.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import type { Member, Members as All, Role } from '../api/types';
import { useMe } from '../shell/me';
import { useAskedFor } from '../ui/asked-for';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { CopyLine } from '../ui/copy';
import { Confirm, Dialog } from '../ui/dialog';
import { SelectField, TextField } from '../ui/field';
import { Menu } from '../ui/menu';
import { ErrorNote } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Table } from '../ui/table';
import { Time } from '../ui/time';
import { useToast } from '../ui/toast';

const ROLES = [
  ['member', 'Member: own tools, Skills and approvals'],
  ['admin', 'Admin: also keys, services and all users'],
  ['owner', 'Owner: also the workspace and its owners'],
] as const;

type OpenDialog = { kind: 'invite' } | { kind: 'remove' | 'role'; member: Member } | { kind: 'link'; title: string; url: string; expires: string };

export default function Members() {
  const me = useMe();
  const client = useQueryClient();
  const toast = useToast();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const members = useQuery({ queryKey: ['members'], queryFn: () => call<All>('GET', '/members') });
  const again = () => void client.invalidateQueries({ queryKey: ['members'] });
  const close = () => setDialog(null);
  useAskedFor('invite', () => setDialog({ kind: 'invite' }));
  const mayChange = (member: Member) => me.role === 'owner' || member.role !== 'owner';
  const reset = (member: Member) => {
    call<{ join_url: string; expires_at: string }>('POST', `/members/${member.member_id}/reset`, { body: {} })
      .then((made) => setDialog({ kind: 'link', title: `New password for ${member.name}`, url: made.join_url, expires: made.expires_at }))
      .catch(toast.error);
  };
  const withdraw = (id: string) => {
    call('DELETE', `/invitations/${id}`).then(again, toast.error);
  };
  return (
    <Page title="Members" about="People who sign in here. Agents use keys instead." actions={<Button kind="primary" icon="plus" onClick={() => setDialog({ kind: 'invite' })}>Invite</Button>}>
      <Loaded query={members}>
        {(data) => (
          <div className="stack">
            <Card flush>
              <Table
                caption="Members"
                rows={data.members}
                rowKey={(row) => row.member_id}
                columns={[
                  { head: 'Name', cell: (row) => <span className="row"><span className="strong">{row.name}</span>{row.you && <Badge tone="accent">you</Badge>}</span> },
                  { head: 'E-mail', cell: (row) => row.email },
                  { head: 'Role', cell: (row) => <Badge tone={row.role === 'owner' ? 'info' : 'plain'}>{row.role}</Badge> },
                  { head: 'Signs in with', cell: (row) => [row.has_password && 'password', row.oidc_linked && 'provider'].filter(Boolean).join(', ') || <span className="muted">nothing yet</span> },
                  { head: 'Last seen', cell: (row) => <Time at={row.last_seen_at} /> },
                  {
                    head: 'Actions',
                    align: 'acts',
                    cell: (row) =>
                      mayChange(row) && (
                        <Menu
                          label={`Actions for ${row.name}`}
                          entries={[
                            { label: 'Change role', icon: 'permissions', onSelect: () => setDialog({ kind: 'role', member: row }) },
                            { label: 'Reset password', icon: 'keys', onSelect: () => reset(row) },
                            { label: 'Remove', icon: 'trash', danger: true, onSelect: () => setDialog({ kind: 'remove', member: row }) },
                          ]}
                        />
                      ),
                  },
                ]}
              />
            </Card>
            {data.invitations.length > 0 && (
              <Card title="Invitations" flush>
                <Table
                  caption="Invitations"
                  rows={data.invitations}
                  rowKey={(row) => row.invitation_id}
                  columns={[
                    { head: 'E-mail', cell: (row) => row.email },
                    { head: 'Role', cell: (row) => row.role },
                    { head: 'Sent', cell: (row) => <Time at={row.created_at} /> },
                    { head: 'Expires', cell: (row) => <Time at={row.expires_at} /> },
                    { head: 'Actions', align: 'acts', cell: (row) => <Button size="small" onClick={() => withdraw(row.invitation_id)}>Withdraw</Button> },
                  ]}
                />
              </Card>
            )}
          </div>
        )}
      </Loaded>
      {dialog?.kind === 'invite' && <Invite onClose={close} onMade={(url, expires) => { again(); setDialog({ kind: 'link', title: 'Invitation', url, expires }); }} />}
      {dialog?.kind === 'role' && <ChangeRole member={dialog.member} onClose={close} onDone={again} />}
      {dialog?.kind === 'link' && (
        <Dialog title={dialog.title} onClose={close} footer={<Button kind="primary" onClick={close}>Done</Button>}>
          <p>Send this link to the person yourself. It is shown once, works once, and expires <Time at={dialog.expires} />.</p>
          <CopyLine text={dialog.url} label="link" />
        </Dialog>
      )}
      {dialog?.kind === 'remove' && (
        <Confirm
          title={`Remove ${dialog.member.name}?`}
          action="Remove"
          onClose={close}
          onConfirm={async () => {
            await call('DELETE', `/members/${dialog.member.member_id}`);
            again();
            toast.success(`${dialog.member.name} was removed`);
          }}
        >
          <p>{dialog.member.email} is signed out immediately and cannot sign in again. Keys and Skills stay.</p>
        </Confirm>
      )}
    </Page>
  );
}

function useRoles() {
  const me = useMe();
  return ROLES.filter(([role]) => role !== 'owner' || me.role === 'owner');
}

function Invite({ onClose, onMade }: { onClose: () => void; onMade: (url: string, expires: string) => void }) {
  const roles = useRoles();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<string>('member');
  const invite = useMutation({
    mutationFn: () => call<{ join_url: string; expires_at: string }>('POST', '/members', { body: { email, role } }),
    onSuccess: (made) => onMade(made.join_url, made.expires_at),
  });
  return (
    <Dialog title="Invite a member" onClose={onClose} onSubmit={() => invite.mutate()} footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" busy={invite.isPending} disabled={!email.includes('@')}>Create invitation</Button></>}>
      {invite.error && <ErrorNote error={invite.error} />}
      <TextField label="E-mail" type="email" value={email} onChange={setEmail} />
      <SelectField label="Role" value={role} options={roles} onChange={setRole} />
    </Dialog>
  );
}

function ChangeRole({ member, onClose, onDone }: { member: Member; onClose: () => void; onDone: () => void }) {
  const roles = useRoles();
  const toast = useToast();
  const [role, setRole] = useState<string>(member.role);
  const change = useMutation({
    mutationFn: () => call<Member>('PATCH', `/members/${member.member_id}`, { body: { role: role as Role } }),
    onSuccess: () => {
      onDone();
      toast.success('Role changed');
      onClose();
    },
  });
  return (
    <Dialog title={`Role of ${member.name}`} onClose={onClose} onSubmit={() => change.mutate()} footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" busy={change.isPending} disabled={role === member.role}>Save</Button></>}>
      {change.error && <ErrorNote error={change.error} />}
      <SelectField label="Role" value={role} options={roles} onChange={setRole} />
    </Dialog>
  );
}

// API keys: made here and shown once, limited, rotated, revoked.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { Key, Keys as All, NewKey } from '../api/types';
import { useMe } from '../shell/me';
import { useAskedFor } from '../ui/asked-for';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Code, CopyLine } from '../ui/copy';
import { Confirm, Dialog } from '../ui/dialog';
import { CheckField, SelectField, TextArea, TextField } from '../ui/field';
import { Menu } from '../ui/menu';
import { Empty, ErrorNote, Note } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Table } from '../ui/table';
import { Time } from '../ui/time';
import { useToast } from '../ui/toast';

type OpenDialog = { kind: 'create' } | { kind: 'edit' | 'revoke' | 'rotate'; key: Key } | { kind: 'show'; key: NewKey };

export default function Keys() {
  const keys = useQuery({ queryKey: ['keys'], queryFn: () => call<All>('GET', '/keys') });
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const client = useQueryClient();
  const toast = useToast();
  const close = () => setDialog(null);
  useAskedFor('create', () => setDialog({ kind: 'create' }));
  const create = <Button kind="primary" icon="plus" onClick={() => setDialog({ kind: 'create' })}>Create key</Button>;
  const revoke = async (key: Key) => {
    await call('DELETE', `/keys/${key.key_id}`);
    void client.invalidateQueries({ queryKey: ['keys'] });
    toast.success(`Revoked ${key.name}`);
  };
  return (
    <Page title="API keys" about="Agents and programs sign in with these. To rotate a key, create a second one, switch your programs over, then revoke the first." actions={keys.data && create}>
      <Loaded query={keys}>
        {(data) => (
          <Card flush>
            {data.keys.length === 0 ? (
              <Empty icon="keys" title="No keys yet" action={create}>A key is shown once, when you create it. Only its hash is stored.</Empty>
            ) : (
              <Table
                caption="API keys, newest first"
                rows={data.keys}
                rowKey={(row) => row.key_id}
                columns={[
                  { head: 'Name', cell: (row) => <span className="strong">{row.name}</span> },
                  { head: 'Key', cell: (row) => <span className="mono nowrap">tg_live_{row.prefix}...</span> },
                  { head: 'State', cell: (row) => <KeyState row={row} /> },
                  { head: 'Acts for', cell: (row) => (row.users_any ? <span>any user, <Link className="in-text" href={`/permissions/${encodeURIComponent(row.user_id)}`}>{row.user_id}</Link> by default</span> : <Link href={`/permissions/${encodeURIComponent(row.user_id)}`}>{row.user_id}</Link>) },
                  { head: 'Scopes', cell: (row) => <Scopes row={row} all={data.scopes} /> },
                  { head: 'Limits', cell: (row) => <span className="small">{limits(row)}</span> },
                  { head: 'Last used', cell: (row) => <Time at={row.last_used_at} /> },
                  {
                    head: 'Actions',
                    align: 'acts',
                    cell: (row) =>
                      !row.revoked_at && (
                        <Menu
                          label={`Actions for ${row.name}`}
                          entries={[
                            { label: 'Edit', icon: 'keys', onSelect: () => setDialog({ kind: 'edit', key: row }) },
                            { label: 'Rotate', icon: 'undo', onSelect: () => setDialog({ kind: 'rotate', key: row }) },
                            { label: 'Revoke', icon: 'trash', danger: true, onSelect: () => setDialog({ kind: 'revoke', key: row }) },
                          ]}
                        />
                      ),
                  },
                ]}
              />
            )}
          </Card>
        )}
      </Loaded>
      {dialog?.kind === 'create' && keys.data && <Edit all={keys.data} onClose={close} onCreated={(key) => setDialog({ kind: 'show', key })} />}
      {dialog?.kind === 'edit' && keys.data && <Edit all={keys.data} of={dialog.key} onClose={close} onCreated={close} />}
      {dialog?.kind === 'rotate' && <Rotate of={dialog.key} onClose={close} onCreated={(key) => setDialog({ kind: 'show', key })} />}
      {dialog?.kind === 'show' && <Show made={dialog.key} onClose={close} />}
      {dialog?.kind === 'revoke' && (
        <Confirm title={`Revoke ${dialog.key.name}?`} action="Revoke key" onClose={close} onConfirm={() => revoke(dialog.key)}>
          <p>Calls with <span className="mono">tg_live_{dialog.key.prefix}...</span> fail from now on. This cannot be undone.</p>
        </Confirm>
      )}
    </Page>
  );
}

function KeyState({ row }: { row: Key }) {
  if (row.revoked_at) return <Badge tone="bad">revoked</Badge>;
  if (row.expires_at && Date.parse(row.expires_at) < Date.now()) return <Badge tone="bad">expired</Badge>;
  if (row.expires_at) return <span className="row"><Badge tone="ok">active</Badge><span className="small muted">until <Time at={row.expires_at} /></span></span>;
  return <Badge tone="ok">active</Badge>;
}

function Scopes({ row, all }: { row: Key; all: string[] }) {
  if (row.scopes.length >= all.length) return <span>all</span>;
  return <span className="small">{row.scopes.join(', ')}</span>;
}

function limits(row: Key): string {
  const parts = [row.rpm && `${row.rpm} a minute`, row.rpd && `${row.rpd} a day`, row.ip_allowlist.length > 0 && `from ${row.ip_allowlist.join(', ')}`];
  return parts.filter(Boolean).join('; ') || 'none of its own';
}

/** A choice of its own, not one of the checks. */
const USERS_ANY = 'users:any';
const DAY_MS = 86_400_000;
const LIVES = [['', 'Never'], ['7', 'In a week'], ['30', 'In 30 days'], ['90', 'In 90 days'], ['365', 'In a year']] as const;

function Edit({ all, of, onClose, onCreated }: { all: All; of?: Key; onClose: () => void; onCreated: (key: NewKey) => void }) {
  const me = useMe();
  const client = useQueryClient();
  const toast = useToast();
  const [name, setName] = useState(of?.name ?? '');
  const [userId, setUserId] = useState(of?.user_id ?? me.user_id);
  const [scopes, setScopes] = useState(new Set(of?.scopes ?? all.default_scopes));
  const [rpm, setRpm] = useState(String(of?.rpm ?? ''));
  const [rpd, setRpd] = useState(String(of?.rpd ?? ''));
  const [life, setLife] = useState(of ? 'keep' : '');
  const [ips, setIps] = useState(of?.ip_allowlist.join('\n') ?? '');
  const expires = () => (life ? new Date(Date.now() + Number(life) * DAY_MS).toISOString() : null);
  const save = useMutation({
    mutationFn: () => {
      const given = {
        name,
        scopes: [...scopes],
        rpm: rpm ? Number(rpm) : null,
        rpd: rpd ? Number(rpd) : null,
        ip_allowlist: ips.split(/[\s,]+/).filter(Boolean),
        ...(life !== 'keep' && { expires_at: expires() }),
      };
      if (of) return call<Key>('PATCH', `/keys/${of.key_id}`, { body: given });
      const set = Object.fromEntries(Object.entries({ ...given, user_id: userId }).filter(([, value]) => value != null));
      return call<NewKey>('POST', '/keys', { body: set });
    },
    onSuccess: (key) => {
      void client.invalidateQueries({ queryKey: ['keys'] });
      if (of) {
        toast.success('Saved');
        onClose();
      } else onCreated(key as NewKey);
    },
  });
  const toggle = (scope: string, on: boolean) => {
    const next = new Set(scopes);
    if (on) next.add(scope);
    else next.delete(scope);
    setScopes(next);
  };
  const acts = scopes.has(USERS_ANY) || scopes.has('admin') ? 'any' : 'own';
  const digits = (set: (text: string) => void) => (text: string) => set(text.replace(/\D/g, ''));
  return (
    <Dialog
      title={of ? `Edit ${of.name}` : 'Create key'}
      onClose={onClose}
      onSubmit={() => save.mutate()}
      footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" busy={save.isPending} disabled={!name.trim() || scopes.size === 0}>{of ? 'Save' : 'Create key'}</Button></>}
    >
      {save.error && <ErrorNote error={save.error} />}
      <TextField label="Name" name="name" required hint="Where it is used, for example: research agent, staging." value={name} onChange={setName} />
      <SelectField
        label="Acts for"
        hint={acts === 'any' ? 'For a program that serves several people: each call names a user, and the key can use the connections of all of them.' : 'A call that names another user is refused.'}
        value={acts}
        onChange={(value) => toggle(USERS_ANY, value === 'any')}
        options={[['own', 'its own user only'], ['any', 'any user of the workspace']]}
      />
      {!of && <TextField label="User" name="user_id" hint={acts === 'any' ? 'Whose connections and permissions its calls use, unless a call names another.' : 'Whose connections and permissions its calls use.'} value={userId} onChange={setUserId} maxLength={128} />}
      <fieldset className="plain">
        <legend>Scopes</legend>
        <div className="checks">
          {all.scopes.filter((scope) => scope !== USERS_ANY).map((scope) => (
            <CheckField key={scope} label={scope} checked={scopes.has(scope)} onChange={(on) => toggle(scope, on)} />
          ))}
        </div>
      </fieldset>
      <div className="columns two">
        <TextField label="Requests a minute" inputMode="numeric" hint={`At most ${all.rpm_max}. Leave empty for no limit of its own.`} value={rpm} onChange={digits(setRpm)} />
        <TextField label="Requests a day" inputMode="numeric" hint={`At most ${all.rpd_max}. Leave empty for no limit.`} value={rpd} onChange={digits(setRpd)} />
      </div>
      <SelectField label="Expires" value={life} onChange={setLife} options={of ? [['keep', of.expires_at ? 'No change' : 'Never (no change)'], ...LIVES] : LIVES} />
      <TextArea label="Allowed addresses" rows={2} code hint="One CIDR per line, such as 10.0.0.0/8. Leave empty to allow any address." value={ips} onChange={setIps} />
    </Dialog>
  );
}

function Rotate({ of, onClose, onCreated }: { of: Key; onClose: () => void; onCreated: (key: NewKey) => void }) {
  const client = useQueryClient();
  const rotate = useMutation({
    mutationFn: () => call<NewKey>('POST', `/keys/${of.key_id}/rotate`, { body: {} }),
    onSuccess: (key) => {
      void client.invalidateQueries({ queryKey: ['keys'] });
      onCreated(key);
    },
  });
  return (
    <Dialog title={`Rotate ${of.name}`} onClose={onClose} footer={<><Button onClick={onClose}>Cancel</Button><Button kind="primary" busy={rotate.isPending} onClick={() => rotate.mutate()}>Create key</Button></>}>
      <p>This creates a second key with the same settings. The old key keeps working until you revoke it, so nothing stops while you switch.</p>
      {rotate.error && <ErrorNote error={rotate.error} />}
    </Dialog>
  );
}

function Show({ made, onClose }: { made: NewKey; onClose: () => void }) {
  const me = useMe();
  const curl = `curl -H "Authorization: Bearer ${made.key}" '${me.public_url}/v1/status'`;
  return (
    <Dialog title={`Your new key: ${made.name}`} onClose={onClose} footer={<Button kind="primary" onClick={onClose}>I have stored it</Button>}>
      <Note tone="warn"><p>This is the only time the key is shown. Keep it out of source code and public places.</p></Note>
      <div id="new-key"><CopyLine text={made.key} label="key" /></div>
      <p>Try it:</p>
      <Code text={curl} label="curl command" />
    </Dialog>
  );
}

// The signed-in person: name, password, where they are signed in.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { showChanged } from '../api/changed';
import { call } from '../api/client';
import type { Me, SignIn } from '../api/types';
import { useMe } from '../shell/me';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { TextField } from '../ui/field';
import { ErrorNote } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { Table } from '../ui/table';
import { Time } from '../ui/time';
import { useToast } from '../ui/toast';

export default function Account() {
  return (
    <Page title="Your account">
      <div className="stack">
        <div className="columns two">
          <Person />
          <Password />
        </div>
        <SignIns />
      </div>
    </Page>
  );
}

function Person() {
  const me = useMe();
  const client = useQueryClient();
  const toast = useToast();
  const [name, setName] = useState(me.name);
  const save = useMutation({
    mutationFn: () => call<Me>('PATCH', '/me', { body: { name } }),
    onSuccess: (next) => {
      showChanged(client, ['me'], next);
      toast.success('Saved');
    },
  });
  return (
    <Card title="You">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Pairs items={[['E-mail', me.email], ['Role', <Badge>{me.role}</Badge>], ['Your user', <span className="mono">{me.user_id}</span>]]} />
        <TextField label="Name" autoComplete="name" value={name} onChange={setName} maxLength={200} />
        {save.error && <ErrorNote error={save.error} />}
        <div><Button type="submit" kind="primary" busy={save.isPending} disabled={name === me.name || !name.trim()}>Save</Button></div>
      </form>
    </Card>
  );
}

function Password() {
  const me = useMe();
  const toast = useToast();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useMutation({
    mutationFn: () => call('POST', '/me/password', { body: { current_password: current, new_password: next } }),
    onSuccess: () => {
      setCurrent('');
      setNext('');
      toast.success('Password changed. You are signed out everywhere else.');
    },
  });
  return (
    <Card title="Password">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <input type="hidden" name="username" autoComplete="username" value={me.email} readOnly />
        <TextField label="Current password" type="password" autoComplete="current-password" value={current} onChange={setCurrent} />
        <TextField label="New password" type="password" autoComplete="new-password" hint="At least 12 characters. This signs you out everywhere else." value={next} onChange={setNext} />
        {change.error && <ErrorNote error={change.error} />}
        <div><Button type="submit" busy={change.isPending} disabled={!current || next.length < 12}>Change password</Button></div>
      </form>
    </Card>
  );
}

function SignIns() {
  const client = useQueryClient();
  const toast = useToast();
  const list = useQuery({ queryKey: ['sign-ins'], queryFn: () => call<{ sign_ins: SignIn[] }>('GET', '/me/sign-ins') });
  const end = (id: string) => {
    call('DELETE', `/me/sign-ins/${id}`)
      .then(() => {
        void client.invalidateQueries({ queryKey: ['sign-ins'] });
        toast.success('Signed out there');
      })
      .catch(toast.error);
  };
  return (
    <Card title="Where you are signed in" flush>
      <Loaded query={list}>
        {(data) => (
          <Table
            caption="Sign-ins"
            rows={data.sign_ins}
            rowKey={(row) => row.sign_in_id}
            columns={[
              { head: 'Browser', cell: (row) => <span className="small">{row.user_agent ?? 'unknown'}</span> },
              { head: 'From', cell: (row) => row.address ?? 'unknown' },
              { head: 'Since', cell: (row) => <Time at={row.created_at} /> },
              { head: 'Last seen', cell: (row) => <Time at={row.last_seen_at} /> },
              { head: 'Actions', align: 'acts', cell: (row) => (row.current ? <Badge tone="ok">this one</Badge> : <Button size="small" onClick={() => end(row.sign_in_id)}>End</Button>) },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

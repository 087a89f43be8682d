import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client';
import type { User } from '../api/types';
import { useIsAdmin, useMe } from '../shell/me';
import { useAddressState } from '../ui/address';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { TextField } from '../ui/field';
import { Empty } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Table } from '../ui/table';
import { count, Time } from '../ui/time';
import { USER_ID } from '../ui/user-id';
import Permissions from './permissions';

export default function Users() {
  const me = useMe();
  return useIsAdmin() ? <All /> : <Permissions of={me.user_id} />;
}

function All() {
  const [typed, setTyped] = useAddressState('query');
  const [adding, setAdding] = useState(false);
  const query = useDeferredValue(typed.trim());
  const users = useQuery({
    queryKey: ['permissions', 'users', query],
    queryFn: () => call<{ users: User[] }>('GET', '/users', { query: { query, limit: 100 } }),
    placeholderData: keepPreviousData,
  });
  const add = <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>User</Button>;
  return (
    <Page title="Users and permissions" about="The people and programs that tools run for. A user appears with their first call or rule. Open one to allow, ask or deny by service and tool." actions={add}>
      <div className="filters" role="search">
        <div className="search"><TextField bare label="Filter users" type="search" placeholder="Filter by id" value={typed} onChange={setTyped} /></div>
      </div>
      <Card flush>
        <Loaded query={users}>
          {(data) =>
            data.users.length === 0 ? (
              <Empty icon="members" title={query ? 'No matches' : 'No users yet'} action={query ? <Button onClick={() => setTyped('')}>Clear filters</Button> : add}>
                A user is an ID that you choose, such as an e-mail address. Assign one to a key, or name one in a call.
              </Empty>
            ) : (
              <Table
                caption="Users"
                rows={data.users}
                rowKey={(row) => row.user_id}
                columns={[
                  { head: 'User', cell: (row) => <Link href={`/permissions/${encodeURIComponent(row.user_id)}`} className="strong">{row.user_id}</Link> },
                  { head: 'Connections', align: 'right', cell: (row) => row.connections },
                  { head: 'Rules', align: 'right', cell: (row) => row.rules },
                  { head: 'Calls, 30 days', align: 'right', cell: (row) => count(row.calls_30d) },
                  { head: 'Last seen', cell: (row) => <Time at={row.last_seen_at} /> },
                ]}
              />
            )
          }
        </Loaded>
      </Card>
      {adding && <Add onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Add({ onClose }: { onClose: () => void }) {
  const [, go] = useLocation();
  const [id, setId] = useState('');
  const wrong = id !== '' && !USER_ID.test(id) ? 'Use only letters, digits and . _ : @ -, at most 128 characters' : null;
  return (
    <Dialog
      title="Add a user"
      onClose={onClose}
      onSubmit={() => USER_ID.test(id) && go(`/permissions/${encodeURIComponent(id)}`)}
      footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" disabled={!USER_ID.test(id)}>Open</Button></>}
    >
      <TextField label="User id" hint="As your agents will send it. The user does not need to have made a call yet." wrong={wrong} value={id} onChange={setId} />
    </Dialog>
  );
}

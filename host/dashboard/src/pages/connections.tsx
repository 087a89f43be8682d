// Every connection that the reader may see: by user, service and state.

import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { ConnectionPage } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { useAddressState } from '../ui/address';
import { Button } from '../ui/button';
import { ConnectionTable } from '../ui/connection-table';
import { SelectField, TextField } from '../ui/field';
import { Filters } from '../ui/filters';
import { Empty, ErrorNote, Waiting } from '../ui/note';
import { Card, Page } from '../ui/page';
import { useServices } from '../ui/services';
import { ShowMore } from '../ui/show-more';
import { USER_ID, USER_ID_RULE } from '../ui/user-id';

const STATES = [
  ['', 'Any state'],
  ['active', 'Active'],
  ['reauth_needed', 'To be made again'],
  ['cooling_down', 'Tried again soon'],
  ['refreshing', 'Being renewed'],
  ['revoked', 'Revoked'],
] as const;

export default function Connections() {
  const admin = useIsAdmin();
  const services = useServices();
  const [user, setUser] = useAddressState('user_id');
  const [service, setService] = useAddressState('service');
  const [state, setState] = useAddressState('state');
  const typed = useDeferredValue(user.trim());
  const wrong = typed !== '' && !USER_ID.test(typed);
  const list = useInfiniteQuery({
    queryKey: ['connections', 'list', wrong ? '' : typed, service],
    queryFn: ({ pageParam }) => call<ConnectionPage>('GET', '/connections', { query: { user_id: wrong ? '' : typed, service, limit: 100, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const all = list.data?.pages.flatMap((page) => page.connections) ?? [];
  const shown = all.filter((one) => state === '' || one.state === state);
  const filtered = [typed, service, state].some(Boolean);
  const clear = () => [setUser, setService, setState].forEach((set) => set(''));
  const connectable = (services.data?.services ?? []).filter((one) => one.auth.length > 0);
  return (
    <Page title="Connections" about="Accounts that tools use. Each belongs to one user at one service; its credential stays in the gateway." actions={<Link className="button primary" href="/integrations?state=ready">Connect a service</Link>}>
      <Filters set={[service, state].filter(Boolean).length}>
        {admin && <div className="search"><TextField bare label="User" type="search" placeholder="Exact user ID" value={user} onChange={setUser} maxLength={128} wrong={wrong ? USER_ID_RULE : null} /></div>}
        <SelectField bare label="Service" className="narrow" value={service} onChange={setService} options={[['', 'Any service'], ...connectable.map((one) => [one.service, one.title] as const)]} />
        <SelectField bare label="State" className="narrow" value={state} onChange={setState} options={STATES} />
        {filtered && <Button kind="quiet" size="small" onClick={clear}>Clear filters</Button>}
      </Filters>
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Waiting />}
      {list.data && (
        <Card flush>
          {shown.length === 0 ? (
            <Empty
              icon="connections"
              title={filtered ? (list.hasNextPage ? 'No matches in the newest connections' : 'No matches') : 'No connections yet'}
              action={filtered ? (list.hasNextPage ? <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>Search further back</Button> : <Button onClick={clear}>Clear filters</Button>) : <Link className="button primary" href="/integrations?state=ready">Connect a service</Link>}
            >
              {filtered ? 'A user ID has to match exactly.' : 'Choose a service and connect your account, or let an agent ask its user: the first call of a tool that needs one answers with a link.'}
            </Empty>
          ) : (
            <>
              <ConnectionTable caption="Connections, newest first" connections={shown} />
              <ShowMore list={list} />
            </>
          )}
        </Card>
      )}
    </Page>
  );
}

// Triggers: which services are polled for whom, and how each of them fares.

import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { Trigger, TriggerList } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { useAddressState } from '../ui/address';
import { useAskedFor } from '../ui/asked-for';
import { Button } from '../ui/button';
import { SelectField, TextField } from '../ui/field';
import { Filters } from '../ui/filters';
import { Logo } from '../ui/logo';
import { NewTrigger } from '../ui/new-trigger';
import { Empty, ErrorNote, Waiting } from '../ui/note';
import { useOfferedTriggers } from '../ui/offered-triggers';
import { Card, Page } from '../ui/page';
import { useServices } from '../ui/services';
import { ShowMore } from '../ui/show-more';
import { Table } from '../ui/table';
import { count, Time } from '../ui/time';
import { TRIGGER_STATES, TriggerHealth } from '../ui/trigger-state';
import { USER_ID, USER_ID_RULE } from '../ui/user-id';

const ABOUT = 'A trigger polls a service that sends no events by itself. Each new item, such as a mail or an order, becomes an event for your webhooks.';

export default function Triggers() {
  const admin = useIsAdmin();
  const services = useServices();
  const [making, setMaking] = useState(false);
  useAskedFor('new', () => admin && setMaking(true));
  const [user, setUser] = useAddressState('user_id');
  const [service, setService] = useAddressState('service');
  const [state, setState] = useAddressState('state');
  const typed = useDeferredValue(user.trim());
  const wrong = typed !== '' && !USER_ID.test(typed);
  const user_id = wrong ? '' : typed;
  const list = useInfiniteQuery({
    queryKey: ['triggers', 'list', user_id],
    queryFn: ({ pageParam }) => call<TriggerList>('GET', '/triggers', { query: { user_id, limit: 100, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const all = list.data?.pages.flatMap((page) => page.triggers) ?? [];
  const shown = all.filter((one) => (service === '' || one.service === service) && (state === '' || one.state === state));
  const filtered = [typed, service, state].some(Boolean);
  const clear = () => [setUser, setService, setState].forEach((set) => set(''));
  const titleOf = (name: string) => services.data?.services.find((one) => one.service === name)?.title ?? name;
  const polled = [...new Set(all.map((one) => one.service).concat(service || []))].sort();
  const make = admin && <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>New trigger</Button>;
  const noMatch = list.hasNextPage ? <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>Search further back</Button> : <Button onClick={clear}>Clear filters</Button>;
  return (
    <Page title="Triggers" about={ABOUT} actions={make}>
      <Filters set={[service, state].filter(Boolean).length}>
        {admin && <div className="search"><TextField bare label="User" type="search" placeholder="Exact user ID" value={user} onChange={setUser} maxLength={128} wrong={wrong ? USER_ID_RULE : null} /></div>}
        <SelectField bare label="Service" className="narrow" value={service} onChange={setService} options={[['', 'Any service'], ...polled.map((name) => [name, titleOf(name)] as const)]} />
        <SelectField bare label="State" className="narrow" value={state} onChange={setState} options={TRIGGER_STATES} />
        {filtered && <Button kind="quiet" size="small" onClick={clear}>Clear filters</Button>}
      </Filters>
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Waiting />}
      {list.data && (
        <Card flush>
          {shown.length === 0 ? (
            <Empty icon="triggers" title={filtered ? (list.hasNextPage ? 'No matches in the newest triggers' : 'No matches') : 'No triggers yet'} action={filtered ? noMatch : make}>
              {filtered ? 'A user ID has to match exactly.' : 'Choose a service and what is to be watched. A webhook for trigger.* receives what is found.'}
            </Empty>
          ) : (
            <>
              <List triggers={shown} titleOf={titleOf} />
              <ShowMore list={list} />
            </>
          )}
        </Card>
      )}
      {making && <NewTrigger onClose={() => setMaking(false)} />}
    </Page>
  );
}

function List({ triggers, titleOf }: { triggers: Trigger[]; titleOf: (service: string) => string }) {
  const admin = useIsAdmin();
  const offered = useOfferedTriggers();
  const nameOf = (row: Trigger) => offered.data?.triggers.find((one) => one.service === row.service && one.trigger === row.trigger)?.title ?? row.trigger;
  return (
    <Table
      caption="Triggers, newest first"
      rows={triggers}
      rowKey={(row) => row.trigger_id}
      columns={[
        { head: 'Trigger', cell: (row) => <Link href={`/triggers/${row.trigger_id}`} className="row named"><Logo service={row.service} title={titleOf(row.service)} size={20} /><span><span className="strong">{nameOf(row)}</span> <span className="small muted">{titleOf(row.service)}</span></span></Link> },
        { head: 'User', cell: (row) => (admin ? <Link href={`/permissions/${encodeURIComponent(row.user_id)}`}>{row.user_id}</Link> : row.user_id) },
        { head: 'State', cell: (row) => <TriggerHealth trigger={row} title={titleOf(row.service)} /> },
        { head: 'Last poll', cell: (row) => <Time at={row.last_poll_at} /> },
        { head: 'Last item', cell: (row) => <Time at={row.last_item_at} /> },
        { head: 'Items found', align: 'right', cell: (row) => count(row.items_found) },
      ]}
    />
  );
}

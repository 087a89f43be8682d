// The form for a new trigger: a service, what is watched there, for whom, and the arguments of its tool.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { showChanged } from '../api/changed';
import { call } from '../api/client';
import type { ConnectionPage, OfferedTrigger, Service, ToolSchema, Trigger } from '../api/types';
import { useIsAdmin, useMe } from '../shell/me';
import { Button } from './button';
import { ConnectAgain } from './connect-own';
import { Dialog } from './dialog';
import { SelectField, TextField } from './field';
import { Empty, ErrorNote, Note } from './note';
import { useOfferedTriggers } from './offered-triggers';
import { Loaded } from './page';
import { SchemaForm, violationsOf, type Arguments, type Violations } from './schema-form';
import { useServices } from './services';
import { chosenSchema, every, intervals } from './trigger-rules';
import { USER_ID, USER_ID_RULE } from './user-id';

const TITLE = 'New trigger';

export function NewTrigger({ onClose }: { onClose: () => void }) {
  const offered = useOfferedTriggers();
  const services = useServices();
  const [first] = offered.data?.triggers ?? [];
  if (first && offered.data && services.data) return <Form all={offered.data.triggers} first={first} services={services.data.services} onClose={onClose} />;
  return (
    <Dialog title={TITLE} onClose={onClose} footer={<Button onClick={onClose}>Cancel</Button>}>
      <Loaded query={services}>
        {() => (
          <Loaded query={offered}>
            {() => (
              <Empty icon="triggers" title="No integration here has triggers" action={<Link className="button" href="/plugins">Plugins</Link>}>
                A plugin declares them at a tool that reads.
              </Empty>
            )}
          </Loaded>
        )}
      </Loaded>
    </Dialog>
  );
}

const DAY_MS = 86_400_000;
/** How far back items that are there already become events, in days. */
const SINCE = [['', 'Only items that are new from now on'], ['1', 'Items of the last day too'], ['7', 'Items of the last 7 days too']] as const;

interface FormProps {
  all: OfferedTrigger[];
  first: OfferedTrigger;
  services: Service[];
  onClose: () => void;
}

function Form({ all, first, services, onClose }: FormProps) {
  const admin = useIsAdmin();
  const me = useMe();
  const client = useQueryClient();
  const [, go] = useLocation();
  const [chosen, setChosen] = useState(first);
  const [user, setUser] = useState(me.user_id);
  const [connection, setConnection] = useState('');
  const [interval, setInterval] = useState('');
  const [since, setSince] = useState('');
  const [config, setConfig] = useState<Arguments>({});
  const userId = user.trim();
  const isUser = USER_ID.test(userId);
  const save = useMutation({
    mutationFn: () => {
      const given = {
        ...(connection && { connection_id: connection }),
        ...(interval && { interval_s: Number(interval) }),
        ...(since && { since: new Date(Date.now() - Number(since) * DAY_MS).toISOString() }),
      };
      return call<Trigger>('POST', '/triggers', { body: { service: chosen.service, trigger: chosen.trigger, user_id: userId, config, ...given } });
    },
    onSuccess: (trigger) => {
      showChanged(client, ['triggers', trigger.trigger_id], trigger);
      go(`/triggers/${trigger.trigger_id}`);
    },
  });
  const choose = (next: OfferedTrigger | undefined) => {
    if (!next) return;
    setChosen(next);
    setConfig({});
    setInterval('');
    setSince('');
    save.reset();
    if (next.service !== chosen.service) setConnection('');
  };
  const titles = new Map(services.map((one) => [one.service, one.title]));
  const service = services.find((one) => one.service === chosen.service);
  const names = [...new Set(all.map((one) => one.service))].map((name) => [name, titles.get(name) ?? name] as const);
  const here = all.filter((one) => one.service === chosen.service);
  return (
    <Dialog wide title={TITLE} onClose={onClose} onSubmit={() => save.mutate()} footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" disabled={!isUser} busy={save.isPending}>Create trigger</Button></>}>
      <SelectField label="Service" value={chosen.service} onChange={(name) => choose(all.find((one) => one.service === name))} options={names.sort(([, a], [, b]) => a.localeCompare(b))} />
      <SelectField label="Trigger" hint={chosen.description} value={chosen.trigger} onChange={(name) => choose(here.find((one) => one.trigger === name))} options={here.map((one) => [one.trigger, one.title])} />
      {admin && <TextField label="User" hint="The user whose permissions and connection each poll uses." maxLength={128} value={user} onChange={(text) => { setUser(text); setConnection(''); }} wrong={isUser ? null : USER_ID_RULE} />}
      {isUser && service && service.auth.length > 0 && <ConnectionField service={service} userId={userId} value={connection} onChange={setConnection} />}
      {isUser && <Config key={`${chosen.service} ${chosen.trigger}`} offered={chosen} userId={userId} value={config} onChange={setConfig} violations={violationsOf(save.error)} />}
      <SelectField label="Interval" value={interval} onChange={setInterval} options={[['', `${every(chosen.interval_s)} (default)`], ...intervals(chosen.interval_s).map((seconds) => [String(seconds), every(seconds)] as const)]} />
      {chosen.has_times && <SelectField label="Begins with" value={since} onChange={setSince} options={SINCE} />}
      {save.error && <ErrorNote error={save.error} />}
    </Dialog>
  );
}

/** The arguments that are to be chosen, as the tool's schema describes them. */
function Config({ offered, userId, value, onChange, violations }: { offered: OfferedTrigger; userId: string; value: Arguments; onChange: (value: Arguments) => void; violations: Violations }) {
  const asked = useDeferredValue(userId);
  const schema = useQuery({
    queryKey: ['tools', 'schema', offered.tool_name, asked],
    queryFn: () => call<ToolSchema>('GET', `/tools/${encodeURIComponent(offered.tool_name)}/schema`, { query: { user_id: asked } }),
  });
  return (
    <fieldset className="plain">
      <legend>What is watched</legend>
      <Loaded query={schema}>{(tool) => <SchemaForm schema={chosenSchema(tool.inputSchema, offered)} value={value} onChange={onChange} violations={violations} />}</Loaded>
    </fieldset>
  );
}

/** A choice where the user has several; the next step where there is none. */
function ConnectionField({ service, userId, value, onChange }: { service: Service; userId: string; value: string; onChange: (value: string) => void }) {
  const asked = useDeferredValue(userId);
  const list = useQuery({
    queryKey: ['connections', 'of', asked, service.service],
    queryFn: () => call<ConnectionPage>('GET', '/connections', { query: { user_id: asked, service: service.service, limit: 100 } }),
  });
  if (list.error) return <ErrorNote error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return null;
  const usable = list.data.connections.filter((one) => one.state !== 'revoked');
  if (usable.length === 0) {
    return (
      <Note tone="warn">
        <p>{asked} has not connected {service.title} yet. Until then the trigger waits.</p>
        <div><ConnectAgain service={service.service} title={service.title} userId={asked} /></div>
      </Note>
    );
  }
  if (usable.length === 1) return null;
  const options = usable.map((one) => [one.connection_id, one.account ?? one.connection_id] as const);
  return <SelectField label="Connection" value={value} onChange={onChange} options={[['', 'The one that a call would use'], ...options]} />;
}

// What one user may do: a row per service, its tools below it, rules for a time, and why.

import { useMutation, useQuery, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { Tabs } from 'radix-ui';
import { useState } from 'react';
import { useParams } from 'wouter';
import { call } from '../api/client';
import type { Explained, LimitedRule, Permission, PermissionCounts, PermissionSummary, Setting, UserPermissions } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { Badge, State } from '../ui/badge';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { CheckField, SelectField, TextField } from '../ui/field';
import { Empty, ErrorNote } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Segments } from '../ui/segments';
import { Table } from '../ui/table';
import { plural, Time } from '../ui/time';
import { useSay } from '../ui/toast';
import { useServiceTools } from '../ui/service-tools';

interface ListedService {
  service: string;
  display_name: string;
  tools: number;
}

const SETTINGS: { value: Setting; label: string; tone?: 'ok' | 'warn' | 'bad' }[] = [
  { value: 'inherit', label: 'Default' },
  { value: 'allow', label: 'Allow', tone: 'ok' },
  { value: 'ask', label: 'Ask', tone: 'warn' },
  { value: 'deny', label: 'Deny', tone: 'bad' },
];

interface Change {
  services?: Record<string, Setting>;
  tools?: Record<string, Setting>;
}
type Changing = UseMutationResult<UserPermissions, Error, Change>;

/** `of`: the user, where the address does not name one. */
export default function Permissions({ of }: { of?: string }) {
  const params = useParams<{ user?: string }>();
  const user = of ?? decodeURIComponent(params.user ?? '');
  const admin = useIsAdmin();
  const client = useQueryClient();
  const say = useSay();
  const [limiting, setLimiting] = useState(false);
  const path = `/permissions/users/${encodeURIComponent(user)}`;
  const rules = useQuery({ queryKey: ['permissions', user], queryFn: () => call<UserPermissions>('GET', path) });
  const services = useQuery({ queryKey: ['permissions', 'services'], queryFn: () => call<{ services: ListedService[] }>('GET', '/permissions/services'), staleTime: 60_000 });
  const change: Changing = useMutation<UserPermissions, Error, Change>({
    mutationFn: (body: Change) => call<UserPermissions>('PATCH', `${path}/batch`, { body }),
    onSuccess: (next) => {
      client.setQueryData(['permissions', user], next);
      void client.invalidateQueries({ queryKey: ['permissions', user] });
    },
    onError: say.failed,
  });
  return (
    <Page
      title={of ? 'Your permissions' : user}
      about="A rule for a tool beats one for its service, which beats the workspace's default. Ask parks a call until a member approves it."
      {...(!of && { back: { to: '/permissions', name: 'Users' } })}
      actions={admin && <Button kind="primary" icon="plus" onClick={() => setLimiting(true)}>Rule for a time</Button>}
    >
      <Loaded query={rules}>
        {(data) => (
          <div className="stack">
            <Summary user={user} rules={data} />
            {data.limited && data.limited.length > 0 && <Limited user={user} rules={data.limited} />}
            <Tabs.Root defaultValue="matrix">
              <Tabs.List className="tabs" aria-label="Permissions">
                <Tabs.Trigger className="tab" value="matrix">By service and tool</Tabs.Trigger>
                <Tabs.Trigger className="tab" value="explain">Explain</Tabs.Trigger>
              </Tabs.List>
              <Tabs.Content value="matrix" tabIndex={-1}>
                <Loaded query={services}>{(listed) => <Matrix user={user} rules={data} services={listed.services} change={change} readOnly={!admin} />}</Loaded>
              </Tabs.Content>
              <Tabs.Content value="explain" tabIndex={-1}><Explain user={user} /></Tabs.Content>
            </Tabs.Root>
          </div>
        )}
      </Loaded>
      {limiting && <LimitedDialog user={user} services={services.data?.services ?? []} onClose={() => setLimiting(false)} />}
    </Page>
  );
}

function useSummary(user: string) {
  return useQuery({ queryKey: ['permissions', user, 'summary'], queryFn: () => call<PermissionSummary>('GET', `/permissions/users/${encodeURIComponent(user)}/summary`) });
}

function Summary({ user, rules }: { user: string; rules: UserPermissions }) {
  const summary = useSummary(user);
  const total = summary.data?.total;
  return (
    <dl className="stats">
      {(['allow', 'ask', 'deny'] as const).map((name) => (
        <div className="stat" key={name}>
          <dt>{{ allow: 'Tools allowed', ask: 'Tools that ask', deny: 'Tools denied' }[name]}</dt>
          <dd>{total?.[name] ?? ' '}</dd>
        </div>
      ))}
      <div className="stat">
        <dt>Without a rule</dt>
        <dd>{rules.default === 'allow' ? 'allow' : 'by effect'}</dd>
      </div>
    </dl>
  );
}

interface MatrixProps {
  user: string;
  rules: UserPermissions;
  services: ListedService[];
  change: Changing;
  readOnly: boolean;
}

function Matrix({ user, rules, services, change, readOnly }: MatrixProps) {
  const summary = useSummary(user);
  const [typed, setTyped] = useState('');
  const [only, setOnly] = useState('');
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const [open, setOpen] = useState<string | null>(null);
  const ruled = new Set([...Object.keys(rules.services), ...Object.keys(rules.tools).map((tool) => services.find((item) => tool.startsWith(`${item.service}_`))?.service ?? '')]);
  const shown = services.filter((item) => `${item.service} ${item.display_name}`.toLowerCase().includes(typed.toLowerCase()) && (only === '' || ruled.has(item.service)));
  const choose = (service: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(service);
    else next.delete(service);
    setChosen(next);
  };
  const all = shown.length > 0 && shown.every((item) => chosen.has(item.service));
  const apply = (setting: Setting) => {
    change.mutate({ services: Object.fromEntries([...chosen].map((service) => [service, setting])) }, { onSuccess: () => setChosen(new Set()) });
  };
  if (services.length === 0) return <Card><Empty icon="permissions" title="No services">Rules are about the tools of services. Add a plugin first.</Empty></Card>;
  return (
    <>
      <div className="filters" role="search">
        <div className="search"><TextField bare label="Filter services" type="search" placeholder="Filter services" value={typed} onChange={setTyped} /></div>
        <SelectField bare label="Which" className="narrow" value={only} onChange={setOnly} options={[['', 'All services'], ['ruled', 'With a rule']]} />
      </div>
      <Card
        flush
        title={
          readOnly ? (
            plural(shown.length, 'service')
          ) : (
            <CheckField label={chosen.size > 0 ? `${chosen.size} chosen` : `Choose all ${shown.length}`} checked={all} onChange={(on) => setChosen(on ? new Set(shown.map((item) => item.service)) : new Set())} />
          )
        }
        actions={
          chosen.size > 0 &&
          SETTINGS.map((setting) => (
            <Button key={setting.value} size="small" busy={change.isPending} onClick={() => apply(setting.value)}>
              {setting.label}
            </Button>
          ))
        }
      >
        {shown.length === 0 && <Empty icon="search" title="None matches">Try fewer letters, or all services.</Empty>}
        <ul className="list">
          {shown.map((item) => (
            <li key={item.service} className="line">
              <div className="row apart">
                <div className="row grow">
                  {!readOnly && <CheckField label={<span className="only-read">Choose {item.display_name}</span>} checked={chosen.has(item.service)} onChange={(on) => choose(item.service, on)} />}
                  <button type="button" className="button quiet small" aria-expanded={open === item.service} onClick={() => setOpen(open === item.service ? null : item.service)}>
                    <span aria-hidden="true">{open === item.service ? '▾' : '▸'}</span>
                    {item.display_name}
                  </button>
                  <Counts counts={summary.data?.services[item.service]} total={item.tools} />
                </div>
                <Segments label={`Rule for ${item.display_name}`} value={rules.services[item.service] ?? 'inherit'} options={SETTINGS} disabled={readOnly} onChange={(setting) => change.mutate({ services: { [item.service]: setting } })} />
              </div>
              {open === item.service && <ToolRules service={item.service} rules={rules} change={change} readOnly={readOnly} />}
            </li>
          ))}
        </ul>
      </Card>
    </>
  );
}

function Counts({ counts, total }: { counts: PermissionCounts | undefined; total: number }) {
  if (!counts) return <span className="muted small">{plural(total, 'tool')}</span>;
  return (
    <span className="row">
      {counts.allow > 0 && <Badge tone="ok">{counts.allow} allow</Badge>}
      {counts.ask > 0 && <Badge tone="warn">{counts.ask} ask</Badge>}
      {counts.deny > 0 && <Badge tone="bad">{counts.deny} deny</Badge>}
    </span>
  );
}

function ToolRules({ service, rules, change, readOnly }: { service: string; rules: UserPermissions; change: Changing; readOnly: boolean }) {
  const tools = useServiceTools(service);
  const ruled = Object.keys(rules.tools).filter((name) => name.startsWith(`${service}_`));
  return (
    <Loaded query={tools}>
      {(list) => (
        <ul className="list stack tight below">
          {[...new Set([...list.map((tool) => tool.name), ...ruled])].sort().map((name) => (
            <li key={name} className="row apart">
              <span className="mono grow">{name}</span>
              <Segments label={`Rule for ${name}`} value={rules.tools[name] ?? 'inherit'} options={SETTINGS} disabled={readOnly} onChange={(setting) => change.mutate({ tools: { [name]: setting } })} />
            </li>
          ))}
        </ul>
      )}
    </Loaded>
  );
}

function Limited({ user, rules }: { user: string; rules: LimitedRule[] }) {
  const admin = useIsAdmin();
  const client = useQueryClient();
  const say = useSay();
  const end = (rule: LimitedRule) => {
    const about = rule.tool_name ? `tools/${rule.tool_name}` : `services/${rule.service}`;
    call<UserPermissions>('PATCH', `/permissions/users/${encodeURIComponent(user)}/${about}`, { body: { permission: 'inherit' } })
      .then(() => {
        void client.invalidateQueries({ queryKey: ['permissions', user] });
        say.done('The rule has ended');
      })
      .catch(say.failed);
  };
  return (
    <Card title="Rules that end by themselves" flush>
      <Table
        caption="Rules that end by themselves"
        rows={rules}
        rowKey={(row) => `${row.service}/${row.tool_name}`}
        columns={[
          { head: 'For', cell: (row) => <span className="mono">{row.tool_name ?? row.service}</span> },
          { head: 'Rule', cell: (row) => <State name={row.permission} /> },
          { head: 'Ends', cell: (row) => (row.expires_at ? <Time at={row.expires_at} /> : <span className="muted">by its calls</span>) },
          { head: 'Calls', cell: (row) => (row.max_calls == null ? <span className="muted">any number</span> : `${row.used ?? 0} of ${row.max_calls}`) },
          { head: 'Actions', align: 'acts', cell: (row) => admin && <Button size="small" onClick={() => end(row)}>End now</Button> },
        ]}
      />
    </Card>
  );
}

const HOUR_MS = 3_600_000;

function LimitedDialog({ user, services, onClose }: { user: string; services: ListedService[]; onClose: () => void }) {
  const client = useQueryClient();
  const say = useSay();
  const [service, setService] = useState(services[0]?.service ?? '');
  const [tool, setTool] = useState('');
  const [permission, setPermission] = useState<Permission>('allow');
  const [hours, setHours] = useState('1');
  const [calls, setCalls] = useState('');
  const tools = useServiceTools(service);
  const save = useMutation({
    mutationFn: () => {
      const about = tool ? `tools/${tool}` : `services/${service}`;
      const expires_at = hours ? new Date(Date.now() + Number(hours) * HOUR_MS).toISOString() : undefined;
      return call<UserPermissions>('PATCH', `/permissions/users/${encodeURIComponent(user)}/${about}`, {
        body: { permission, ...(expires_at && { expires_at }), ...(calls && { max_calls: Number(calls) }) },
      });
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['permissions', user] });
      say.done('The rule holds now');
      onClose();
    },
  });
  const pairs = services.map((item) => [item.service, item.display_name] as const);
  return (
    <Dialog title="Rule for a time" onClose={onClose} onSubmit={() => save.mutate()} footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" busy={save.isPending} disabled={!service || (!hours && !calls)}>Set the rule</Button></>}>
      {save.error && <ErrorNote error={save.error} />}
      <p className="muted">It ends by itself, after the time or after the number of calls, whichever comes first; then the rule before it holds again.</p>
      <SelectField label="Service" value={service} options={pairs} onChange={(value) => { setService(value); setTool(''); }} />
      <SelectField label="Tool" value={tool} options={[['', 'All its tools'], ...(tools.data ?? []).map((item) => [item.name, item.name] as const)]} onChange={setTool} />
      <Segments label="Rule" value={permission} options={SETTINGS.filter((item) => item.value !== 'inherit') as { value: Permission; label: string }[]} onChange={setPermission} />
      <SelectField label="For" value={hours} onChange={setHours} options={[['1', 'one hour'], ['8', 'eight hours'], ['24', 'one day'], ['168', 'one week'], ['', 'until the calls are used up']]} />
      <TextField label="At most this many calls" inputMode="numeric" hint="Empty: any number." value={calls} onChange={(text) => setCalls(text.replace(/\D/g, ''))} />
    </Dialog>
  );
}

function Explain({ user }: { user: string }) {
  const [tool, setTool] = useState('');
  const explain = useMutation({
    mutationFn: () => call<Explained>('GET', `/permissions/users/${encodeURIComponent(user)}/explain`, { query: { tool_name: tool.trim() } }),
  });
  const why: Record<string, string> = {
    tool_rule: 'a rule for this tool',
    service_rule: 'a rule for its service',
    workspace_default: 'the default of the workspace',
    effect_default: 'what the tool does to the service (its effect)',
  };
  return (
    <Card>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          explain.mutate();
        }}
      >
        <TextField label="Tool" placeholder="github_create_issue" value={tool} onChange={setTool} />
        <div><Button type="submit" disabled={!tool.trim()} busy={explain.isPending}>Explain</Button></div>
        {explain.error && <ErrorNote error={explain.error} />}
        {explain.data && (
          <p aria-live="polite">
            <State name={explain.data.permission} /> <span className="mono">{explain.data.tool_name}</span> ({explain.data.effect}) is decided by {why[explain.data.decided_by] ?? explain.data.decided_by}.
            {explain.data.rule?.expires_at && <> That rule ends <Time at={explain.data.rule.expires_at} />.</>}
          </p>
        )}
      </form>
    </Card>
  );
}

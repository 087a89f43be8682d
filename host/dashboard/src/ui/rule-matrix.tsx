// The rules of a user, a row per service with its tools below it; one at a time, or many at once.

import { useQuery, type UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import type { Approvers, PermissionCounts, PermissionService, PermissionSummary, Setting, UserPermissions } from '../api/types';
import { Badge } from './badge';
import { Button } from './button';
import { CheckField, SelectField, TextField } from './field';
import { Logo } from './logo';
import { Empty } from './note';
import { Card, Loaded } from './page';
import { APPROVERS, approversOf, limitOf, whoDecides, type Kind } from './rules';
import { Segments } from './segments';
import { useServiceTools } from './service-tools';
import { plural } from './time';

export const SETTINGS: { value: Setting; label: string; tone?: 'ok' | 'warn' | 'bad' }[] = [
  { value: 'inherit', label: 'Default' },
  { value: 'allow', label: 'Allow', tone: 'ok' },
  { value: 'ask', label: 'Ask', tone: 'warn' },
  { value: 'deny', label: 'Deny', tone: 'bad' },
];

/** One rule, or the same for many services. */
export type Change = { kind: Kind; name: string; setting: Setting; approvers: Approvers } | { services: Set<string>; setting: Setting; approvers: Approvers };
export type Changing = UseMutationResult<UserPermissions, Error, Change>;

export function useSummary(user: string) {
  return useQuery({ queryKey: ['permissions', user, 'summary'], queryFn: () => call<PermissionSummary>('GET', `/permissions/users/${encodeURIComponent(user)}/summary`) });
}

interface MatrixProps {
  user: string;
  rules: UserPermissions;
  services: PermissionService[];
  change: Changing;
  readOnly: boolean;
}

export function Matrix({ user, rules, services, change, readOnly }: MatrixProps) {
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
  const [approvers, setApprovers] = useState<Approvers>('admins');
  const apply = (setting: Setting) => {
    change.mutate({ services: chosen, setting, approvers }, { onSuccess: () => setChosen(new Set()) });
  };
  if (services.length === 0) return <Card><Empty icon="permissions" title="No services">Rules apply to tools. Add a plugin first.</Empty></Card>;
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
            <CheckField label={chosen.size > 0 ? `${chosen.size} selected` : `Select all ${shown.length}`} checked={all} onChange={(on) => setChosen(on ? new Set(shown.map((item) => item.service)) : new Set())} />
          )
        }
        actions={
          chosen.size > 0 && (
            <>
              <WhoDecides label="Who decides where these ask" prefix="For Ask: " value={approvers} onChange={setApprovers} />
              {SETTINGS.map((setting) => (
                <Button key={setting.value} size="small" busy={change.isPending} onClick={() => apply(setting.value)}>
                  {setting.label}
                </Button>
              ))}
            </>
          )
        }
      >
        {shown.length === 0 && <Empty icon="search" title="No matches">Try fewer letters, or show all services.</Empty>}
        <ul className="list">
          {shown.map((item) => (
            <li key={item.service} className="line">
              <div className="row apart rule">
                <div className="row grow">
                  {!readOnly && <CheckField label={<span className="only-read">Select {item.display_name}</span>} checked={chosen.has(item.service)} onChange={(on) => choose(item.service, on)} />}
                  <button type="button" className="button quiet small" aria-expanded={open === item.service} onClick={() => setOpen(open === item.service ? null : item.service)}>
                    <span aria-hidden="true">{open === item.service ? '▾' : '▸'}</span>
                    <Logo service={item.service} title={item.display_name} size={18} />
                    {item.display_name}
                  </button>
                  <Counts counts={summary.data?.services[item.service]} total={item.tools} />
                </div>
                <RuleSwitch kind="services" name={item.service} shown={item.display_name} rules={rules} change={change} readOnly={readOnly} />
              </div>
              {open === item.service && <ToolRules service={item.service} rules={rules} change={change} readOnly={readOnly} />}
            </li>
          ))}
        </ul>
      </Card>
    </>
  );
}

interface RuleSwitchProps {
  kind: Kind;
  name: string;
  /** As people know it. */
  shown: string;
  rules: UserPermissions;
  change: Changing;
  readOnly: boolean;
}

/** The rule, and beside one that asks who decides. */
function RuleSwitch({ kind, name, shown, rules, change, readOnly }: RuleSwitchProps) {
  const setting = rules[kind][name] ?? 'inherit';
  const approvers = approversOf(rules, kind, name);
  // A rule that ends by itself is set as a whole: changing who decides would take its end away.
  const ends = limitOf(rules, kind, name) !== undefined;
  return (
    <div className="row end switch">
      {setting === 'ask' && (readOnly || ends ? (
        <span className="muted small">{APPROVERS.find(([value]) => value === approvers)?.[1]}</span>
      ) : (
        <WhoDecides label={`Who decides for ${shown}`} value={approvers} disabled={change.isPending} onChange={(next) => change.mutate({ kind, name, setting, approvers: next })} />
      ))}
      <Segments label={`Rule for ${shown}`} value={setting} options={SETTINGS} disabled={readOnly} onChange={(next) => change.mutate({ kind, name, setting: next, approvers: 'admins' })} />
    </div>
  );
}

function WhoDecides({ label, prefix = '', value, disabled, onChange }: { label: string; prefix?: string; value: Approvers; disabled?: boolean; onChange: (value: Approvers) => void }) {
  return <SelectField bare label={label} title={`Decided by ${whoDecides(value)}`} className="narrow small" value={value} disabled={disabled} options={APPROVERS.map(([name, short]) => [name, prefix + short] as const)} onChange={(text) => onChange(text as Approvers)} />;
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
            <li key={name} className="row apart rule">
              <span className="mono grow">{name}</span>
              <RuleSwitch kind="tools" name={name} shown={name} rules={rules} change={change} readOnly={readOnly} />
            </li>
          ))}
        </ul>
      )}
    </Loaded>
  );
}

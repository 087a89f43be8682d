// One user: their connections, rules and calls; what they may do, a row per service with its tools below it; and why.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Tabs } from 'radix-ui';
import { useState } from 'react';
import { useParams } from 'wouter';
import { showChanged } from '../api/changed';
import { call } from '../api/client';
import type { Explained, PermissionServices, UserPermissions } from '../api/types';
import { useIsAdmin, useMe } from '../shell/me';
import { useAddressState } from '../ui/address';
import { State } from '../ui/badge';
import { Button } from '../ui/button';
import { TextField } from '../ui/field';
import { Limited, LimitedDialog } from '../ui/limited-rules';
import { ErrorNote } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Matrix, useSummary, type Change, type Changing } from '../ui/rule-matrix';
import { manyRules, oneRule, whoDecides } from '../ui/rules';
import { Time } from '../ui/time';
import { useToast } from '../ui/toast';
import { UserFacts } from '../ui/user-facts';

/** `of`: the user, where the address does not name one. */
export default function Permissions({ of }: { of?: string }) {
  const params = useParams<{ user?: string }>();
  const user = of ?? decodeURIComponent(params.user ?? '');
  const me = useMe();
  const admin = useIsAdmin();
  const [tab, setTab] = useAddressState('tab');
  const client = useQueryClient();
  const toast = useToast();
  const [limiting, setLimiting] = useState(false);
  const path = `/permissions/users/${encodeURIComponent(user)}`;
  const rules = useQuery({ queryKey: ['permissions', user], queryFn: () => call<UserPermissions>('GET', path) });
  const services = useQuery({ queryKey: ['permissions', 'services'], queryFn: () => call<PermissionServices>('GET', '/permissions/services'), staleTime: 60_000 });
  const change: Changing = useMutation<UserPermissions, Error, Change>({
    mutationFn: (change: Change) => {
      const { method, path, body } = 'kind' in change ? oneRule(user, change.kind, change.name, change.setting, change.approvers) : manyRules(user, change.services, change.setting, change.approvers);
      return call<UserPermissions>(method, path, { body });
    },
    onSuccess: (next) => showChanged(client, ['permissions', user], next),
    onError: toast.error,
  });
  return (
    <Page
      title={of ? 'Your permissions' : user}
      about="A tool's rule overrides its service's rule, which overrides the workspace default. A call that is set to Ask waits until a person approves it."
      {...(!of && { back: { to: '/permissions', name: 'Users' } })}
      actions={admin && <Button kind="primary" icon="plus" onClick={() => setLimiting(true)}>Temporary rule</Button>}
    >
      <Loaded query={rules}>
        {(data) => (
          <div className="stack">
            <Summary user={user} rules={data} />
            {data.limited && data.limited.length > 0 && <Limited user={user} all={data} rules={data.limited} />}
            <Tabs.Root value={tab === 'rules' || tab === 'explain' ? tab : 'user'} onValueChange={(next) => setTab(next === 'user' ? '' : next)}>
              <Tabs.List className="tabs" aria-label="Permissions">
                <Tabs.Trigger className="tab" value="user">Connections, rules and calls</Tabs.Trigger>
                <Tabs.Trigger className="tab" value="rules">By service and tool</Tabs.Trigger>
                <Tabs.Trigger className="tab" value="explain">Explain</Tabs.Trigger>
              </Tabs.List>
              <Tabs.Content value="user" tabIndex={-1}><UserFacts user={user} own={user === me.user_id} rules={data} onRules={() => setTab('rules')} /></Tabs.Content>
              <Tabs.Content value="rules" tabIndex={-1}>
                <Loaded query={services}>{(listed) => <Matrix user={user} rules={data} services={listed.services} change={change} readOnly={!admin} />}</Loaded>
              </Tabs.Content>
              <Tabs.Content value="explain" tabIndex={-1}><Explain user={user} /></Tabs.Content>
            </Tabs.Root>
          </div>
        )}
      </Loaded>
      {limiting && services.data && <LimitedDialog user={user} services={services.data.services} onClose={() => setLimiting(false)} />}
    </Page>
  );
}

function Summary({ user, rules }: { user: string; rules: UserPermissions }) {
  const summary = useSummary(user);
  const total = summary.data?.total;
  return (
    <dl className="stats">
      {(['allow', 'ask', 'deny'] as const).map((name) => (
        <div className="stat" key={name}>
          <dt>{{ allow: 'Tools allowed', ask: 'Tools that ask first', deny: 'Tools denied' }[name]}</dt>
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

function Explain({ user }: { user: string }) {
  const [tool, setTool] = useState('');
  const explain = useMutation({
    mutationFn: () => call<Explained>('GET', `/permissions/users/${encodeURIComponent(user)}/explain`, { query: { tool_name: tool.trim() } }),
  });
  const why: Record<string, string> = {
    tool_rule: 'a rule for this tool',
    service_rule: 'a rule for its service',
    workspace_default: 'the default of the workspace',
    effect_default: 'the effect of the tool (read, write or destructive)',
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
            {explain.data.approvers && <> A call waits for {whoDecides(explain.data.approvers)}.</>}
            {explain.data.rule?.expires_at && <> That rule ends <Time at={explain.data.rule.expires_at} />.</>}
          </p>
        )}
      </form>
    </Card>
  );
}

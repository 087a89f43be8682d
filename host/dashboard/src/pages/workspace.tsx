import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { showChanged } from '../api/changed';
import { call } from '../api/client';
import type { Approvers, DefaultPermission, Health, Origin, Workspace as Shape } from '../api/types';
import { useIsAdmin, useMe } from '../shell/me';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { CheckField, SelectField, TextField } from '../ui/field';
import { ErrorNote, Note } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { APPROVERS, whoDecides } from '../ui/rules';
import { Time } from '../ui/time';
import { useToast } from '../ui/toast';

export default function Workspace() {
  const admin = useIsAdmin();
  const workspace = useQuery({ queryKey: ['workspace'], queryFn: () => call<Shape>('GET', '/workspace') });
  const byDefault = useQuery({ queryKey: ['permissions', 'default'], queryFn: () => call<DefaultPermission>('GET', '/permissions/default') });
  const health = useQuery({ queryKey: ['health'], queryFn: () => call<Health>('GET', '/health') });
  return (
    <Page title="Workspace" about="Settings for everyone in this workspace.">
      <div className="columns two">
        <Loaded query={workspace}>
          {(data) => (
            <Loaded query={byDefault}>
              {(rule) => <Settings key={[data.name, data.default_permission, data.keep_payloads, data.review_skills, rule.approvers].join()} workspace={data} rule={rule} />}
            </Loaded>
          )}
        </Loaded>
        <Loaded query={health}>
          {(data) => (
            <Card title="Gateway">
              <Pairs
                items={[
                  ['Status', <Badge tone={data.status === 'ok' ? 'ok' : 'bad'}>{data.status}</Badge>],
                  ['Version', data.version],
                  ['Database', data.database],
                  ['Plugins', `${data.plugins.active} active, ${data.plugins.quarantined} quarantined, ${data.plugins.pending_approval} waiting`],
                  ['Tools', String(data.tools)],
                  ['Sandboxes', data.runtime],
                  ['Search', data.search],
                ]}
              />
            </Card>
          )}
        </Loaded>
        {admin && <Origins />}
      </div>
    </Page>
  );
}

function Settings({ workspace, rule }: { workspace: Shape; rule: DefaultPermission }) {
  const me = useMe();
  const client = useQueryClient();
  const toast = useToast();
  const owner = me.role === 'owner';
  const [name, setName] = useState(workspace.name);
  const [byDefault, setByDefault] = useState<string>(workspace.default_permission);
  const [approvers, setApprovers] = useState<Approvers>(rule.approvers ?? 'admins');
  const [keep, setKeep] = useState(workspace.keep_payloads);
  const [review, setReview] = useState(workspace.review_skills);
  const save = useMutation({
    mutationFn: async () => {
      if (changedRule) await call<DefaultPermission>('PATCH', '/permissions/default', { body: { default: byDefault, approvers } });
      return call<Shape>('PATCH', '/workspace', { body: { name, keep_payloads: keep, review_skills: review } });
    },
    onSuccess: (next) => {
      showChanged(client, ['workspace'], next);
      void client.invalidateQueries({ queryKey: ['permissions'] });
      void client.invalidateQueries({ queryKey: ['me'] });
      toast.success('Workspace saved');
    },
  });
  const changedRule = byDefault !== workspace.default_permission || approvers !== (rule.approvers ?? 'admins');
  const changed = name !== workspace.name || keep !== workspace.keep_payloads || review !== workspace.review_skills || changedRule;
  return (
    <Card title="Settings">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Pairs
          items={[
            (workspace.plan !== 'enterprise' || workspace.rpm != null) && ['Plan', <span className="row"><Badge tone="accent">{workspace.plan}</Badge>{workspace.rpm != null && <span>{workspace.rpm} requests a minute</span>}</span>],
            ['Created', <Time at={workspace.created_at} />],
          ]}
        />
        <TextField label="Name" readOnly={!owner} maxLength={200} value={name} onChange={setName} />
        <SelectField
          label="Tools without a rule"
          disabled={!owner}
          value={byDefault}
          onChange={setByDefault}
          options={[['allow', 'are allowed'], ['by_effect', 'are allowed if they only read, and ask if they change something']]}
        />
        {byDefault === 'by_effect' && (
          <SelectField
            label="Who decides where they ask"
            hint={`A call waits for ${whoDecides(approvers)}. A rule can override this.`}
            disabled={!owner}
            value={approvers}
            onChange={(text) => setApprovers(text as Approvers)}
            options={APPROVERS.map(([value, short]) => [value, short] as const)}
          />
        )}
        <CheckField label="Keep the bodies of requests and answers" hint="Sealed, beside the receipt, for admins alone; 64 KiB of each. Off: a receipt records what was sent where, but not its content." checked={keep} disabled={!owner} onChange={setKeep} />
        <CheckField label="An admin reads changes of Skills in toolsets" hint="A change by a key or a member waits, and readers get the text of before. Off: it holds at once." checked={review} disabled={!owner} onChange={setReview} />
        {save.error && <ErrorNote error={save.error} />}
        {owner ? <div><Button type="submit" kind="primary" busy={save.isPending} disabled={!changed}>Save</Button></div> : <Note><p>Only an owner can change these.</p></Note>}
      </form>
    </Card>
  );
}

function Origins() {
  const client = useQueryClient();
  const toast = useToast();
  const [origin, setOrigin] = useState('');
  const origins = useQuery({ queryKey: ['origins'], queryFn: () => call<{ origins: Origin[] }>('GET', '/origins') });
  const changed = () => void client.invalidateQueries({ queryKey: ['origins'] });
  const add = useMutation({
    mutationFn: () => call<Origin>('POST', '/origins', { body: { origin } }),
    onSuccess: () => {
      setOrigin('');
      changed();
      toast.success('Origin registered');
    },
  });
  const remove = useMutation({ mutationFn: (id: string) => call<object>('DELETE', `/origins/${id}`), onSuccess: changed });
  return (
    <Card title="Origins of your applications">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <p className="muted">Connect links may lead to pages of these origins (confirm_url, return_url, popup_origin), and to no others. A confirm_url receives a code with which the application vouches for its user.</p>
        <Loaded query={origins}>
          {(data) => (
            <ul className="stack tight">
              {data.origins.map((one) => (
                <li key={one.origin_id} className="row">
                  <span className="mono">{one.origin}</span>
                  <Button size="small" kind="danger" busy={remove.isPending} onClick={() => remove.mutate(one.origin_id)}>Remove</Button>
                </li>
              ))}
              {data.origins.length === 0 && <li className="muted">None is registered.</li>}
            </ul>
          )}
        </Loaded>
        <TextField label="Origin" name="origin" type="url" value={origin} onChange={setOrigin} hint="Scheme, host and port, such as https://app.example.com." />
        {(add.error ?? remove.error) && <ErrorNote error={(add.error ?? remove.error)!} />}
        <div><Button type="submit" busy={add.isPending} disabled={origin === ''}>Register</Button></div>
      </form>
    </Card>
  );
}

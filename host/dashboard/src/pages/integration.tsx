// One service: what is missing, its OAuth application, its settings, its connections.

import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { showChanged } from '../api/changed';
import { call } from '../api/client';
import type { ConnectionPage, ConnectLink, Service, ServiceSetting, ServiceTest } from '../api/types';
import { useIsAdmin, useIsOperator, useMe } from '../shell/me';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { ConnectOwn } from '../ui/connect-own';
import { ConnectionTable } from '../ui/connection-table';
import { CopyLine } from '../ui/copy';
import { Confirm, Dialog } from '../ui/dialog';
import { TextField } from '../ui/field';
import { Icon } from '../ui/icon';
import { Logo } from '../ui/logo';
import { inWords } from '../ui/names';
import { Empty, ErrorNote, Note } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { ShowMore } from '../ui/show-more';
import { Time } from '../ui/time';
import { useToast } from '../ui/toast';

export default function Integration() {
  const { service: name = '' } = useParams<{ service: string }>();
  const service = useQuery({ queryKey: ['services', name], queryFn: () => call<Service>('GET', `/services/${encodeURIComponent(name)}`) });
  const admin = useIsAdmin();
  const [connecting, setConnecting] = useState(false);
  const data = service.data;
  return (
    <Page
      title={data?.title ?? name}
      mark={data && <Logo service={data.service} title={data.title} size={44} />}
      about={data?.description}
      back={{ to: '/integrations', name: 'Integrations' }}
      actions={
        data && data.auth.length > 0 && (
          <>
            {admin && <Button icon="plus" disabled={!data.connectable} onClick={() => setConnecting(true)}>Connect for a user</Button>}
            <ConnectOwn service={data.service} title={data.title} disabled={!data.connectable} />
          </>
        )
      }
    >
      <Loaded query={service}>{(loaded) => <Body service={loaded} />}</Loaded>
      {connecting && data && <Connect service={data} onClose={() => setConnecting(false)} />}
    </Page>
  );
}

function Body({ service }: { service: Service }) {
  const admin = useIsAdmin();
  const needsApp = service.auth.some((slot) => slot.needs_app);
  return (
    <div className="stack">
      {service.missing && (
        <Note tone="warn">
          <p className="strong">Setup needed</p>
          <p>{admin ? service.missing : `An admin has to set up ${service.title} first.`}</p>
        </Note>
      )}
      <Connections service={service} />
      <div className="columns two">
        <Card title="About">
          <Pairs
            items={[
              ['Tools', <Link href={`/tools?service=${service.service}`}>{service.tools} tools</Link>],
              ['Version', service.version],
              ['Plugin', <Link href={`/plugins/${service.service}`}>{service.service}</Link>],
              service.homepage ? ['Homepage', <a href={service.homepage} target="_blank" rel="noreferrer noopener">{service.homepage}</a>] : null,
              ['Categories', service.categories.map(inWords).join(', ') || 'none'],
              ...service.auth.map((slot) => [slot.title, <span className="row"><Badge>{slot.type}</Badge>{slot.scopes.map((scope) => <Badge key={scope}>{scope}</Badge>)}</span>] as const),
            ]}
          />
        </Card>
        <div className="stack">
          {admin && needsApp && <OAuthApp key={service.app?.client_id ?? 'none'} service={service} />}
          {admin && service.settings.length > 0 && <Settings service={service} />}
          {admin && (needsApp || service.settings.length > 0) && <Test service={service} />}
        </div>
      </div>
    </div>
  );
}

function Connections({ service }: { service: Service }) {
  const admin = useIsAdmin();
  const connections = useInfiniteQuery({
    queryKey: ['connections', service.service],
    queryFn: ({ pageParam }) => call<ConnectionPage>('GET', '/connections', { query: { service: service.service, limit: 50, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    enabled: service.auth.length > 0,
  });
  if (service.auth.length === 0) return null;
  return (
    <Card title="Connections" flush>
      <Loaded query={connections}>
        {(data) => {
          const all = data.pages.flatMap((page) => page.connections);
          return all.length === 0 ? (
            <Empty icon="connections" title="No connections yet" action={service.connectable && <ConnectOwn service={service.service} title={service.title} />}>
              {service.connectable
                ? 'Connect your own account. Agents give their users the same kind of link when a tool needs it.'
                : admin
                  ? 'Complete the setup below first.'
                  : 'An admin has to set it up first.'}
            </Empty>
          ) : (
            <>
              <ConnectionTable caption={`Connections to ${service.title}`} connections={all} hide="service" />
              <ShowMore list={connections} />
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

function Connect({ service, onClose }: { service: Service; onClose: () => void }) {
  const me = useMe();
  const [userId, setUserId] = useState(me.user_id);
  const link = useMutation({
    mutationFn: () => call<ConnectLink>('POST', '/connections/link', { body: { service: service.service, user_id: userId } }),
  });
  return (
    <Dialog
      title={`Connect ${service.title}`}
      onClose={onClose}
      onSubmit={() => link.mutate()}
      footer={
        link.data ? (
          <Button onClick={onClose}>Done</Button>
        ) : (
          <Button type="submit" kind="primary" busy={link.isPending}>Create link</Button>
        )
      }
    >
      {link.error && <ErrorNote error={link.error} />}
      {link.data ? (
        <>
          <p>Open the link to connect {service.title}, or send it to {userId}. It works once and expires <Time at={link.data.expires_at} />.</p>
          <CopyLine text={link.data.connect_url} label="connect link" />
          <div>
            <a className="button primary" href={link.data.connect_url} target="_blank" rel="noopener"><Icon name="external" />Open</a>
          </div>
        </>
      ) : (
        <TextField label="User" hint="The user whose tools will use this account." value={userId} onChange={setUserId} maxLength={128} />
      )}
    </Dialog>
  );
}

function OAuthApp({ service }: { service: Service }) {
  const client = useQueryClient();
  const toast = useToast();
  const [clientId, setClientId] = useState(service.app?.client_id ?? '');
  const [secret, setSecret] = useState('');
  const [scopes, setScopes] = useState(service.app?.scopes?.join(' ') ?? '');
  const [provider, setProvider] = useState(service.app?.base_url ?? '');
  const [redirectName, setRedirectName] = useState(service.app?.redirect_name ?? '');
  const [tenant, setTenant] = useState(service.app?.tenant ?? '');
  const anyTenant = service.auth.find((slot) => slot.tenant)?.tenant;
  const redirectTitle = service.auth.find((slot) => slot.redirect_name)?.redirect_name;
  const [removing, setRemoving] = useState(false);
  const path = `/services/${service.service}/app`;
  // The operator's own shows no client id to other workspaces: what they save is another, with nothing of it.
  const own = service.app?.client_id != null;
  const took = (next: Service) => showChanged(client, ['services', service.service], next);
  const save = useMutation({
    mutationFn: (callback?: 'service') => {
      const list = scopes.split(/[\s,]+/).filter(Boolean);
      return call<Service>('PUT', path, { body: { client_id: clientId, ...(secret && { client_secret: secret }), ...(list.length > 0 && { scopes: list }), ...(provider && { base_url: provider }), ...(redirectName && { redirect_name: redirectName }), ...(tenant && { tenant }), ...(callback && { callback }) } });
    },
    onSuccess: (next) => {
      took(next);
      setSecret('');
      toast.success('OAuth application saved');
    },
  });
  return (
    <Card title="OAuth application" actions={service.app && <Badge tone="ok">{service.app.everywhere ? 'set for all workspaces' : 'set'}</Badge>}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(undefined);
        }}
      >
        <p className="muted">Create an OAuth application at {service.title} with this callback URL, then enter its client ID and secret here.</p>
        {service.app && !own && <p className="muted">The operator's application is used until you save one for this workspace.</p>}
        <div className="field">
          <span className="label">Callback URL</span>
          <CopyLine text={service.callback_url ?? ''} label="callback URL" />
        </div>
        {own && service.app?.callback === 'shared-unproven' && (
          <Note tone="warn">
            <p>This application uses the callback URL that all services shared in earlier versions. A hostile plugin can receive its authorization codes. Register {service.callback_url}/{service.service} at {service.title} in place of it, then switch.</p>
            <Button size="small" busy={save.isPending} onClick={() => save.mutate('service')}>Use the new callback URL</Button>
          </Note>
        )}
        <TextField label="Client id" name="client_id" required value={clientId} onChange={setClientId} />
        <TextField label="Client secret" name="client_secret" type="password" autoComplete="new-password" value={secret} onChange={setSecret} hint={own && service.app?.has_secret ? 'A secret is stored. Leave this empty to keep it.' : 'Stored encrypted. Leave empty for a public client.'} />
        {redirectTitle && <TextField label={redirectTitle} name="redirect_name" required value={redirectName} onChange={setRedirectName} hint={`The name that ${service.title} shows beside the callback URL.`} />}
        {anyTenant && <TextField label="Tenant" name="tenant" value={tenant} onChange={setTenant} hint={`Only if the application is registered for one organization. Otherwise "${anyTenant}" is used.`} />}
        <TextField label="Scopes" value={scopes} onChange={setScopes} hint="Separated by spaces. Leave empty for the ones that the plugin needs." />
        <TextField label="Provider URL" type="url" value={provider} onChange={setProvider} hint="Only for your own installation, such as https://git.example.com." />
        {save.error && <ErrorNote error={save.error} />}
        <div className="row">
          <Button type="submit" kind="primary" busy={save.isPending} disabled={clientId === ''}>Save</Button>
          {own && <Button kind="danger" onClick={() => setRemoving(true)}>Remove</Button>}
        </div>
      </form>
      {removing && (
        <Confirm title="Remove the OAuth application?" action="Remove" onClose={() => setRemoving(false)} onConfirm={async () => took(await call<Service>('DELETE', path))}>
          <p>Nobody can connect {service.title} until you save another one, and existing connections can no longer be refreshed.</p>
        </Confirm>
      )}
    </Card>
  );
}

function Settings({ service }: { service: Service }) {
  const operator = useIsOperator();
  const client = useQueryClient();
  const toast = useToast();
  const [values, setValues] = useState<Record<string, string>>({});
  const save = useMutation({
    // An empty text is not a value: it takes the setting away.
    mutationFn: () => {
      const set = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value === '' ? null : value]));
      return call<Service>('PUT', `/services/${service.service}/settings`, { body: { set } });
    },
    onSuccess: (next) => {
      showChanged(client, ['services', service.service], next);
      setValues({});
      toast.success('Settings saved');
    },
  });
  const shown = (setting: ServiceSetting) => values[setting.key] ?? (setting.value == null ? '' : String(setting.value));
  return (
    <Card title="Settings">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {service.settings.map((setting) => (
          <TextField
            key={setting.key}
            name={setting.key}
            label={setting.title}
            readOnly={setting.operator_only && !operator}
            hint={setting.operator_only && !operator ? 'Only the operator can change this.' : setting.set && setting.value == null ? 'Set. The value is hidden.' : typeof setting.schema.description === 'string' ? setting.schema.description : undefined}
            value={shown(setting)}
            onChange={(value) => setValues((all) => ({ ...all, [setting.key]: value }))}
          />
        ))}
        {save.error && <ErrorNote error={save.error} />}
        <div><Button type="submit" kind="primary" busy={save.isPending} disabled={Object.keys(values).length === 0}>Save</Button></div>
      </form>
    </Card>
  );
}

function Test({ service }: { service: Service }) {
  const test = useMutation({ mutationFn: () => call<ServiceTest>('POST', `/services/${service.service}/test`, { body: {} }) });
  return (
    <Card title="Test the setup" actions={<Button size="small" busy={test.isPending} onClick={() => test.mutate()}>Test</Button>}>
      <div className="stack tight" aria-live="polite">
        {test.error && <ErrorNote error={test.error} />}
        {test.data?.checks.map((check) => (
          <Note key={check.check} tone={check.ok ? 'ok' : 'bad'}>
            <p><b>{inWords(check.check)}</b>: {check.message}</p>
          </Note>
        ))}
        {!test.data && !test.error && <p className="muted">Checks that the provider can be reached and knows the application. Nobody is connected.</p>}
      </div>
    </Card>
  );
}

// One plugin: what it may do, an upgrade that waits, its versions, what it costs.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { showChanged } from '../api/changed';
import { call } from '../api/client';
import type { Plugin as Shape, PluginServer, PluginVersion } from '../api/types';
import { useIsOperator } from '../shell/me';
import { Badge, State } from '../ui/badge';
import { Button } from '../ui/button';
import { Confirm } from '../ui/dialog';
import { ErrorNote, Note } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { Changes, Rights } from '../ui/rights';
import { Table } from '../ui/table';
import { bytes, count, duration, Time } from '../ui/time';
import { useToast } from '../ui/toast';
import { visible } from '../ui/visible';

export default function Plugin() {
  const { service = '' } = useParams<{ service: string }>();
  const [, go] = useLocation();
  const operator = useIsOperator();
  const client = useQueryClient();
  const toast = useToast();
  const [removing, setRemoving] = useState(false);
  const path = `/plugins/${encodeURIComponent(service)}`;
  const plugin = useQuery({ queryKey: ['plugins', service], queryFn: () => call<Shape>('GET', path) });
  const remove = async () => {
    await call('DELETE', path);
    client.removeQueries({ queryKey: ['plugins'], exact: true });
    toast.success(`Removed ${service}`);
    go('/plugins');
  };
  return (
    <Page
      title={plugin.data?.title ?? service}
      back={{ to: '/plugins', name: 'Plugins' }}
      actions={
        <>
          <Link className="button" href={`/integrations/${service}`}>Integration</Link>
          {operator && plugin.data && <Button kind="danger" icon="trash" onClick={() => setRemoving(true)}>Remove</Button>}
        </>
      }
    >
      <Loaded query={plugin}>{(data) => <Body plugin={data} />}</Loaded>
      {removing && (
        <Confirm title={`Remove ${service}?`} action="Remove" onClose={() => setRemoving(false)} onConfirm={remove}>
          <p>Its file is removed from the plugins folder and its tools are no longer available. Connections and receipts stay.</p>
        </Confirm>
      )}
    </Page>
  );
}

function Body({ plugin }: { plugin: Shape }) {
  return (
    <div className="stack">
      {plugin.reason && <Note tone="bad"><p className="strong"><State name={plugin.state} /></p><p>{visible(plugin.reason)}</p></Note>}
      {plugin.pending && <Pending service={plugin.service} pending={plugin.pending} version={plugin.version ?? 'nothing'} />}
      <div className="columns two">
        <Card title="Current version">
          <Pairs
            items={[
              ['State', <State name={plugin.state} />],
              ['Version', plugin.version ?? 'none'],
              ['Tools', <Link href={`/tools?service=${plugin.service}`}>{plugin.tools} tools</Link>],
              ['Size', bytes(plugin.use.wasm_bytes)],
              ['Calls, 24 h', `${count(plugin.use.calls_24h)}, ${count(plugin.use.errors_24h)} with errors`],
              ['Mean duration', plugin.use.calls_24h > 0 ? duration(plugin.use.mean_ms_24h) : 'no calls yet'],
              ['SHA-256', <span className="mono">{plugin.sha256}</span>],
            ]}
          />
        </Card>
        {plugin.server && <Server server={plugin.server} />}
        <Card title="What it may do">{plugin.rights ? <Rights rights={plugin.rights} /> : <p className="muted">Nothing has been granted.</p>}</Card>
      </div>
      <Versions plugin={plugin} />
    </div>
  );
}

const SERVER_WORDS: Record<PluginServer['outcome'], string> = {
  not_asked: 'not asked yet',
  answered: 'answers',
  unreachable: 'does not answer',
  asks_for_sign_in: 'asks for a sign-in before it lists its tools',
  unusable: 'gives an answer that cannot be used',
};

function Server({ server }: { server: PluginServer }) {
  return (
    <Card title="MCP server">
      <Pairs
        items={[
          ['State', SERVER_WORDS[server.outcome]],
          ['Last asked', server.asked_at ? <Time at={server.asked_at} /> : 'never'],
          ['Asked next', <Time at={server.asked_next_at} />],
          ['Last failure', server.failed_at ? <Time at={server.failed_at} /> : 'none'],
        ]}
      />
      {server.failure && <p>{visible(server.failure)}</p>}
      <p className="muted small">The gateway asks the server for its tools again and reviews what has changed as an upgrade. While the server gives no answer, the plugin keeps its tools.</p>
    </Card>
  );
}

function Pending({ service, pending, version }: { service: string; pending: NonNullable<Shape['pending']>; version: string }) {
  const operator = useIsOperator();
  const client = useQueryClient();
  const toast = useToast();
  const approve = useMutation({
    mutationFn: () => call<Shape>('POST', `/plugins/${service}/approve`, { body: { sha256: pending.sha256 } }),
    onSuccess: (next) => {
      showChanged(client, ['plugins', service], next);
      toast.success(`Version ${pending.version} was approved`);
    },
  });
  return (
    <Card title={`Version ${pending.version} asks for more than ${version}`} actions={operator && <Button kind="primary" busy={approve.isPending} onClick={() => approve.mutate()}>Approve the difference</Button>}>
      <div className="stack">
        <p>The current version keeps running until you approve the new one. Do not approve changes that you did not expect.</p>
        <Changes difference={pending.difference} />
        <p className="muted small">SHA-256 <span className="mono">{pending.sha256}</span>: your approval covers this file only.</p>
        {!operator && <p className="muted">Only the operator of this gateway can approve it.</p>}
        {approve.error && <ErrorNote error={approve.error} />}
      </div>
    </Card>
  );
}

function Versions({ plugin }: { plugin: Shape }) {
  const operator = useIsOperator();
  const client = useQueryClient();
  const [back, setBack] = useState<PluginVersion | null>(null);
  const toast = useToast();
  const rollBack = async (version: PluginVersion) => {
    await call('POST', `/plugins/${plugin.service}/rollback`, { body: { sha256: version.sha256 } });
    void client.invalidateQueries({ queryKey: ['plugins'] });
    toast.success(`Rolling back to ${version.version}`);
  };
  return (
    <Card title="Versions" flush>
      <Table
        caption="Versions"
        rows={plugin.versions}
        rowKey={(row) => row.sha256}
        columns={[
          { head: 'Version', cell: (row) => <span className="strong">{row.version}</span> },
          { head: 'Activated', cell: (row) => <Time at={row.activated_at} /> },
          { head: 'SHA-256', cell: (row) => <span className="mono">{row.sha256.slice(0, 16)}</span> },
          { head: 'Actions', align: 'acts', cell: (row) => (row.active ? <Badge tone="ok">serves</Badge> : operator ? <Button size="small" icon="undo" onClick={() => setBack(row)}>Roll back to this</Button> : null) },
        ]}
      />
      {back && (
        <Confirm title={`Roll back to ${back.version}?`} action="Roll back" onClose={() => setBack(null)} onConfirm={() => rollBack(back)}>
          <p>New calls use version {back.version}. Calls that are running finish on {plugin.version}.</p>
          {back.difference && <Changes difference={back.difference} />}
        </Confirm>
      )}
    </Card>
  );
}

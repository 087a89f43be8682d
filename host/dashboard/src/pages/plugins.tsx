// The plugins: what serves, what does not and why, and how new ones come in.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState, type DragEvent } from 'react';
import { Link } from 'wouter';
import { call, upload } from '../api/client';
import type { Plugin, PluginCheck, PluginFile, Plugins as All } from '../api/types';
import { useIsOperator } from '../shell/me';
import { useAddressState } from '../ui/address';
import { Badge, State } from '../ui/badge';
import { Button } from '../ui/button';
import { SelectField, TextField } from '../ui/field';
import { FromAddress } from '../ui/from-address';
import { FromDescription } from '../ui/from-description';
import { Icon } from '../ui/icon';
import { Install } from '../ui/install';
import { Logo } from '../ui/logo';
import { Empty, ErrorNote, Note, Progress } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Table } from '../ui/table';
import { bytes, count, duration, plural } from '../ui/time';
import { visible } from '../ui/visible';

export default function Plugins() {
  const operator = useIsOperator();
  const plugins = useQuery({ queryKey: ['plugins'], queryFn: () => call<All>('GET', '/plugins') });
  const [typed, setTyped] = useAddressState('query');
  const [state, setState] = useAddressState('state');
  const [adding, setAdding] = useState<'address' | 'description' | null>(null);
  const canAdd = operator && plugins.data?.folder_writable;
  return (
    <Page
      title="Plugins"
      about="Each integration is a WebAssembly component in a sandbox. It can reach only what its manifest requests and you have granted."
      actions={canAdd && <><Button onClick={() => setAdding('description')}>Add from a description</Button><Button kind="primary" icon="plus" onClick={() => setAdding('address')}>Add integration</Button></>}
    >
      <Loaded query={plugins}>
        {(data) => {
          const states = [...new Set(data.plugins.map((plugin) => plugin.state))].sort();
          const shown = data.plugins.filter((plugin) => `${plugin.service} ${plugin.title ?? ''}`.toLowerCase().includes(typed.toLowerCase()) && (!state || plugin.state === state || (state === 'pending_approval' && plugin.pending)));
          const troubles = data.files.filter((file) => file.reason || ['quarantined', 'conflict', 'pending_approval'].includes(file.state));
          return (
            <div className="stack">
              {operator && (data.folder_writable ? <Drop /> : <Note><p>The gateway cannot write to its plugins folder, so uploads are off. Copy the file into the folder instead.</p></Note>)}
              {troubles.length > 0 && <Troubles files={troubles} />}
              <div>
                <div className="filters" role="search">
                  <div className="search"><TextField bare label="Filter plugins" type="search" placeholder="Filter by name" value={typed} onChange={setTyped} /></div>
                  <SelectField bare label="State" className="narrow" value={state} onChange={setState} options={[['', 'Any state'], ...states.map((name) => [name, name.replaceAll('_', ' ')] as const)]} />
                  <span className="muted small" role="status">{plural(shown.length, 'plugin')}</span>
                </div>
                <Card flush>
                  {shown.length === 0 ? (
                    <Empty icon="plugins" title={data.plugins.length === 0 ? 'No plugins yet' : 'No matches'}>
                      {data.plugins.length === 0 ? 'Drop a .wasm file above, or add an integration from the address of its MCP server or its OpenAPI description.' : 'Try fewer letters or another state.'}
                    </Empty>
                  ) : (
                    <List plugins={shown} />
                  )}
                </Card>
              </div>
            </div>
          );
        }}
      </Loaded>
      {adding === 'address' && <FromAddress onClose={() => setAdding(null)} />}
      {adding === 'description' && <FromDescription onClose={() => setAdding(null)} />}
    </Page>
  );
}

function List({ plugins }: { plugins: Plugin[] }) {
  return (
    <Table
      caption="Plugins"
      rows={plugins}
      rowKey={(row) => row.service}
      columns={[
        { head: 'Plugin', cell: (row) => <span className="row named"><Logo service={row.service} title={row.title ?? row.service} size={20} /><Link href={`/plugins/${row.service}`} className="strong">{row.title ?? row.service}</Link></span> },
        { head: 'State', cell: (row) => <span className="row"><State name={row.state} />{row.pending && <Badge tone="warn">upgrade waits</Badge>}</span> },
        { head: 'Version', cell: (row) => <span className="mono">{row.version}</span> },
        { head: 'Tools', align: 'right', cell: (row) => row.tools },
        { head: 'Calls, 24 h', align: 'right', cell: (row) => count(row.use.calls_24h) },
        { head: 'Errors', align: 'right', cell: (row) => count(row.use.errors_24h) },
        { head: 'Mean', align: 'right', cell: (row) => (row.use.calls_24h > 0 ? duration(row.use.mean_ms_24h) : <span className="muted">none</span>) },
        { head: 'Size', align: 'right', cell: (row) => bytes(row.use.wasm_bytes) },
      ]}
    />
  );
}

function Troubles({ files }: { files: PluginFile[] }) {
  return (
    <Card title="Files that are not active" flush>
      <Table
        caption="Files that are not active"
        rows={files}
        rowKey={(row) => row.file}
        columns={[
          { head: 'File', wide: true, cell: (row) => <span className="mono">{visible(row.file)}</span> },
          { head: 'State', cell: (row) => <State name={row.state} /> },
          { head: 'Why', wide: true, cell: (row) => (row.reason != null ? visible(row.reason) : undefined) ?? (row.service ? <Link href={`/plugins/${row.service}`}>Review the changes</Link> : '') },
        ]}
      />
    </Card>
  );
}

function Drop() {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [file, setFile] = useState<File | null>(null);
  const [share, setShare] = useState(0);
  const check = useMutation({
    mutationFn: (chosen: File) => upload<PluginCheck>('/plugins/check', chosen, setShare),
  });
  const take = (chosen: File | undefined) => {
    if (!chosen) return;
    setShare(0);
    setFile(chosen);
    check.mutate(chosen);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  };
  return (
    <div
      className={over ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="upload" />
      <p>
        Drop a plugin here, or <button type="button" className="button small" onClick={() => input.current?.click()}>choose a file</button>
      </p>
      <p className="muted small">A .wasm component. It is inspected first; nothing is installed until you confirm.</p>
      <input ref={input} type="file" accept=".wasm,application/wasm" aria-label="Plugin file" hidden onChange={(event) => { take(event.target.files?.[0]); event.target.value = ''; }} />
      {check.isPending && <div className="grow"><Progress label={share < 1 ? `Sending ${visible(file?.name ?? '')}` : 'Inspecting'} share={share} /></div>}
      {check.error && <ErrorNote error={check.error} />}
      {check.data && file && <Install check={check.data} file={file} onClose={() => check.reset()} />}
    </div>
  );
}

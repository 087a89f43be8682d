// An integration from an OpenAPI description: paste or choose a file, choose operations, see the rights, install.

import { useMutation } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { call, upload } from '../api/client';
import type { PluginCheck } from '../api/types';
import { Badge } from './badge';
import { Button } from './button';
import { bytesOf } from './bytes';
import { Dialog } from './dialog';
import { TextArea, TextField } from './field';
import { Install } from './install';
import { ErrorNote, Note, Waiting } from './note';
import { plural } from './time';
import { visible } from './visible';

interface Offered {
  title: string;
  service: string;
  operations: { operation: string; summary: string; deprecated: boolean }[];
}
interface Built {
  service: string;
  tools: number;
  notes: { pointer: string; message: string; left_out: boolean }[];
  wasm_base64: string;
}

/** What the gateway makes into one plugin. */
const TOOLS_MAX = 1_500;
/** Fewer are chosen without asking. */
const CHOSEN_AT_FIRST = 60;
/** Operations that are shown at once. */
const SHOWN_MAX = 200;

/** `start`: the text of a description that was found at an address. */
export function FromDescription({ start = '', onClose }: { start?: string; onClose: () => void }) {
  const [, go] = useLocation();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(start);
  const [service, setService] = useState('');
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const read = useMutation({
    mutationFn: () => call<Offered>('POST', '/descriptions/read', { body: { text } }),
    onSuccess: (offered) => {
      setService(offered.service);
      const all = offered.operations.filter((one) => !one.deprecated).map((one) => one.operation);
      setChosen(new Set(all.length <= CHOSEN_AT_FIRST ? all : []));
    },
  });
  const build = useMutation({
    mutationFn: async () => {
      const built = await call<Built>('POST', '/descriptions/build', { body: { text, service: service.trim(), operations: [...chosen] } });
      const file = new Blob([bytesOf(built.wasm_base64)], { type: 'application/wasm' });
      return { built, file, check: await upload<PluginCheck>('/plugins/check', file, () => {}) };
    },
  });
  const offered = read.data;
  const made = build.data;
  if (made) return <Install check={made.check} file={made.file} onClose={() => build.reset()} onInstalled={() => { onClose(); go(`/plugins?query=${made.check.service}`); }} />;
  if (!offered) {
    return (
      <Dialog
        wide
        title="Add an integration"
        onClose={onClose}
        onSubmit={() => read.mutate()}
        footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" busy={read.isPending} disabled={!text.trim()}>Read the description</Button></>}
      >
        <p className="muted">From the service's OpenAPI description (2.0, 3.0 or 3.1, JSON or YAML). Nothing is installed before you have seen what the plugin may do.</p>
        {read.error && <ErrorNote error={read.error} />}
        <div><Button icon="upload" onClick={() => input.current?.click()}>Choose a file</Button></div>
        <input ref={input} type="file" accept=".json,.yaml,.yml" aria-label="Description file" hidden onChange={(event) => { void event.target.files?.[0]?.text().then(setText); event.target.value = ''; }} />
        <TextArea label="Description" hint="Or paste it here." rows={12} spellCheck={false} value={text} onChange={setText} />
      </Dialog>
    );
  }
  return (
    <Dialog
      wide
      title={`Choose operations of ${visible(offered.title) || 'the service'}`}
      onClose={onClose}
      onSubmit={() => build.mutate()}
      footer={
        <>
          <Button onClick={() => read.reset()}>Back</Button>
          <Button type="submit" kind="primary" busy={build.isPending} disabled={chosen.size === 0 || chosen.size > TOOLS_MAX || !service.trim()}>Build and review {plural(chosen.size, 'operation')}</Button>
        </>
      }
    >
      {build.error && <ErrorNote error={build.error} />}
      {build.isPending && <Waiting what="Building the plugin" />}
      <TextField label="Service name" hint="Every tool name begins with it: lowercase letters, digits and underscores." value={service} onChange={setService} maxLength={40} required />
      <Operations offered={offered} chosen={chosen} onChoose={setChosen} typed={typed} onType={setTyped} />
      {chosen.size > TOOLS_MAX && <Note tone="warn"><p>At most {TOOLS_MAX} operations fit into one plugin.</p></Note>}
    </Dialog>
  );
}

interface Choice {
  offered: Offered;
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
  typed: string;
  onType: (typed: string) => void;
}

function Operations({ offered, chosen, onChoose, typed, onType }: Choice) {
  const found = useMemo(() => {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    return offered.operations.filter((one) => words.every((word) => `${one.operation} ${one.summary}`.toLowerCase().includes(word)));
  }, [offered, typed]);
  const set = (operations: string[], on: boolean) => {
    const next = new Set(chosen);
    for (const one of operations) {
      if (on) next.add(one);
      else next.delete(one);
    }
    onChoose(next);
  };
  const names = found.map((one) => one.operation);
  return (
    <>
      <div className="filters">
        <div className="search"><TextField bare label="Filter operations" type="search" placeholder="Filter operations" value={typed} onChange={onType} /></div>
        <Button size="small" onClick={() => set(names, true)}>Select {typed ? 'these' : 'all'}</Button>
        <Button size="small" onClick={() => set(names, false)}>Select none</Button>
        <span className="muted small" role="status">{chosen.size} of {plural(offered.operations.length, 'operation')} selected</span>
      </div>
      <ul className="operations">
        {found.slice(0, SHOWN_MAX).map((one) => (
          <li key={one.operation}>
            <label className="row">
              <input type="checkbox" checked={chosen.has(one.operation)} onChange={(event) => set([one.operation], event.target.checked)} />
              <span className="grow"><span className="mono">{visible(one.operation)}</span>{one.deprecated && <> <Badge>deprecated</Badge></>}<br /><span className="small muted">{visible(one.summary)}</span></span>
            </label>
          </li>
        ))}
      </ul>
      {found.length > SHOWN_MAX && <p className="muted small">{plural(found.length - SHOWN_MAX, 'more operation')}: filter to see them.</p>}
    </>
  );
}

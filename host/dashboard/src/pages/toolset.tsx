// One toolset: its address, what it names, and what it lists to the viewer.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { call } from '../api/client';
import type { Toolset as Shape, ToolsetTools } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { Button } from '../ui/button';
import { CopyLine } from '../ui/copy';
import { Confirm, Dialog } from '../ui/dialog';
import { CheckField, TextArea, TextField } from '../ui/field';
import { Empty, ErrorNote, Note } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { Table } from '../ui/table';
import { Time } from '../ui/time';
import { ToolsetChoiceField, useSkillNames, type ToolsetChoice } from '../ui/toolset-choice';

export default function Toolset() {
  const { toolset: name = '' } = useParams<{ toolset: string }>();
  const [, go] = useLocation();
  const admin = useIsAdmin();
  const client = useQueryClient();
  const path = `/toolsets/${name}`;
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null);
  const toolset = useQuery({ queryKey: ['toolsets', name], queryFn: () => call<Shape>('GET', path) });
  const data = toolset.data;
  return (
    <Page
      title={data?.title ?? 'Toolset'}
      about={data?.description}
      back={{ to: '/toolsets', name: 'Toolsets' }}
      actions={
        data && admin && (
          <>
            <Button onClick={() => setDialog('edit')}>Edit</Button>
            <Button kind="danger" icon="trash" onClick={() => setDialog('delete')}>Delete</Button>
          </>
        )
      }
    >
      <Loaded query={toolset}>
        {(loaded) => (
          <div className="stack">
            <Chosen toolset={loaded} />
            <Listed path={path} name={name} />
          </div>
        )}
      </Loaded>
      {dialog === 'edit' && data && <Edit toolset={data} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && (
        <Confirm title="Delete this toolset?" action="Delete" onClose={() => setDialog(null)} onConfirm={async () => { await call('DELETE', path); client.removeQueries({ queryKey: ['toolsets'], exact: true }); go('/toolsets'); }}>
          <p>Clients that use {data?.mcp_url} get no more answers. Tools, services and Skills stay.</p>
        </Confirm>
      )}
    </Page>
  );
}

function Chosen({ toolset }: { toolset: Shape }) {
  const names = useSkillNames();
  const missing = toolset.missing ?? [];
  return (
    <Card>
      <div className="stack">
        <Pairs
          items={[
            ['Address', <CopyLine text={toolset.mcp_url} label="MCP address" />],
            toolset.services.length > 0 && ['Services', toolset.services.join(', ')],
            toolset.tools.length > 0 && ['Tools', <span className="mono small">{toolset.tools.join(', ')}</span>],
            toolset.skills.length > 0 && ['Skills', toolset.skills.map((id) => names.get(id) ?? id).join(', ')],
            ['The generic tools', toolset.generic_tools ? 'listed too' : 'not listed'],
            ['Changed', <Time at={toolset.updated_at} />],
          ]}
        />
        <p className="small">Give this address to a client in place of the main one. <Link className="in-text" href="/settings/clients">How to connect a client</Link></p>
        {toolset.left_out > 0 && <Note tone="warn"><p>A list holds at most 128 tools: {toolset.left_out} more are left out.</p></Note>}
        {missing.length > 0 && <Note tone="warn"><p>Not there any more: {missing.join(', ')}</p></Note>}
      </div>
    </Card>
  );
}

function Listed({ path, name }: { path: string; name: string }) {
  const listed = useQuery({ queryKey: ['toolsets', name, 'tools'], queryFn: () => call<ToolsetTools>('GET', `${path}/tools`) });
  return (
    <Loaded query={listed}>
      {(data) => (
        <Card title="What it lists to you" flush>
          {data.tools.length === 0 ? (
            <Empty icon="tools" title="Nothing">Your permissions allow none of its tools.</Empty>
          ) : (
            <Table
              caption="Tools that a client of yours lists"
              rows={data.tools}
              rowKey={(row) => row.name}
              columns={[
                { head: 'Tool', cell: (row) => (row.kind === 'tool' ? <Link href={`/tools/${row.name}`} className="mono strong">{row.name}</Link> : <Link href={`/skills/${row.skill_id}`} className="mono strong">{row.name}</Link>) },
                { head: 'Title', cell: (row) => row.title },
                { head: 'What it does', wide: true, cell: (row) => <span className="muted">{row.description.split('\n')[0]}</span> },
              ]}
            />
          )}
        </Card>
      )}
    </Loaded>
  );
}

function Edit({ toolset, onClose }: { toolset: Shape; onClose: () => void }) {
  const client = useQueryClient();
  const [title, setTitle] = useState(toolset.title);
  const [description, setDescription] = useState(toolset.description);
  const [choice, setChoice] = useState<ToolsetChoice>({ tools: toolset.tools, services: toolset.services, skills: toolset.skills, skill_versions: {} });
  const [generic, setGeneric] = useState(toolset.generic_tools);
  const save = useMutation({
    mutationFn: () => call<Shape>('PATCH', `/toolsets/${toolset.name}`, { body: { title, description, ...choice, generic_tools: generic } }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['toolsets'] });
      onClose();
    },
    // A Skill may have changed since it was shown.
    onError: () => void client.invalidateQueries({ queryKey: ['skills'] }),
  });
  const some = choice.tools.length + choice.services.length + choice.skills.length > 0;
  return (
    <Dialog wide title={`Edit ${toolset.name}`} onClose={onClose} onSubmit={() => save.mutate()} footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" disabled={!some} busy={save.isPending}>Save</Button></>}>
      {save.error && <ErrorNote error={save.error} />}
      <TextField label="Title" maxLength={200} name="title" value={title} onChange={setTitle} />
      <TextArea label="Description" maxLength={2000} rows={2} value={description} onChange={setDescription} />
      <ToolsetChoiceField value={choice} onChange={setChoice} />
      <CheckField label="List the tools of the main address too" hint="The client can then also search and run tools outside of the toolset." checked={generic} onChange={setGeneric} />
    </Dialog>
  );
}

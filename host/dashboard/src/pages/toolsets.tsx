// Toolsets: named choices of tools, each listed to MCP clients at an address of its own.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client';
import type { Toolset, ToolsetList } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { useAskedFor } from '../ui/asked-for';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { CheckField, TextArea, TextField } from '../ui/field';
import { Empty, ErrorNote } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Table } from '../ui/table';
import { Time } from '../ui/time';
import { ToolsetChoiceField, type ToolsetChoice } from '../ui/toolset-choice';

const ABOUT = 'An MCP client that is given the address of a toolset lists exactly its tools, under their own names. A toolset grants nothing: everybody sees what their permissions allow.';

export default function Toolsets() {
  const admin = useIsAdmin();
  const [making, setMaking] = useState(false);
  useAskedFor('new', () => admin && setMaking(true));
  const toolsets = useQuery({ queryKey: ['toolsets'], queryFn: () => call<ToolsetList>('GET', '/toolsets') });
  const make = admin && <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>New toolset</Button>;
  return (
    <Page title="Toolsets" about={ABOUT} actions={make}>
      <Loaded query={toolsets}>
        {(data) => (
          <Card flush>
            {data.toolsets.length === 0 ? (
              <Empty icon="toolsets" title="No toolsets yet" action={make}>{admin ? 'Choose tools, services or Skills for a team or a task.' : 'An admin of the workspace creates them.'}</Empty>
            ) : (
              <Table
                caption="Toolsets, by name"
                rows={data.toolsets}
                rowKey={(row) => row.name}
                columns={[
                  { head: 'Name', cell: (row) => <Link href={`/toolsets/${row.name}`} className="strong">{row.title}</Link> },
                  { head: 'About', wide: true, cell: (row) => <span className="muted">{row.description}</span> },
                  { head: 'Address', wide: true, cell: (row) => <span className="mono small">{row.mcp_url}</span> },
                  { head: 'Tools', align: 'right', cell: (row) => row.listed },
                  { head: 'Notes', cell: (row) => <ToolsetNotes row={row} /> },
                  { head: 'Changed', cell: (row) => <Time at={row.updated_at} /> },
                ]}
              />
            )}
          </Card>
        )}
      </Loaded>
      {making && <NewToolset onClose={() => setMaking(false)} />}
    </Page>
  );
}

export function ToolsetNotes({ row }: { row: Toolset }) {
  return (
    <span className="row">
      {row.generic_tools && <Badge tone="plain">with search</Badge>}
      {row.left_out > 0 && <Badge tone="warn">{`${row.left_out} left out`}</Badge>}
      {(row.missing ?? []).length > 0 && <Badge tone="bad">{`${row.missing?.length} missing`}</Badge>}
    </span>
  );
}

const EMPTY: ToolsetChoice = { tools: [], services: [], skills: [], skill_versions: {} };

function NewToolset({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const [name, setName] = useState('');
  const [title, setTitle] = useState('');
  const [description, setDescription] = useState('');
  const [choice, setChoice] = useState(EMPTY);
  const [generic, setGeneric] = useState(false);
  const make = useMutation({
    mutationFn: () => call<Toolset>('POST', '/toolsets', { body: { name, title, description, ...choice, generic_tools: generic } }),
    onSuccess: (toolset) => {
      void client.invalidateQueries({ queryKey: ['toolsets'] });
      go(`/toolsets/${toolset.name}`);
    },
    // A Skill may have changed since it was shown.
    onError: () => void client.invalidateQueries({ queryKey: ['skills'] }),
  });
  const some = choice.tools.length + choice.services.length + choice.skills.length > 0;
  return (
    <Dialog wide title="New toolset" onClose={onClose} onSubmit={() => make.mutate()} footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" disabled={!name || !some} busy={make.isPending}>Create</Button></>}>
      {make.error && <ErrorNote error={make.error} />}
      <TextField label="Name" required maxLength={64} name="name" placeholder="support" hint="The end of its address: a-z, 0-9, - and _." value={name} onChange={setName} />
      <TextField label="Title" maxLength={200} name="title" hint="What clients show." value={title} onChange={setTitle} />
      <TextArea label="Description" maxLength={2000} rows={2} hint="What it is for. Clients show it to the model." value={description} onChange={setDescription} />
      <ToolsetChoiceField value={choice} onChange={setChoice} />
      <CheckField label="List the tools of the main address too" hint="The client can then also search and run tools outside of the toolset." checked={generic} onChange={setGeneric} />
    </Dialog>
  );
}

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client';
import type { Skill, SkillPage } from '../api/types';
import { useAddressState } from '../ui/address';
import { useAskedFor } from '../ui/asked-for';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { TextArea, TextField } from '../ui/field';
import { Empty, ErrorNote } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Table } from '../ui/table';
import { Time } from '../ui/time';
import { WaitingChanges } from '../ui/waiting-change';

const PAGE = 50;

export default function Skills() {
  const [typed, setTyped] = useAddressState('query');
  const [offset, setOffset] = useState(0);
  const [making, setMaking] = useState(false);
  useAskedFor('new', () => setMaking(true));
  const query = useDeferredValue(typed.trim());
  const skills = useQuery({
    queryKey: ['skills', 'list', query, offset],
    queryFn: () => call<SkillPage>('GET', '/skills', { query: { query, limit: PAGE, offset } }),
    placeholderData: keepPreviousData,
  });
  const make = <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>New Skill</Button>;
  return (
    <Page title="Skills" about="Named instructions for a task. Every agent in this workspace finds them over MCP and REST." actions={make}>
      <WaitingChanges />
      <div className="filters" role="search">
        <div className="search">
          <TextField bare label="Filter Skills" type="search" placeholder="Filter by name or summary" value={typed} onChange={(text) => { setTyped(text); setOffset(0); }} />
        </div>
      </div>
      <Loaded query={skills}>
        {(data) =>
          data.total === 0 ? (
            <Card>
              <Empty icon="skills" title={query ? 'No matches' : 'No Skills yet'} action={query ? <Button onClick={() => setTyped('')}>Clear filters</Button> : make}>
                {query ? 'The filter searches names and summaries.' : 'Describe once how a task is done: the steps, and the tools for them. Agents read it before they start.'}
              </Empty>
            </Card>
          ) : (
            <Card flush>
              <Table
                caption="Skills, newest first"
                rows={data.skills}
                rowKey={(row) => row.skill_id}
                columns={[
                  { head: 'Name', wide: true, cell: (row) => <Link href={`/skills/${row.skill_id}`} className="strong">{row.name}</Link> },
                  { head: 'Summary', wide: true, cell: (row) => <span className="muted">{row.summary}</span> },
                  { head: 'Version', align: 'right', cell: (row) => row.version },
                  { head: 'Changed', cell: (row) => <Time at={row.updated_at} /> },
                ]}
              />
              {data.total > PAGE && (
                <div className="inner row apart">
                  <span className="muted small">{offset + 1} to {Math.min(offset + PAGE, data.total)} of {data.total}</span>
                  <span className="row">
                    <Button size="small" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE))}>Newer</Button>
                    <Button size="small" disabled={offset + PAGE >= data.total} onClick={() => setOffset(offset + PAGE)}>Older</Button>
                  </span>
                </div>
              )}
            </Card>
          )
        }
      </Loaded>
      {making && <NewSkill onClose={() => setMaking(false)} />}
    </Page>
  );
}

function NewSkill({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const [name, setName] = useState('');
  const [summary, setSummary] = useState('');
  const [instructions, setInstructions] = useState('');
  const make = useMutation({
    mutationFn: () => call<Skill>('POST', '/skills', { body: { name, summary, instructions } }),
    onSuccess: (skill) => {
      void client.invalidateQueries({ queryKey: ['skills'] });
      go(`/skills/${skill.skill_id}`);
    },
  });
  const ready = name.trim() && summary.trim() && instructions.trim();
  return (
    <Dialog wide title="New Skill" onClose={onClose} onSubmit={() => make.mutate()} footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" disabled={!ready} busy={make.isPending}>Create</Button></>}>
      {make.error && <ErrorNote error={make.error} />}
      <TextField label="Name" required maxLength={200} value={name} onChange={setName} />
      <TextArea label="Summary" required maxLength={2000} rows={2} hint="What it does and when to use it. Agents choose Skills by their summary." value={summary} onChange={setSummary} />
      <TextArea label="Instructions" required maxLength={100000} rows={12} code hint="Markdown. Name tools exactly, such as github_create_issue." value={instructions} onChange={setInstructions} />
    </Dialog>
  );
}

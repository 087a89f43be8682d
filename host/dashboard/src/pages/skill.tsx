// One Skill: editor with preview, versions with their difference, restore.

import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Tabs } from 'radix-ui';
import { Suspense, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { showChanged } from '../api/changed';
import { ApiError, call } from '../api/client';
import type { Skill as Shape, SkillCheck, SkillVersion, SkillVersions } from '../api/types';
import { useMe } from '../shell/me';
import { Badge, State } from '../ui/badge';
import { Button } from '../ui/button';
import { Confirm } from '../ui/dialog';
import { Diff } from '../ui/diff';
import { SelectField, TextArea, TextField } from '../ui/field';
import { ErrorNote, Note, Waiting } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Prose } from '../ui/prose';
import { ShowMore } from '../ui/show-more';
import { Table } from '../ui/table';
import { Time } from '../ui/time';
import { useToast } from '../ui/toast';
import { WaitingChange } from '../ui/waiting-change';

export default function Skill() {
  const { skill: id = '' } = useParams<{ skill: string }>();
  const [, go] = useLocation();
  const [removing, setRemoving] = useState(false);
  const toast = useToast();
  const client = useQueryClient();
  const skill = useQuery({ queryKey: ['skills', id], queryFn: () => call<Shape>('GET', `/skills/${id}`) });
  const remove = async () => {
    await call('DELETE', `/skills/${id}`);
    client.removeQueries({ queryKey: ['skills', 'list'] });
    toast.success('Skill deleted');
    go('/skills');
  };
  return (
    <Page
      title={skill.data?.name ?? 'Skill'}
      about={skill.data && <>Version {skill.data.version}, changed <Time at={skill.data.updated_at} /></>}
      back={{ to: '/skills', name: 'Skills' }}
      actions={skill.data && <Button kind="danger" icon="trash" onClick={() => setRemoving(true)}>Delete</Button>}
    >
      <WaitingChange id={id} />
      <Loaded query={skill}>
        {(data) => (
          <Tabs.Root defaultValue="edit">
            <Tabs.List className="tabs" aria-label="Skill">
              <Tabs.Trigger className="tab" value="edit">Edit</Tabs.Trigger>
              <Tabs.Trigger className="tab" value="versions">Versions</Tabs.Trigger>
              <Tabs.Trigger className="tab" value="tools">Tools it names</Tabs.Trigger>
            </Tabs.List>
            {/* Stays while another tab is looked at, with what was typed. */}
            <Tabs.Content value="edit" tabIndex={-1} forceMount><Editor key={data.skill_id} skill={data} /></Tabs.Content>
            <Tabs.Content value="versions" tabIndex={-1}><Versions skill={data} /></Tabs.Content>
            <Tabs.Content value="tools" tabIndex={-1}><Check skill={data} /></Tabs.Content>
          </Tabs.Root>
        )}
      </Loaded>
      {removing && (
        <Confirm title="Delete this Skill?" action="Delete" onClose={() => setRemoving(false)} onConfirm={remove}>
          <p><b>{skill.data?.name}</b> and all its versions are deleted for every agent. This cannot be undone.</p>
        </Confirm>
      )}
    </Page>
  );
}

function Editor({ skill }: { skill: Shape }) {
  const client = useQueryClient();
  const toast = useToast();
  // What the edit began with: a save over somebody else's newer version is refused.
  const [base, setBase] = useState(skill);
  const [name, setName] = useState(skill.name);
  const [summary, setSummary] = useState(skill.summary);
  const [instructions, setInstructions] = useState(skill.instructions);
  const save = useMutation({
    mutationFn: () => call<Shape>('PUT', `/skills/${skill.skill_id}`, { body: { name, summary, instructions, version: base.version } }),
    onSuccess: (next) => {
      showChanged(client, ['skills', skill.skill_id], next);
      setBase(next);
      if (next.change_waits) {
        setName(next.name);
        setSummary(next.summary);
        setInstructions(next.instructions);
      }
      toast.success(next.change_waits ? 'The change waits for an admin' : `Saved as version ${next.version}`);
    },
  });
  const changed = name !== base.name || summary !== base.summary || instructions !== base.instructions;
  const follow = () => {
    setBase(skill);
    setName(skill.name);
    setSummary(skill.summary);
    setInstructions(skill.instructions);
  };
  const take = () => {
    follow();
    save.reset();
  };
  const newer = skill.version > base.version && !save.isPending;
  if (newer && !changed) follow();
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      {newer && (
        <Note tone="warn">
          <p>Somebody saved version {skill.version} while you were editing {base.version}. <Button size="small" onClick={take}>Use theirs</Button></p>
        </Note>
      )}
      {save.error && !(newer && save.error instanceof ApiError && save.error.code === 'conflict') && <ErrorNote error={save.error} />}
      <div className="columns two">
        <TextField label="Name" maxLength={200} value={name} onChange={setName} />
        <TextField label="Summary" maxLength={2000} value={summary} onChange={setSummary} />
      </div>
      <div className="columns two">
        <TextArea label="Instructions" code rows={24} maxLength={100000} value={instructions} onChange={setInstructions} />
        <div className="field">
          <span className="label">Preview</span>
          <div className="card"><div className="inner"><Suspense fallback={<Waiting />}><Prose text={instructions} /></Suspense></div></div>
        </div>
      </div>
      <div className="row">
        <Button type="submit" kind="primary" busy={save.isPending} disabled={!changed}>Save</Button>
        {changed && <Button onClick={take}>Discard changes</Button>}
        {changed && <span className="muted small">Not saved yet</span>}
      </div>
    </form>
  );
}

const asText = (version: SkillVersion) => `# ${version.name}\n${version.summary}\n\n${version.instructions}`;

function Versions({ skill }: { skill: Shape }) {
  const client = useQueryClient();
  const toast = useToast();
  const [chosen, setChosen] = useState<number | null>(null);
  const [against, setAgainst] = useState<number>(skill.version);
  const [restoring, setRestoring] = useState<SkillVersion | null>(null);
  const versions = useInfiniteQuery({
    queryKey: ['skills', skill.skill_id, 'versions'],
    queryFn: ({ pageParam }) => call<SkillVersions>('GET', `/skills/${skill.skill_id}/versions`, { query: { limit: 20, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const restore = async (version: SkillVersion) => {
    const { name, summary, instructions } = version;
    const next = await call<Shape>('PUT', `/skills/${skill.skill_id}`, { body: { name, summary, instructions, version: skill.version } });
    showChanged(client, ['skills', skill.skill_id], next);
    toast.success(next.change_waits ? 'The change waits for an admin' : `Restored version ${version.version} as version ${next.version}`);
  };
  return (
    <Loaded query={versions}>
      {(data) => {
        const all = data.pages.flatMap((page) => page.versions);
        const before = all.find((version) => version.version === (chosen ?? all[1]?.version ?? all[0]?.version));
        const after = all.find((version) => version.version === against) ?? all[0];
        const names = all.map((version) => [String(version.version), `Version ${version.version}`] as const);
        return (
          <div className="columns wide-right">
            <Card title="Versions" flush>
              <Table
                dense
                caption="Versions"
                rows={all}
                rowKey={(row) => String(row.version)}
                columns={[
                  { head: 'Version', cell: (row) => <span className="row"><span className="strong">{row.version}</span>{row.version === skill.version && <Badge tone="ok">current</Badge>}</span> },
                  { head: 'Saved', cell: (row) => <Time at={row.created_at} /> },
                  { head: 'Actions', align: 'acts', cell: (row) => row.version !== skill.version && <Button size="small" icon="undo" onClick={() => setRestoring(row)}>Restore</Button> },
                ]}
              />
              <ShowMore list={versions} />
            </Card>
            <Card
              title="Difference"
              actions={
                <>
                  <SelectField bare label="From" className="narrow" value={String(before?.version ?? '')} options={names} onChange={(value) => setChosen(Number(value))} />
                  <SelectField bare label="To" className="narrow" value={String(after?.version ?? '')} options={names} onChange={(value) => setAgainst(Number(value))} />
                </>
              }
            >
              {before && after && <Diff before={asText(before)} after={asText(after)} label={`From version ${before.version} to ${after.version}`} />}
            </Card>
            {restoring && (
              <Confirm title={`Restore version ${restoring.version}?`} action="Restore" onClose={() => setRestoring(null)} onConfirm={() => restore(restoring)}>
                <p>This saves the old text as a new version. Version {skill.version} stays in the list.</p>
              </Confirm>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

function Check({ skill }: { skill: Shape }) {
  const me = useMe();
  const check = useQuery({
    queryKey: ['skills', skill.skill_id, 'check', skill.version],
    queryFn: () => call<SkillCheck>('GET', `/skills/${skill.skill_id}/check`, { query: { user_id: me.user_id } }),
  });
  return (
    <Loaded query={check}>
      {(data) => (
        <div className="stack">
          <Note tone={data.ready ? 'ok' : 'warn'}>
            <p>{data.ready ? `Every tool it names can run for ${data.user_id}.` : `Some of the tools it names cannot run for ${data.user_id} now.`}</p>
            {data.unknown_tools.length > 0 && <p>Unknown: {data.unknown_tools.map((name) => <code key={name}>{name} </code>)}</p>}
          </Note>
          {data.tools.length > 0 ? (
            <Card flush>
              <Table
                caption="Tools that the Skill names"
                rows={data.tools}
                rowKey={(row) => row.tool_name}
                columns={[
                  { head: 'Tool', cell: (row) => <Link href={`/tools/${row.tool_name}`} className="mono">{row.tool_name}</Link> },
                  { head: 'Permission', cell: (row) => <State name={row.permission} /> },
                  { head: 'Connection', cell: (row) => <State name={row.connection} /> },
                ]}
              />
            </Card>
          ) : (
            <p className="muted">The instructions do not name any tools.</p>
          )}
        </div>
      )}
    </Loaded>
  );
}

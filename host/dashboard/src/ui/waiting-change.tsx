// Changes of Skills that wait for an admin, because toolsets name these Skills.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ApiError, call } from '../api/client';
import type { ListedProposal, ReadableSkill, Skill, SkillProposal } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { Button } from './button';
import { Diff } from './diff';
import { ErrorNote, Note } from './note';
import { Card } from './page';
import { Time } from './time';
import { useToast } from './toast';

const TEXTS: [keyof ReadableSkill, string][] = [['name', 'Name'], ['summary', 'Summary'], ['instructions', 'Instructions']];

/** Each text by itself: joined, one that moves from one into another would be no difference. */
function Differences({ before, after }: { before: ReadableSkill; after: ReadableSkill }) {
  const changed = TEXTS.filter(([text]) => before[text] !== after[text]);
  if (changed.length === 0) return <p className="muted">No difference.</p>;
  return (
    <>
      {changed.map(([text, name]) => (
        <div key={text} className="stack tight">
          <h3>{name}</h3>
          <Diff before={before[text]} after={after[text]} label={`${name}: from what readers get to what is proposed`} />
        </div>
      ))}
    </>
  );
}

/** The changes that wait, for an admin. */
function useProposals() {
  const admin = useIsAdmin();
  const waiting = useQuery({ queryKey: ['skills', 'proposals'], queryFn: () => call<{ proposals: ListedProposal[] }>('GET', '/skill-proposals'), enabled: admin });
  return waiting.data?.proposals ?? [];
}

/** Above the list of Skills: which of them have a change that waits. */
export function WaitingChanges() {
  const proposals = useProposals();
  if (proposals.length === 0) return null;
  return (
    <Note tone="warn">
      <p>Changes of Skills in toolsets wait for you: {proposals.map((one, place) => <span key={one.proposal_id}>{place > 0 && ', '}<Link href={`/skills/${one.skill_id}`}>{one.name}</Link></span>)}.</p>
    </Note>
  );
}

/** Above one Skill: the change that waits, with its difference. */
export function WaitingChange({ id }: { id: string }) {
  const waits = useProposals().some((one) => one.skill_id === id);
  const client = useQueryClient();
  const toast = useToast();
  const waiting = useQuery({
    queryKey: ['skills', id, 'proposal'],
    queryFn: async () => {
      try {
        return await call<SkillProposal>('GET', `/skill-proposals/${id}`);
      } catch (error) {
        // Another admin has decided meanwhile.
        if (error instanceof ApiError && error.code === 'not_found') return null;
        throw error;
      }
    },
    enabled: waits,
  });
  const decide = useMutation({
    mutationFn: (decision: 'approve' | 'reject') => call<{ skill: Skill }>('POST', `/skill-proposals/${id}`, { body: { proposal_id: waiting.data?.proposal_id, decision } }),
    onSuccess: ({ skill }, decision) => {
      void client.invalidateQueries({ queryKey: ['skills'] });
      toast.success(decision === 'approve' ? `Version ${skill.version} is what readers get now` : 'The change was rejected');
    },
    onError: () => void waiting.refetch(),
  });
  if (waiting.error) return <ErrorNote error={waiting.error} />;
  if (!waiting.data) return null;
  const { before, after, proposed_by, proposed_at, toolsets } = waiting.data;
  return (
    <Card title="A change waits for you">
      <div className="stack">
        <p>
          Proposed by <span className="mono">{proposed_by}</span> <Time at={proposed_at} />. Readers of {toolsets.length === 1 ? 'the toolset' : 'the toolsets'} <b>{toolsets.join(', ')}</b> get the text of before until you approve it. Characters that cannot be seen are written as <code>{'\\u{…}'}</code>.
        </p>
        <Differences before={before} after={after} />
        {decide.error && <ErrorNote error={decide.error} />}
        <div className="row">
          <Button kind="primary" busy={decide.isPending} onClick={() => decide.mutate('approve')}>Approve</Button>
          <Button kind="danger" busy={decide.isPending} onClick={() => decide.mutate('reject')}>Reject</Button>
        </div>
      </div>
    </Card>
  );
}

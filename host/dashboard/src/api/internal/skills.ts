// Changes of Skills that wait for an admin.

export interface ListedProposal {
  proposal_id: string;
  skill_id: string;
  name: string;
  proposed_by: string;
  proposed_at: string;
}
/** Texts in which hidden characters are escaped. */
export interface ReadableSkill {
  name: string;
  summary: string;
  instructions: string;
}
export interface SkillProposal {
  proposal_id: string;
  skill_id: string;
  proposed_by: string;
  proposed_at: string;
  toolsets: string[];
  before: ReadableSkill;
  after: ReadableSkill;
}

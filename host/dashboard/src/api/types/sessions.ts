// Sessions, Skills and documents.

import type { ConnectionState, ListedTool } from './calls';
import type { Permission } from './permissions';

export interface ListedSkill {
  skill_id: string;
  name: string;
  summary: string;
  version: number;
  created_at: string;
  updated_at: string;
}
export interface Skill extends ListedSkill {
  instructions: string;
  /** In the answer to an update: it waits for an admin. */
  change_waits?: boolean;
}
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
export interface SkillVersion {
  version: number;
  name: string;
  summary: string;
  instructions: string;
  created_at: string;
}
export interface SkillCheck {
  skill_id: string;
  user_id: string;
  ready: boolean;
  tools: { tool_name: string; service: string; permission: Permission; connection: ConnectionState }[];
  unknown_tools: string[];
}

export interface Session {
  session_id: string;
  user_id: string;
  /** The beginning of what it was created with. */
  title?: string | null;
  created_at: string;
  last_active_at: string;
  expires_at: string;
  /** The last that were said, without the steps between. */
  messages?: Message[] | null;
}
/** One step of a session. */
export interface Message {
  message_id: string;
  role: 'user' | 'assistant' | 'tool';
  content: string;
  created_at: string;
  status?: 'completed' | 'paused' | 'stopped';
  reason?: string;
  model_configured?: boolean;
  tool_calls?: { tool_call_id: string; operation: string; arguments: string }[];
  operation?: string;
  execution_id?: string;
  pending?: { tool_name: string; service: string; message: string; connect_url?: string | null; approval_id?: string | null };
  matches?: { skills: ListedSkill[]; passages: Passage[]; tools: ListedTool[] };
  tokens?: number;
}

export interface ListedDocument {
  document_id: string;
  title: string;
  media_type: string;
  sha256: string;
  bytes: number;
  chars: number;
  pages?: number | null;
  created_at: string;
}
export interface Document extends ListedDocument {
  content: string;
}
export interface Passage {
  document_id: string;
  title: string;
  text: string;
  /** In characters of the document's text. */
  position: { starts_at: number; ends_at: number; page?: number | null };
  score: number;
}

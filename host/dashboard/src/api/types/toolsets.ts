// Toolsets, and what they list.

import type { Annotations, Schema } from './calls';

export interface Toolset {
  name: string;
  title: string;
  description: string;
  tools: string[];
  services: string[];
  skills: string[];
  generic_tools: boolean;
  mcp_url: string;
  listed: number;
  left_out: number;
  missing?: string[];
  created_at: string;
  updated_at: string;
}
/** What a toolset names, as it is sent. */
export type ToolsetChoice = Pick<Toolset, 'tools' | 'services' | 'skills'> & {
  /** Of the Skills that were chosen just now, by id: the version that was shown. At another one nothing is stored. */
  skill_versions: Record<string, number>;
};

export type ToolsetTool = {
  name: string;
  title: string;
  description: string;
  inputSchema: Schema;
  annotations: Annotations;
} & ({ kind: 'tool'; service: string } | { kind: 'skill'; skill_id: string });

export interface ToolsetTools {
  name: string;
  title: string;
  description: string;
  generic_tools: boolean;
  tools: ToolsetTool[];
  left_out: number;
}

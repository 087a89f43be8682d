// What users may do.

export type Permission = 'allow' | 'deny' | 'ask';
export type Setting = Permission | 'inherit';
/** Who decides about a call that asks. */
export type Approvers = 'admins' | 'members' | 'self';
export interface LimitedRule {
  service?: string | null;
  tool_name?: string | null;
  permission: Permission;
  expires_at?: string | null;
  max_calls?: number | null;
  used?: number | null;
}
export interface UserPermissions {
  user_id: string;
  default: 'allow' | 'by_effect';
  services: Record<string, Permission>;
  tools: Record<string, Permission>;
  /** For the rules that ask, where it is not `admins`. */
  approvers?: { services?: Record<string, Approvers>; tools?: Record<string, Approvers> };
  limited?: LimitedRule[];
}
export interface PermissionCounts {
  allow: number;
  deny: number;
  ask: number;
}
export interface PermissionSummary {
  user_id: string;
  services: Record<string, PermissionCounts>;
  total: PermissionCounts;
}
export interface Explained {
  user_id: string;
  tool_name: string;
  service: string;
  effect: string;
  permission: Permission;
  decided_by: string;
  /** Where the permission is `ask`. */
  approvers?: Approvers | null;
  rule?: LimitedRule | null;
}
export interface User {
  user_id: string;
  connections: number;
  rules: number;
  calls_30d: number;
  last_seen_at: string | null;
}

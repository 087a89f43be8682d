// Services with the settings of a workspace, and what is asked about their accounts.

export interface ServiceAuth {
  slot: string;
  title: string;
  type: string;
  scopes: string[];
  needs_app: boolean; redirect_name?: string; tenant?: string;
}
export interface ServiceSetting {
  key: string;
  title: string;
  /** A JSON Schema. */
  schema: Record<string, unknown>;
  set: boolean;
  value?: unknown;
  operator_only: boolean;
}
export interface Service {
  service: string;
  title: string;
  description: string;
  version: string;
  homepage?: string | null;
  categories: string[];
  tools: number;
  auth: ServiceAuth[];
  auth_type: string;
  connectable: boolean;
  missing?: string | null;
  app?: null | { client_id: string | null; has_secret: boolean; scopes: string[] | null; base_url: string | null; redirect_name: string | null; tenant: string | null; everywhere: boolean; callback: 'service' | 'shared' | 'shared-unproven' };
  /** To register at the provider; absent where the service does not use OAuth. */
  callback_url?: string;
  settings: ServiceSetting[];
  connections: number;
  connections_broken: number;
}
export interface Services {
  services: Service[];
}
export interface ServiceTest {
  ok: boolean;
  checks: { check: string; ok: boolean; message: string }[];
}

/** Whether another account is to be used from now on. */
export interface AccountQuestion {
  service: string;
  title: string;
  user_id: string;
  connection_id: string;
  account_before: string | null;
  account_now: string | null;
  expires_at: string;
}
/** An origin that connect links may lead to. */
export interface Origin {
  origin_id: string;
  origin: string;
  created_at: string;
}

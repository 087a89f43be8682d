// Webhooks and their deliveries.

export interface Webhook {
  webhook_id: string;
  url: string;
  description: string;
  events: string[];
  filters: { user_ids?: string[]; services?: string[]; tool_names?: string[] };
  enabled: boolean;
  disabled_reason?: string | null;
  disabled_at?: string | null;
  failing_since?: string | null;
  previous_secret_until?: string | null;
  created_at: string;
  updated_at: string;
}
export type NewWebhook = Webhook & { secret: string };
export interface Delivery {
  delivery_id: string;
  event_id: string;
  type: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  next_attempt_at?: string | null;
  last_attempt_at?: string | null;
  response_status?: number | null;
  duration_ms?: number | null;
  last_error?: string | null;
  created_at: string;
}

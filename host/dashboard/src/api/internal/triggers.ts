// Triggers that can be made.

export interface OfferedTrigger {
  service: string;
  trigger: string;
  title: string;
  description: string;
  tool_name: string;
  /** Arguments of the tool that the trigger sets itself. */
  sets: string[];
  interval_s: number;
  /** Whether `since` can be chosen. */
  has_times: boolean;
}
export interface OfferedTriggers {
  triggers: OfferedTrigger[];
  /** Events are read without a webhook. */
  events_logged: boolean;
}

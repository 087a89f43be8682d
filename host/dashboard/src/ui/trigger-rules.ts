// What the pages of triggers decide: who is sent the events, what is left to choose, and how often in words.

import type { OfferedTrigger, Trigger, Webhook } from '../api/types';
import type { Schema } from './schema-form';

type Source = Pick<Trigger, 'event' | 'service' | 'user_id'>;

/** As the gateway compares: a pattern may end in `*`. */
const matches = (pattern: string, event: string) => (pattern.endsWith('*') ? event.startsWith(pattern.slice(0, -1)) : pattern === event);
const passes = (wanted: string[] | null | undefined, value: string) => !wanted || wanted.length === 0 || wanted.includes(value);

/** Whether a webhook is sent the events of a trigger, which come from the tool `tool_name`; undefined: it is not known. */
export function isSent(webhook: Pick<Webhook, 'enabled' | 'events' | 'filters'>, trigger: Source, tool_name: string | undefined): boolean {
  const { user_ids, services, tool_names } = webhook.filters;
  return (
    webhook.enabled &&
    webhook.events.some((pattern) => matches(pattern, trigger.event)) &&
    passes(user_ids, trigger.user_id) &&
    passes(services, trigger.service) &&
    (tool_name === undefined || passes(tool_names, tool_name))
  );
}

/** The schema of the arguments that a user chooses: those of the tool without those that the trigger sets. */
export function chosenSchema(input: Schema, offered: Pick<OfferedTrigger, 'sets'>): Schema {
  const isChosen = (name: string) => !offered.sets.includes(name);
  const properties = Object.entries(input.properties ?? {}).filter(([name]) => isChosen(name));
  return { ...input, properties: Object.fromEntries(properties), required: (input.required ?? []).filter(isChosen) };
}

const UNITS = [['day', 86_400], ['hour', 3_600], ['minute', 60], ['second', 1]] as const;

/** How often, in the largest unit that divides it. */
export function every(interval_s: number): string {
  const [unit, size] = UNITS.find(([, size]) => interval_s % size === 0 && interval_s >= size) ?? ['second', 1];
  const times = interval_s / size;
  return times === 1 ? `every ${unit}` : `every ${times} ${unit}s`;
}

const INTERVALS_S = [60, 300, 900, 3_600, 21_600, 86_400];

/** Intervals to choose from, with the one that the plugin suggests. */
export const intervals = (suggested_s: number): number[] => [...new Set([...INTERVALS_S, suggested_s])].sort((a, b) => a - b);

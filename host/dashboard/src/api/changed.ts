// What a change answered with takes the place of what was read before it.

import type { QueryClient } from '@tanstack/react-query';

/**
 * Shows the answer of a change and reads its topic again. That cancels a read that began before the change:
 * its late answer would put the old state back.
 */
export function showChanged<T>(client: QueryClient, queryKey: [topic: string, ...string[]], next: T): void {
  client.setQueryData<T>(queryKey, next);
  void client.invalidateQueries({ queryKey: [queryKey[0]] });
}

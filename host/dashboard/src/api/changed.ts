// Shows the response to a change without waiting for the next read.

import type { QueryClient } from '@tanstack/react-query';

/**
 * Replaces the cached data of a query with the response to a change, then refetches the query's topic. The
 * refetch cancels a read that began before the change; its late response would restore the old state.
 */
export function showChanged<T>(client: QueryClient, queryKey: [topic: string, ...string[]], next: T): void {
  client.setQueryData<T>(queryKey, next);
  void client.invalidateQueries({ queryKey: [queryKey[0]] });
}

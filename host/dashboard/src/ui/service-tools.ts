// Every tool of a service, those too that a user may not see.

import { useQuery } from '@tanstack/react-query';
import { call } from '../api/client';
import type { ListedTool } from '../api/types';
import { useIsAdmin, useMe } from '../shell/me';

/** A user whom nobody has given rules: lists leave out what their user is denied. */
const NOBODY = '-';
/** Services with more tools than this many pages of a hundred do not exist. */
const PAGES_MAX = 20;

interface Listed {
  tools: ListedTool[];
  next_cursor?: string | null;
}

export function useServiceTools(service: string) {
  const me = useMe();
  const user_id = useIsAdmin() ? NOBODY : me.user_id;
  return useQuery({
    queryKey: ['services', service, 'tools', user_id],
    queryFn: async () => {
      const tools: ListedTool[] = [];
      let cursor: string | null | undefined;
      for (let page = 0; page < PAGES_MAX; page += 1) {
        const listed = await call<Listed>('GET', '/tools/list', { query: { service, user_id, limit: 100, cursor } });
        tools.push(...listed.tools);
        cursor = listed.next_cursor;
        if (!cursor) break;
      }
      return tools;
    },
    enabled: service !== '',
    staleTime: 60_000,
  });
}

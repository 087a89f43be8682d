// The triggers that can be made, asked once for the pages that name them.

import { useQuery } from '@tanstack/react-query';
import { call } from '../api/client';
import type { OfferedTriggers } from '../api/types';

/** Changes with the plugins, not with what a trigger finds. */
export function useOfferedTriggers() {
  return useQuery({ queryKey: ['plugins', 'offered', 'triggers'], queryFn: () => call<OfferedTriggers>('GET', '/offered-triggers'), staleTime: 30_000 });
}

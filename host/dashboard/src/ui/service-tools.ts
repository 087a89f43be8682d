// Every tool of a service, those too that a user may not see.

import { useQuery } from '@tanstack/react-query';
import { call } from '../api/client';
import type { ListedTool } from '../api/types';

export function useServiceTools(service: string) {
  return useQuery({
    queryKey: ['services', service, 'tools'],
    queryFn: async () => (await call<{ tools: ListedTool[] }>('GET', `/services/${encodeURIComponent(service)}/tools`)).tools,
    enabled: service !== '',
    staleTime: 60_000,
  });
}

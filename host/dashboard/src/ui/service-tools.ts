// Every tool of a service, those too that some user may not see.

import { useQuery } from '@tanstack/react-query';
import { call } from '../api/client';
import type { Annotations } from '../api/types';

export interface ServiceTool {
  name: string;
  description: string;
  annotations: Annotations;
}

export function useServiceTools(service: string) {
  return useQuery({
    queryKey: ['services', service, 'tools'],
    queryFn: async () => (await call<{ tools: ServiceTool[] }>('GET', `/services/${encodeURIComponent(service)}/tools`)).tools,
    enabled: service !== '',
    staleTime: 60_000,
  });
}

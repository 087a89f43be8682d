// The services, asked once for all pages that name them.

import { useQuery } from '@tanstack/react-query';
import { call } from '../api/client';
import type { Services } from '../api/types';

export function useServices() {
  return useQuery({ queryKey: ['services'], queryFn: () => call<Services>('GET', '/services'), staleTime: 30_000 });
}

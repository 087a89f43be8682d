// Says that plugin files are still loading: what is missing now comes by itself.

import { useQuery } from '@tanstack/react-query';
import { call } from '../api/client';
import type { Health } from '../api/types';
import { plural } from '../ui/time';

const ASK_MS = 2_000;

export function LoadingPlugins() {
  const health = useQuery({
    queryKey: ['health'],
    queryFn: () => call<Health>('GET', '/health'),
    staleTime: 30_000,
    refetchInterval: (query) => ((query.state.data?.plugins.loading ?? 0) > 0 ? ASK_MS : false),
  });
  const loading = health.data?.plugins.loading ?? 0;
  return (
    <div role="status" className={loading > 0 ? 'outage loading' : undefined}>
      {loading > 0 && (
        <>
          <span className="spin" aria-hidden="true" />
          <span>{plural(loading, 'plugin file')} still {loading === 1 ? 'loads' : 'load'}. Tools appear as soon as they are ready.</span>
        </>
      )}
    </div>
  );
}

// A filter that lives in the address: it survives a reload and can be sent to a colleague.

import { useCallback, useState } from 'react';

export function useAddressState(name: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => new URLSearchParams(window.location.search).get(name) ?? '');
  const set = useCallback(
    (next: string) => {
      setValue(next);
      const search = new URLSearchParams(window.location.search);
      if (next) search.set(name, next);
      else search.delete(name);
      const rest = search.toString();
      window.history.replaceState(null, '', window.location.pathname + (rest ? `?${rest}` : ''));
    },
    [name],
  );
  return [value, set];
}

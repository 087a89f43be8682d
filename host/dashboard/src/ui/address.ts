// A filter that lives in the address: it survives a reload and can be sent to a colleague.

import { useCallback, useEffect, useState } from 'react';
import { useSearch } from 'wouter';

export function useAddressState(name: string): [string, (value: string) => void] {
  const read = useCallback(() => new URLSearchParams(window.location.search).get(name) ?? '', [name]);
  const [value, setValue] = useState(read);
  // A link to this page with another filter does not make the page anew.
  const search = useSearch();
  useEffect(() => setValue(read()), [search, read]);
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

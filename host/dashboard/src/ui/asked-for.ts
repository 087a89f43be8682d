// A dialog that an address asks for: `/settings/members?do=invite`. The word leaves the address as soon as it is read, so that a
// reload does not ask again.

import { useEffect, useRef } from 'react';
import { useLocation, useSearch } from 'wouter';

/** Calls `open` when the address asks for `word`, also while the page is shown. */
export function useAskedFor(word: string, open: () => void): void {
  const search = useSearch();
  const [here, go] = useLocation();
  const latest = useRef(open);
  useEffect(() => {
    latest.current = open;
  });
  useEffect(() => {
    // `search` says that the address has changed, but not with every character as it is in it.
    const query = new URLSearchParams(window.location.search);
    if (query.get('do') !== word) return;
    query.delete('do');
    const rest = query.toString();
    go(here + (rest ? `?${rest}` : ''), { replace: true });
    latest.current();
  }, [search, word, here, go]);
}

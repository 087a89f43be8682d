import { Button } from './button';

/** What a list read by pages knows of the next one (TanStack Query's `useInfiniteQuery`). */
export interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** Reads the next page of a list; nothing where there is none. */
export function ShowMore({ list, inset = true }: { list: Pages; inset?: boolean }) {
  if (!list.hasNextPage) return null;
  const button = <Button size="small" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>Show more</Button>;
  return inset ? <div className="inner">{button}</div> : button;
}

// Who is signed in, for every page below the shell.

import { createContext, useContext } from 'react';
import type { Me } from '../api/types';

export const MeContext = createContext<Me | null>(null);

export function useMe(): Me {
  const me = useContext(MeContext);
  if (!me) throw new Error('only pages of the shell ask who is signed in');
  return me;
}

export const useIsAdmin = () => useMe().role !== 'member';
/** May change plugins and what holds for all workspaces. */
export function useIsOperator(): boolean {
  const me = useMe();
  return me.operator && me.role !== 'member';
}

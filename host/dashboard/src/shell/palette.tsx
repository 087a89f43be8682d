// Ctrl-K: one field that finds actions, pages, integrations, tools, users and executions.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/client';
import type { Found, User } from '../api/types';
import { useServices } from '../ui/services';
import { actions, byId, executionsOf, integrations, pages, type Hit } from './find';
import { useIsAdmin, useMe } from './me';

const HITS_MAX = 6;

export default function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useId();
  const [, go] = useLocation();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const groups = useHits(useDeferredValue(typed.trim()));
  const hits = groups.flatMap(([, found]) => found);
  const chosen = Math.min(at, hits.length - 1);

  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    if (element && !element.open) element.showModal();
    return () => {
      element?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  useEffect(() => {
    document.getElementById(`${list}-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [list, chosen]);

  const open = (hit: Hit | undefined) => {
    if (!hit) return;
    onClose();
    go(hit.to);
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && hits.length > 0) {
      event.preventDefault();
      setAt((chosen + step + hits.length) % hits.length);
    } else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      open(hits[chosen]);
    }
  };
  let index = -1;
  return (
    <dialog ref={dialog} className="palette" aria-label="Find" onCancel={(event) => { event.preventDefault(); onClose(); }} onClick={(event) => event.target === dialog.current && onClose()}>
      <input
        className="input"
        type="text"
        role="combobox"
        aria-label="Find an action, page, tool, integration, user or execution"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={chosen >= 0 ? `${list}-${chosen}` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder="Find an action, page, tool, integration, user or execution"
        maxLength={200}
        autoFocus
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div className="hits" id={list} role="listbox" aria-label="Found">
        {groups.map(([group, found]) => (
          <div key={group} role="group" aria-label={group}>
            <div className="group" aria-hidden="true">{group}</div>
            {found.map((hit) => {
              index += 1;
              const here = index;
              return (
                <div key={hit.to} id={`${list}-${here}`} role="option" aria-selected={here === chosen} className="hit-line" onPointerMove={() => setAt(here)} onClick={() => open(hit)}>
                  <span className="grow">{hit.name}</span>
                  {hit.about && <span className="muted small">{hit.about}</span>}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {hits.length === 0 && <p className="inner muted" role="status">Nothing found. Try another word.</p>}
    </dialog>
  );
}

/** What was found, by group; groups without anything are left out. */
function useHits(typed: string): [string, Hit[]][] {
  const admin = useIsAdmin();
  const me = useMe();
  const services = useServices();
  const tools = useQuery({
    queryKey: ['tools', 'search', typed, 'palette'],
    queryFn: ({ signal }) => call<Found>('GET', '/tools/search', { query: { query: typed, limit: HITS_MAX, schema_limit: 0, user_id: me.user_id }, signal }),
    enabled: typed.length > 1,
    placeholderData: keepPreviousData,
  });
  const users = useQuery({
    queryKey: ['permissions', 'users', typed, 'palette'],
    queryFn: ({ signal }) => call<{ users: User[] }>('GET', '/users', { query: { query: typed, limit: HITS_MAX }, signal }),
    enabled: admin && typed.length > 1,
    placeholderData: keepPreviousData,
  });
  return useMemo(() => {
    const asked = typed.length > 1;
    const foundTools = (asked ? (tools.data?.tools ?? []) : []).map((tool): Hit => ({ name: tool.name, about: tool.service, to: `/tools/${tool.name}` }));
    const foundUsers = (asked ? (users.data?.users ?? []) : []).map((user): Hit => ({ name: user.user_id, to: `/permissions/${encodeURIComponent(user.user_id)}` }));
    const named = foundTools.filter((tool) => tool.name.includes(typed.toLowerCase().replaceAll(' ', '_')));
    const groups: [string, Hit[]][] = [
      ['By id', byId(typed)],
      ['Actions', actions(typed, admin)],
      ['Pages', pages(typed, admin)],
      ['Integrations', integrations(typed, services.data?.services ?? [])],
      ['Tools', foundTools],
      ['Users', foundUsers],
      ['Executions', asked ? executionsOf(named, foundUsers) : []],
    ];
    return groups.filter(([, found]) => found.length > 0);
  }, [typed, admin, tools.data, users.data, services.data]);
}

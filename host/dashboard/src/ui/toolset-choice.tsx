// What a toolset names: found by words, added and removed one by one.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { call } from '../api/client';
import type { Found, SkillPage, Toolset } from '../api/types';
import { Button } from './button';
import { TextField } from './field';
import { useServices } from './services';

const EACH_MAX = 6;
/** What a toolset names, as it is sent. */
export type ToolsetChoice = Pick<Toolset, 'tools' | 'services' | 'skills'> & {
  /** Of the Skills that were chosen just now, by id: the version that was shown. At another one nothing is stored. */
  skill_versions: Record<string, number>;
};
type Kind = Exclude<keyof ToolsetChoice, 'skill_versions'>;
interface Offer {
  kind: Kind;
  id: string;
  name: string;
  about: string;
  /** Of a Skill. */
  version?: number;
}

const WORD: Record<Kind, string> = { tools: 'Tool', services: 'All tools of', skills: 'Skill' };

/** The Skills by id, as far as a page holds them. */
export function useSkillNames(): Map<string, string> {
  const skills = useQuery({ queryKey: ['skills', 'names'], queryFn: () => call<SkillPage>('GET', '/skills', { query: { limit: 100 } }) });
  return new Map((skills.data?.skills ?? []).map((skill) => [skill.skill_id, skill.name]));
}

function useOffers(typed: string): Offer[] {
  const query = useDeferredValue(typed.trim());
  const services = useServices();
  const tools = useQuery({
    queryKey: ['tools', 'toolset', query],
    queryFn: () => call<Found>('GET', '/tools/search', { query: { query, limit: EACH_MAX, schema_limit: 0 } }),
    enabled: query !== '',
    placeholderData: keepPreviousData,
  });
  const skills = useQuery({
    queryKey: ['skills', 'toolset', query],
    queryFn: () => call<SkillPage>('GET', '/skills', { query: { query, limit: EACH_MAX } }),
    enabled: query !== '',
    placeholderData: keepPreviousData,
  });
  if (query === '') return [];
  const lower = query.toLowerCase();
  const named = (services.data?.services ?? []).filter((one) => `${one.title} ${one.service}`.toLowerCase().includes(lower));
  return [
    ...named.slice(0, EACH_MAX).map((one): Offer => ({ kind: 'services', id: one.service, name: one.title, about: `${one.tools} tools` })),
    ...(tools.data?.tools ?? []).map((one): Offer => ({ kind: 'tools', id: one.name, name: one.name, about: one.description })),
    ...(skills.data?.skills ?? []).map((one): Offer => ({ kind: 'skills', id: one.skill_id, name: one.name, about: `version ${one.version}: ${one.summary}`, version: one.version })),
  ];
}

function without(versions: Record<string, number>, id: string): Record<string, number> {
  const { [id]: _, ...rest } = versions;
  return rest;
}

export function ToolsetChoiceField({ value, onChange }: { value: ToolsetChoice; onChange: (value: ToolsetChoice) => void }) {
  const [typed, setTyped] = useState('');
  const offers = useOffers(typed).filter((offer) => !value[offer.kind].includes(offer.id));
  const names = useSkillNames();
  const add = ({ kind, id, version }: Offer) => {
    const skill_versions = version === undefined ? value.skill_versions : { ...value.skill_versions, [id]: version };
    onChange({ ...value, [kind]: [...value[kind], id], skill_versions });
  };
  const remove = (kind: Kind, id: string) => {
    const skill_versions = kind === 'skills' ? without(value.skill_versions, id) : value.skill_versions;
    onChange({ ...value, [kind]: value[kind].filter((one) => one !== id), skill_versions });
  };
  const chosen = (['services', 'tools', 'skills'] as const).flatMap((kind) => value[kind].map((id) => ({ kind, id, name: kind === 'skills' ? (names.get(id) ?? id) : id })));
  return (
    <div className="stack tight">
      <TextField label="Add tools, services or Skills" type="search" name="find" placeholder="create an issue" hint="At most 128 together. A service means all its tools." value={typed} onChange={setTyped} onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()} />
      {offers.length > 0 && (
        <ul className="choices" aria-label="Found">
          {offers.map((offer) => (
            <li key={`${offer.kind} ${offer.id}`} className="row apart">
              <span className="grow">
                <span className="muted small">{WORD[offer.kind]}</span> <span className={offer.kind === 'tools' ? 'mono strong' : 'strong'}>{offer.name}</span> <span className="muted small">{offer.about}</span>
              </span>
              <Button size="small" icon="plus" aria-label={`Add ${offer.name}`} onClick={() => add(offer)} />
            </li>
          ))}
        </ul>
      )}
      <fieldset className="plain">
        <legend>Chosen</legend>
        {chosen.length === 0 && <p className="muted small">Nothing yet.</p>}
        <ul className="choices" aria-label="Chosen">
          {chosen.map(({ kind, id, name }) => (
            <li key={`${kind} ${id}`} className="row apart">
              <span className="grow"><span className="muted small">{WORD[kind]}</span> <span className={kind === 'skills' ? undefined : 'mono'}>{name}</span></span>
              <Button size="small" kind="quiet" icon="close" aria-label={`Remove ${name}`} onClick={() => remove(kind, id)} />
            </li>
          ))}
        </ul>
      </fieldset>
    </div>
  );
}

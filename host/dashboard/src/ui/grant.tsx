// What an app that asks to be let in will be able to do: its scopes in words, and at a toolset what that gives alone.

import { useQuery } from '@tanstack/react-query';
import { call } from '../api/client';
import type { AppRequest, ToolsetTools } from '../api/types';
import { plural } from './time';

/** More are counted. */
const NAMES_MAX = 20;

export function Grant({ app }: { app: AppRequest }) {
  const name = app.toolset?.title != null ? app.toolset.name : null;
  const listed = useQuery({ queryKey: ['toolsets', name, 'tools'], queryFn: () => call<ToolsetTools>('GET', `/toolsets/${name}/tools`), enabled: name != null });
  // A toolset with search reaches all that the scopes allow. Until it is known what a toolset gives, the scopes are said whole.
  const only = listed.data && !listed.data.generic_tools ? listed.data.tools : null;
  const scopes = only ? app.scopes.filter(({ scope }) => !scope.startsWith('skills:')) : app.scopes;
  return (
    <div className="stack tight">
      <p className="strong">{app.connected_before ? 'You have let this app in before. It asks for this:' : 'It will be able to:'}</p>
      <ul>
        {scopes.map((scope) => <li key={scope.scope}>{scope.words}</li>)}
      </ul>
      {only && (
        <>
          <p>Only with what the toolset {app.toolset?.title} gives you now, {plural(only.length, 'tool')}:</p>
          <ul>
            {only.slice(0, NAMES_MAX).map((tool) => <li key={tool.name}>{tool.title} <span className="mono small muted">{tool.name}</span></li>)}
            {only.length > NAMES_MAX && <li>and {plural(only.length - NAMES_MAX, 'more tool')}</li>}
          </ul>
        </>
      )}
    </div>
  );
}

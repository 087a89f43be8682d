// The catalog as an agent searches it: scores, reasons, and what is not connected.

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { Found, FoundTool, ListedTool, ToolPage } from '../api/types';
import { useIsOperator, useMe } from '../shell/me';
import { Badge, State } from '../ui/badge';
import { Button } from '../ui/button';
import { SelectField, TextField } from '../ui/field';
import { Empty, ErrorNote } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { useServices } from '../ui/services';
import { useAddressState } from '../ui/address';
import { ShowMore } from '../ui/show-more';
import { plural } from '../ui/time';

export default function Tools() {
  const me = useMe();
  const [typed, setTyped] = useAddressState('query');
  const [service, setService] = useAddressState('service');
  const query = useDeferredValue(typed.trim());
  const services = useServices();
  const names = services.data?.services ?? [];
  return (
    <Page title="Tools" about="Search the way an agent does. Each result shows how well it matches and why. Open one to see its schema and try it.">
      <div className="filters" role="search">
        <div className="search">
          <TextField bare label="Search tools" type="search" placeholder="Describe a task, for example: send a message to a channel" value={typed} onChange={setTyped} maxLength={500} />
        </div>
        <SelectField bare label="Service" className="narrow" value={service} onChange={setService} options={[['', 'All services'], ...names.map((item) => [item.service, item.title] as const)]} />
      </div>
      {query ? <Search query={query} service={service} userId={me.user_id} clear={() => setService('')} /> : <All service={service} />}
    </Page>
  );
}

function Search({ query, service, userId, clear }: { query: string; service: string; userId: string; clear: () => void }) {
  const operator = useIsOperator();
  const [limit, setLimit] = useState(20);
  const found = useQuery({
    queryKey: ['tools', 'search', query, service, limit],
    queryFn: ({ signal }) => call<Found>('GET', '/tools/search', { query: { query, service, limit, schema_limit: 0, user_id: userId }, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Loaded query={found} what="Searching">
      {(data) =>
        data.tools.length === 0 ? (
          <Card>
            <Empty icon="search" title="No good match" action={service ? <Button onClick={clear}>Search all services</Button> : undefined}>
              {data.suggestions?.length ? `The closest services are ${data.suggestions.join(', ')}.` : operator ? 'Describe the task in other words, or add a plugin that can do it.' : 'Describe the task in other words.'}
            </Empty>
          </Card>
        ) : (
          <Card title={`${plural(data.total, 'tool')} for "${data.query}"`} flush>
            {data.confidence === 'none' && <div className="inner muted">No tool seems to do this. These are only the nearest.</div>}
            <ul className="list">
              {data.tools.map((tool) => (
                <li key={tool.name}><Result tool={tool} /></li>
              ))}
            </ul>
            {data.total > data.tools.length && limit < 100 && (
              <div className="inner"><Button size="small" onClick={() => setLimit(100)}>Show more</Button></div>
            )}
          </Card>
        )
      }
    </Loaded>
  );
}

function Result({ tool }: { tool: ListedTool | FoundTool }) {
  const found = 'score' in tool ? tool : null;
  return (
    <Link href={`/tools/${tool.name}`} className="result">
      <div className="row apart">
        <span className="name">{tool.name}</span>
        <span className="row">
          <Effect tool={tool} />
          {found && found.connection !== 'not_needed' && <State name={found.connection} />}
          {found && <Badge tone="accent"><span className="only-read">score </span><span className="number">{found.score.toFixed(2)}</span></Badge>}
        </span>
      </div>
      <p>{tool.description}</p>
      {found?.step && <div className="small">For: {found.step}</div>}
      {found && found.match_reasons.length > 0 && <div className="small muted">{found.match_reasons.join(' · ')}</div>}
    </Link>
  );
}

export function Effect({ tool }: { tool: ListedTool }) {
  if (tool.annotations.readOnlyHint) return <Badge>reads</Badge>;
  return tool.annotations.destructiveHint ? <Badge tone="bad">destroys</Badge> : <Badge tone="info">writes</Badge>;
}

function All({ service }: { service: string }) {
  const operator = useIsOperator();
  const list = useInfiniteQuery({
    queryKey: ['tools', 'list', service],
    queryFn: ({ pageParam }) => call<ToolPage>('GET', '/tools/list', { query: { service, limit: 100, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  if (list.error) return <ErrorNote error={list.error} retry={() => void list.refetch()} />;
  const tools = list.data?.pages.flatMap((page) => page.tools) ?? [];
  if (list.data && tools.length === 0) {
    return (
      <Card>
        <Empty icon="tools" title="No tools here" action={operator && <Link className="button primary" href="/plugins">Add a plugin</Link>}>
          {operator ? 'Tools come with plugins. Upload one on the plugins page, or copy it into the plugins folder.' : 'Tools come with plugins, which the operator of this gateway adds.'}
        </Empty>
      </Card>
    );
  }
  return (
    <Card title={service ? `Tools of ${service}` : 'All tools by name'} flush>
      <ul className="list">
        {tools.map((tool) => (
          <li key={tool.name}><Result tool={tool} /></li>
        ))}
      </ul>
      <ShowMore list={list} />
    </Card>
  );
}

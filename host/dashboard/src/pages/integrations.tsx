import { useMemo } from 'react';
import { Link } from 'wouter';
import type { Service } from '../api/types';
import { useIsOperator } from '../shell/me';
import { useAddressState } from '../ui/address';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { SelectField, TextField } from '../ui/field';
import { Filters } from '../ui/filters';
import { Logo } from '../ui/logo';
import { inWords } from '../ui/names';
import { Empty } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { useServices } from '../ui/services';
import { plural } from '../ui/time';

const STATES = [
  ['', 'Any state'],
  ['connected', 'Connected'],
  ['broken', 'Needs attention'],
  ['missing', 'Needs setup'],
  ['ready', 'Ready to connect'],
  ['free', 'No account needed'],
] as const;

function matches(service: Service, words: string[], category: string, state: string): boolean {
  const text = `${service.service} ${service.title} ${service.description} ${service.categories.join(' ')}`.toLowerCase();
  if (!words.every((word) => text.includes(word))) return false;
  if (category && !service.categories.includes(category)) return false;
  switch (state) {
    case 'connected': return service.connections > 0;
    case 'broken': return service.connections_broken > 0;
    case 'missing': return Boolean(service.missing);
    case 'ready': return service.auth.length > 0 && service.connectable && service.connections === 0;
    case 'free': return service.auth.length === 0 && !service.missing;
    default: return true;
  }
}

/** How a category is written for people: `code_hosting` is Code hosting. */

export default function Integrations() {
  const services = useServices();
  const operator = useIsOperator();
  const [typed, setTyped] = useAddressState('query');
  const [category, setCategory] = useAddressState('category');
  const [state, setState] = useAddressState('state');
  const all = services.data?.services;
  const categories = useMemo(() => [...new Set(all?.flatMap((service) => service.categories))].sort(), [all]);
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return (
    <Page title="Integrations" about="The services that agents can use. Each user connects their own account; some services need an OAuth application or an address from you first.">
      <Loaded query={services}>
        {(data) => {
          // What is in use comes first; the others stay in their order.
          const shown = data.services.filter((service) => matches(service, words, category, state)).sort((a, b) => Number(b.connections > 0) - Number(a.connections > 0));
          const clear = () => {
            setTyped('');
            setCategory('');
            setState('');
          };
          return (
            <>
              <Filters set={[category, state].filter(Boolean).length}>
                <div className="search"><TextField bare label="Filter integrations" type="search" placeholder="Filter by name or purpose" value={typed} onChange={setTyped} /></div>
                <SelectField bare label="Category" className="narrow" value={category} onChange={setCategory} options={[['', 'All categories'], ...categories.map((name) => [name, inWords(name)] as const)]} />
                <SelectField bare label="State" className="narrow" value={state} onChange={setState} options={STATES} />
                <span className="muted small" role="status">{plural(shown.length, 'integration')}</span>
              </Filters>
              {shown.length === 0 ? (
                <Card>
                  <Empty icon="integrations" title={data.services.length === 0 ? 'No integrations installed' : 'No matches'} action={data.services.length === 0 ? operator && <Link className="button primary" href="/plugins">Add a plugin</Link> : <Button onClick={clear}>Clear filters</Button>}>
                    {data.services.length === 0 ? 'Each integration is a plugin file.' : 'Try fewer words or another category.'}
                  </Empty>
                </Card>
              ) : (
                <ul className="cards">
                  {shown.map((service) => <li key={service.service}><Tile service={service} /></li>)}
                </ul>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Tile({ service }: { service: Service }) {
  return (
    <Link href={`/integrations/${service.service}`} className="tile">
      <div className="row">
        <Logo service={service.service} title={service.title} />
        <div className="grow">
          <h2>{service.title}</h2>
          <div className="muted small">{plural(service.tools, 'tool')}</div>
        </div>
      </div>
      <p className="what">{service.description}</p>
      <div className="row foot"><Health service={service} /></div>
    </Link>
  );
}

export function Health({ service }: { service: Service }) {
  return (
    <>
      {service.connections_broken > 0 && <Badge tone="bad">{service.connections_broken} to reconnect</Badge>}
      {service.connections > service.connections_broken && <Badge tone="ok">{plural(service.connections - service.connections_broken, 'connection')}</Badge>}
      {service.missing && <Badge tone="warn">needs setup</Badge>}
      {service.auth.length === 0 && !service.missing && <Badge>no account needed</Badge>}
      {service.auth.length > 0 && service.connectable && service.connections === 0 && <Badge tone="info">ready to connect</Badge>}
    </>
  );
}

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { Overview as Sums, Period } from '../api/types';
import { PENDING_MAX, usePending } from '../shell/nav';
import { useAddressState } from '../ui/address';
import { CallsChart, LatencyChart } from '../ui/chart';
import { FirstSteps } from '../ui/first-steps';
import { Icon } from '../ui/icon';
import { Empty } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Segments } from '../ui/segments';
import { count, duration, plural } from '../ui/time';

const PERIODS: { value: Period; label: string }[] = [
  { value: '1h', label: 'Hour' },
  { value: '24h', label: 'Day' },
  { value: '7d', label: 'Week' },
  { value: '30d', label: 'Month' },
];

const LAST: Record<Period, string> = { '1h': 'in the last hour', '24h': 'in the last day', '7d': 'in the last week', '30d': 'in the last month' };

export default function Overview() {
  const [chosen, setPeriod] = useAddressState('period');
  const period = PERIODS.find(({ value }) => value === chosen)?.value ?? '24h';
  const query = useQuery({
    queryKey: ['overview', period],
    queryFn: () => call<Sums>('GET', '/overview', { query: { period } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title="Overview" about="What agents did in this workspace, and what needs your attention." actions={<Segments label="Period" value={period} options={PERIODS} onChange={setPeriod} />}>
      <Loaded query={query}>
        {(sums) => (
          <div className="stack">
            <FirstSteps />
            <Body sums={sums} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Body({ sums }: { sums: Sums }) {
  const { totals, counts } = sums;
  const pending = usePending();
  const share = totals.calls > 0 ? ((totals.errors / totals.calls) * 100).toFixed(1) : '0';
  return (
    <div className="stack">
      <nav className="stats" aria-label="Sums">
        <Stat to="/executions" name="Calls" value={count(totals.calls)} note={LAST[sums.period]} />
        <Stat to="/executions?status=error" name="Errors" value={count(totals.errors)} note={`${share} % of calls`} />
        <Stat to="/approvals" name="Waiting" value={pending == null ? '...' : pending >= PENDING_MAX ? `${PENDING_MAX}+` : count(pending)} note="for a person, now" />
        <Stat to="/executions" name="Median" value={duration(totals.p50_ms)} note={`95th: ${duration(totals.p95_ms)}`} />
        <Stat to="/tools" name="Tools" value={count(counts.tools ?? 0)} note={plural(counts.services ?? 0, 'service')} />
        <Stat to="/integrations?state=connected" name="Connections" value={count(counts.connections ?? 0)} note={counts.keys == null ? 'of your accounts' : plural(counts.keys, 'key')} />
      </nav>
      {sums.attention.length > 0 && <Attention items={sums.attention} />}
      {totals.calls === 0 ? (
        <Card>
          <Empty icon="executions" title="No calls in this period" action={<><Link className="button primary" href="/settings/clients">Connect a client</Link><Link className="button" href="/tools">Try a tool</Link></>}>
            Connect a client, or run a tool here to see its receipt.
          </Empty>
        </Card>
      ) : (
        <>
          <div className="columns two">
            <Card title="Calls"><CallsChart series={sums.series} bucketMs={sums.bucket_ms} /></Card>
            <Card title="Duration"><LatencyChart series={sums.series} bucketMs={sums.bucket_ms} /></Card>
          </div>
          <div className="columns two">
            <Card title="Top tools">
              <Ranking items={sums.top_tools.map((tool) => ({ name: tool.tool_name, to: `/tools/${tool.tool_name}`, calls: tool.calls, errors: tool.errors, more: duration(tool.mean_ms) }))} />
            </Card>
            <Card title="Top services">
              <Ranking items={sums.top_services.map((service) => ({ name: service.service, to: `/integrations/${service.service}`, calls: service.calls, errors: service.errors }))} />
            </Card>
          </div>
        </>
      )}
    </div>
  );
}

function Stat({ to, name, value, note }: { to: string; name: string; value: string; note: string }) {
  return (
    <Link className="stat" href={to}>
      <span className="name">{name}</span>
      <span className="value">{value}</span>
      <span className="note">{note}</span>
    </Link>
  );
}

function Attention({ items }: { items: Sums['attention'] }) {
  return (
    <Card title="Needs attention" flush>
      <ul className="attention">
        {items.map((item) => (
          <li key={item.kind + (item.subject ?? '')}>
            <Link href={item.path}>
              <Icon name="warn" />
              <span className="grow">{item.message}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface Ranked {
  name: string;
  to: string;
  calls: number;
  errors: number;
  more?: string;
}

function Ranking({ items }: { items: Ranked[] }) {
  const most = Math.max(1, ...items.map((item) => item.calls));
  return (
    <ol className="rank">
      {items.map((item) => (
        <li key={item.name}>
          <div className="row apart">
            <Link href={item.to} className="mono grow">{item.name}</Link>
            <span className="small muted number nowrap">
              {count(item.calls)}
              {item.errors > 0 && `, ${plural(item.errors, 'error')}`}
              {item.more && `, ${item.more}`}
            </span>
          </div>
          <div className="bar" aria-hidden="true"><div style={{ width: `${(item.calls / most) * 100}%` }} /></div>
        </li>
      ))}
    </ol>
  );
}

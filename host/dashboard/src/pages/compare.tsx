// Two receipts side by side, with what differs marked.

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { Receipt, RequestRecord } from '../api/types';
import { useAddressState } from '../ui/address';
import { State } from '../ui/badge';
import { failureOf } from '../ui/failures';
import { Empty } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { Table } from '../ui/table';
import { bytes, duration, exact } from '../ui/time';

interface Row {
  name: string;
  a: ReactNode;
  b: ReactNode;
  differs: boolean;
}

const useReceipt = (id: string) => useQuery({ queryKey: ['executions', id], queryFn: () => call<Receipt>('GET', `/executions/${id}`), enabled: id !== '' });

export default function Compare() {
  const [a] = useAddressState('a');
  const [b] = useAddressState('b');
  const [one, other] = [useReceipt(a), useReceipt(b)];
  return (
    <Page title="Compare executions" back={{ to: '/executions', name: 'Executions' }} about="What differs is marked.">
      {a && b ? (
        <Loaded query={one}>{(first) => <Loaded query={other}>{(second) => <Both a={first} b={second} />}</Loaded>}</Loaded>
      ) : (
        <Card><Empty icon="executions" title="Nothing to compare" action={<Link className="button primary" href="/executions">Executions</Link>}>Select two executions in the list.</Empty></Card>
      )}
    </Page>
  );
}

function Both({ a, b }: { a: Receipt; b: Receipt }) {
  const row = (name: string, of: (receipt: Receipt) => string, show: (receipt: Receipt) => ReactNode = of): Row => ({ name, a: show(a), b: show(b), differs: of(a) !== of(b) });
  const why = (receipt: Receipt) => failureOf(receipt)?.words ?? failureOf(receipt)?.why ?? '';
  const rows = [
    row('Receipt', () => '', (receipt) => <Link href={`/executions/${receipt.execution_id}`} className="mono small">{receipt.execution_id}</Link>),
    row('Tool', (receipt) => receipt.tool_name),
    row('Status', (receipt) => receipt.status, (receipt) => <State name={receipt.status} />),
    row('Reason', (receipt) => receipt.reason?.replaceAll('_', ' ') ?? ''),
    row('Why', why),
    row('User', (receipt) => receipt.user_id),
    row('By', (receipt) => receipt.key.name),
    row('Connection', (receipt) => receipt.connection_id ?? ''),
    row('Plugin', (receipt) => `${receipt.plugin.service} ${receipt.plugin.version}, ${receipt.plugin.sha256.slice(0, 16)}`),
    // Two calls never begin and end alike: these are not marked.
    row('Started', () => '', (receipt) => exact(receipt.started_at)),
    row('Duration', () => '', (receipt) => duration(receipt.duration_ms)),
    row('Requests', (receipt) => String(receipt.requests.length)),
  ].filter((item) => item.a !== '' || item.b !== '');
  const most = Math.max(a.requests.length, b.requests.length);
  return (
    <div className="stack">
      <Card title="The calls" flush><Sides rows={rows} caption="The two calls" /></Card>
      {Array.from({ length: most }, (_, index) => (
        <Card key={index} title={`Request ${index + 1}`} flush><Sides rows={requests(a.requests[index], b.requests[index])} caption={`Request ${index + 1} of both`} /></Card>
      ))}
    </div>
  );
}

function requests(a: RequestRecord | undefined, b: RequestRecord | undefined): Row[] {
  const row = (name: string, of: (request: RequestRecord) => string, judged = true): Row => {
    const [left, right] = [a ? of(a) : 'not sent', b ? of(b) : 'not sent'];
    return { name, a: left, b: right, differs: judged && left !== right };
  };
  return [
    row('Request', (request) => `${request.method} ${request.host}${request.path}`),
    row('Query', (request) => request.query ?? ''),
    row('Status', (request) => (request.status == null ? 'no answer' : String(request.status))),
    row('Sent', (request) => bytes(request.bytes_out ?? 0)),
    row('Body', (request) => request.body_sha256?.slice(0, 16) ?? ''),
    row('Received', (request) => bytes(request.bytes_in ?? 0)),
    row('Duration', (request) => duration(request.duration_ms), false),
  ].filter((item) => item.a !== '' || item.b !== '');
}

function Sides({ rows, caption }: { rows: Row[]; caption: string }) {
  const cell = (value: ReactNode, differs: boolean) => (value === '' ? <span className="muted">none</span> : differs ? <mark className="differs">{value}</mark> : value);
  return (
    <Table
      caption={caption}
      rows={rows}
      rowKey={(row) => row.name}
      columns={[
        { head: 'What', cell: (row) => <span className="muted">{row.name}{row.differs && <span className="only-read"> (differs)</span>}</span> },
        { head: 'First', wide: true, cell: (row) => cell(row.a, row.differs) },
        { head: 'Second', wide: true, cell: (row) => cell(row.b, row.differs) },
      ]}
    />
  );
}

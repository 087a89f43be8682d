// The requests of a receipt: what left, where to, with which credential.

import type { RequestRecord } from '../api/types';
import { Badge } from './badge';
import { Table } from './table';
import { bytes, duration } from './time';

export function RequestTable({ requests }: { requests: RequestRecord[] }) {
  const rows = requests.map((request, index) => ({ ...request, index }));
  return (
    <Table
      caption="Requests that left the gateway"
      rows={rows}
      rowKey={(row) => String(row.index)}
      columns={[
        { head: 'Request', wide: true, cell: (row) => <span className="mono">{row.method} {row.host}{row.path}{row.query ? `?${row.query}` : ''}</span> },
        { head: 'Status', cell: (row) => <Badge tone={row.status == null || row.status >= 400 ? 'bad' : 'ok'}>{row.status ?? 'none'}</Badge> },
        { head: 'Credential', cell: (row) => row.credential_slot ?? <span className="muted">none</span> },
        { head: 'Out', align: 'right', cell: (row) => bytes(row.bytes_out) },
        { head: 'In', align: 'right', cell: (row) => bytes(row.bytes_in) },
        { head: 'Time', align: 'right', cell: (row) => duration(row.duration_ms) },
      ]}
    />
  );
}

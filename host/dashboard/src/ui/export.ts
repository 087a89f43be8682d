// Receipts and entries of the audit log as other programs read them: a row each for a spreadsheet, or JSON.

import type { AuditEntry, Receipt } from '../api/types';

type Columns<Row> = readonly (readonly [string, (row: Row) => unknown])[];

const COLUMNS: Columns<Receipt> = [
  ['execution_id', (row) => row.execution_id],
  ['started_at', (row) => row.started_at],
  ['tool_name', (row) => row.tool_name],
  ['service', (row) => row.plugin.service],
  ['user_id', (row) => row.user_id],
  ['key_name', (row) => row.key.name],
  ['key_prefix', (row) => row.key.prefix],
  ['status', (row) => row.status],
  ['reason', (row) => row.reason],
  ['duration_ms', (row) => row.duration_ms],
  ['requests', (row) => row.requests.length],
  ['last_status', (row) => row.requests.at(-1)?.status],
];

/** RFC 4180. A text that a spreadsheet would take for a formula is kept a text. */
function cell(value: unknown): string {
  const text = value == null ? '' : String(value);
  const plain = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

function table<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const lines = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, value]) => cell(value(row))))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

export function csv(rows: readonly Receipt[]): string {
  return table(COLUMNS, rows);
}

const ENTRY_COLUMNS: Columns<AuditEntry> = [
  ['entry_id', (row) => row.entry_id],
  ['at', (row) => row.at],
  ['actor', (row) => row.actor],
  ['actor_name', (row) => row.actor_name],
  ['action', (row) => row.action],
  ['subject', (row) => row.subject],
  ['details', (row) => JSON.stringify(row.details)],
  ['address', (row) => row.address],
  ['request_id', (row) => row.request_id],
];

export function auditCsv(rows: readonly AuditEntry[]): string {
  return table(ENTRY_COLUMNS, rows);
}

/** A JSON document a line. */
export function jsonLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

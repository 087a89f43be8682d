// Receipts as other programs read them: JSON, or a row each for a spreadsheet.

import type { Receipt } from '../api/types';

const COLUMNS: readonly (readonly [string, (row: Receipt) => unknown])[] = [
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

export function csv(rows: readonly Receipt[]): string {
  const lines = [COLUMNS.map(([name]) => name), ...rows.map((row) => COLUMNS.map(([, value]) => cell(value(row))))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

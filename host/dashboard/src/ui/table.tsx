// A table whose rows become cards on a narrow screen. The roles are said aloud because `display`
// other than `table` takes them away.

import type { ReactNode } from 'react';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  align?: 'right' | 'acts';
  /** Text that may be long takes the room that is left; other cells break at their share. */
  wide?: boolean;
}

interface Props<Row> {
  /** Says what the table holds; for screen readers. */
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  /** Stays a table on narrow screens: few short columns. */
  dense?: boolean;
}

export function Table<Row>({ caption, columns, rows, rowKey, dense }: Props<Row>) {
  return (
    <div className="table-wrap">
      <table className={dense ? 'table dense' : 'table'} role="table">
        <caption className="only-read">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.head} role="columnheader" scope="col" className={column.align === 'right' ? 'right' : undefined}>
                {column.align === 'acts' ? <span className="only-read">{column.head}</span> : column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row">
              {columns.map((column) => (
                <td key={column.head} role="cell" data-label={column.head} className={column.wide ? 'wide' : column.align}>
                  <div className={column.align === 'acts' ? 'row' : undefined}>{column.cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

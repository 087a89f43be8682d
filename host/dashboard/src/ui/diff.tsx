// The difference of two texts, line by line.

export interface Line {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Longer texts are compared as a whole: the table below grows with the product of the lines. */
const LINES_MAX = 3_000;

/** The longest common subsequence of the lines, and what each side has beside it. */
export function lines(before: string, after: string): Line[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const left = a.slice(start, a.length - end);
  const right = b.slice(start, b.length - end);
  const same = (texts: string[]): Line[] => texts.map((text) => ({ kind: 'same', text }));
  return [...same(a.slice(0, start)), ...middle(left, right), ...same(a.slice(a.length - end))];
}

function middle(left: string[], right: string[]): Line[] {
  const removed = (text: string): Line => ({ kind: 'removed', text });
  const added = (text: string): Line => ({ kind: 'added', text });
  if (left.length > LINES_MAX || right.length > LINES_MAX) return [...left.map(removed), ...right.map(added)];
  const width = right.length + 1;
  const longest = new Uint16Array((left.length + 1) * width);
  const at = (row: number, column: number) => longest[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row -= 1) {
    for (let column = right.length - 1; column >= 0; column -= 1) {
      longest[row * width + column] = left[row] === right[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const found: Line[] = [];
  let row = 0;
  let column = 0;
  while (row < left.length || column < right.length) {
    if (row < left.length && column < right.length && left[row] === right[column]) {
      found.push({ kind: 'same', text: left[row] ?? '' });
      row += 1;
      column += 1;
    } else if (column >= right.length || (row < left.length && at(row + 1, column) >= at(row, column + 1))) {
      found.push(removed(left[row] ?? ''));
      row += 1;
    } else {
      found.push(added(right[column] ?? ''));
      column += 1;
    }
  }
  return found;
}

const SIGNS = { same: ' ', added: '+', removed: '-' };

export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  if (before === after) return <p className="muted">No difference.</p>;
  return (
    <div className="diff" role="region" aria-label={label} tabIndex={0}>
      {lines(before, after).map((line, index) => (
        <div key={index} className={line.kind} data-sign={SIGNS[line.kind]}>
          {line.kind !== 'same' && <span className="only-read">{line.kind}: </span>}
          {line.text}
        </div>
      ))}
    </div>
  );
}

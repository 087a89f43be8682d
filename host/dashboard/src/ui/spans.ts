// Where the requests of a call, and the calls of a script, lie in its time, in percent.

/** What began at a time, if that is known, and took a while. */
export interface Timed {
  started_ms?: number | null;
  duration_ms: number;
}

export interface Span<T extends Timed> {
  request: T;
  left: number;
  width: number;
}

/** A request that took next to nothing is still seen. */
const WIDTH_MIN = 0.75;

/** `null` for receipts that do not say when a request began. */
export function spans<T extends Timed>(requests: readonly T[], total_ms: number): Span<T>[] | null {
  if (requests.length === 0 || requests.some((request) => request.started_ms == null)) return null;
  const whole = Math.max(total_ms, 1, ...requests.map((request) => (request.started_ms ?? 0) + request.duration_ms));
  return requests.map((request) => {
    const width = Math.max(WIDTH_MIN, (request.duration_ms / whole) * 100);
    const left = Math.min(((request.started_ms ?? 0) / whole) * 100, 100 - width);
    return { request, left: round(left), width: round(width) };
  });
}

const round = (percent: number) => Math.round(percent * 100) / 100;

// Two charts in SVG. Each has its numbers in a table beside it, for those who do not see it.

import { useEffect, useId, useRef, useState } from 'react';
import type { Point } from '../api/types';
import { count, duration } from './time';

const HEIGHT = 190;
const LEFT = 44;
const BOTTOM = 22;
const TOP = 8;

/** The width that the page gives the chart, in pixels, so that letters keep their shape. */
function useWidth() {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.max(240, Math.round(entry.contentRect.width))));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [box, width] as const;
}

interface Scale {
  width: number;
  x: (index: number) => number;
  y: (value: number) => number;
  step: number;
  ticks: number[];
}

/** The smallest round number of 1, 2 or 5 times a power of ten that is not below `value`. */
export function roundUp(value: number): number {
  if (value <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8, 10].find((factor) => factor * power >= value) ?? 10) * power;
}

function scale(points: number, max: number, width: number): Scale {
  const top = roundUp(max);
  const step = (width - LEFT) / Math.max(points, 1);
  const high = HEIGHT - BOTTOM - TOP;
  return {
    width,
    step,
    x: (index) => LEFT + index * step,
    y: (value) => TOP + high - (value / top) * high,
    ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => share * top),
  };
}

function label(at: string, bucketMs: number): string {
  const options: Intl.DateTimeFormatOptions = bucketMs < 3_600_000 * 6 ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' };
  return new Intl.DateTimeFormat('en-GB', options).format(new Date(at));
}

/** Behind the data: lines and their numbers. */
function Grid({ format, scale: { width, y, ticks } }: { format: (value: number) => string; scale: Scale }) {
  return ticks.map((tick) => (
    <g key={tick}>
      <line className="grid" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
      <text x={LEFT - 6} y={y(tick) + 4} textAnchor="end">{format(tick)}</text>
    </g>
  ));
}

/** Before the data: the times, and what the pointer meets. */
function Times({ series, bucketMs, at, scale: { width, x, step } }: { series: Point[]; bucketMs: number; at: (index: number) => void; scale: Scale }) {
  const every = Math.ceil(series.length / Math.max(2, Math.floor((width - LEFT) / 80)));
  return (
    <>
      {series.map((point, index) =>
        index % every === 0 && index < series.length - every / 2 ? (
          <text key={point.at} x={x(index) + (index === 0 ? 0 : step / 2)} y={HEIGHT - 5} textAnchor={index === 0 ? 'start' : 'middle'}>{label(point.at, bucketMs)}</text>
        ) : null,
      )}
      {series.map((point, index) => (
        <rect key={point.at} className="hit" x={x(index)} y={TOP} width={step} height={HEIGHT - BOTTOM - TOP} onPointerEnter={() => at(index)} />
      ))}
    </>
  );
}

export function CallsChart({ series, bucketMs }: { series: Point[]; bucketMs: number }) {
  const [at, setAt] = useState<number | null>(null);
  const id = useId();
  const [box, width] = useWidth();
  const sizes = scale(series.length, Math.max(0, ...series.map((point) => point.calls)), width);
  const base = sizes.y(0);
  const wide = Math.max(1, sizes.step * 0.72);
  const shown = at == null ? null : series[at];
  return (
    <figure ref={box} className="stack tight" aria-labelledby={id}>
      <figcaption className="row apart">
        <ul className="legend" id={id} aria-label="Calls over time">
          <li><i className="calls" />answered</li>
          <li><i className="waiting" />asked a person</li>
          <li><i className="errors" />errors</li>
        </ul>
        <span className="small muted number">{shown ? `${label(shown.at, bucketMs)}: ${count(shown.calls)} calls, ${count(shown.errors)} errors` : ''}</span>
      </figcaption>
      <svg className="chart" viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true" onPointerLeave={() => setAt(null)}>
        <Grid format={(value) => count(value)} scale={sizes} />
        {series.map((point, index) => {
          const good = Math.max(0, point.calls - point.errors - point.waiting);
          const left = sizes.x(index) + (sizes.step - wide) / 2;
          const stack = [['calls', good], ['waiting', point.waiting], ['errors', point.errors]] as const;
          let below = 0;
          return stack.map(([kind, value]) => {
            const bottom = sizes.y(below);
            below += value;
            const top = sizes.y(below);
            return value > 0 && <rect key={kind + point.at} className={`bar-${kind}`} x={left} width={wide} y={top} height={Math.min(bottom, base) - top} />;
          });
        })}
        <Times series={series} bucketMs={bucketMs} at={setAt} scale={sizes} />
      </svg>
      <Numbers caption="Calls over time" series={series} bucketMs={bucketMs} heads={['Calls', 'Asked a person', 'Errors']} row={(point) => [point.calls, point.waiting, point.errors]} />
    </figure>
  );
}

export function LatencyChart({ series, bucketMs }: { series: Point[]; bucketMs: number }) {
  const [at, setAt] = useState<number | null>(null);
  const id = useId();
  const [box, width] = useWidth();
  const sizes = scale(series.length, Math.max(0, ...series.map((point) => point.p95_ms ?? 0)), width);
  const line = (pick: (point: Point) => number | null) => {
    let pen = 'M';
    return series
      .map((point, index) => {
        const value = pick(point);
        if (value == null) {
          pen = 'M';
          return '';
        }
        const part = `${pen}${(sizes.x(index) + sizes.step / 2).toFixed(1)} ${sizes.y(value).toFixed(1)}`;
        pen = 'L';
        return part;
      })
      .join('');
  };
  const shown = at == null ? null : series[at];
  return (
    <figure ref={box} className="stack tight" aria-labelledby={id}>
      <figcaption className="row apart">
        <ul className="legend" id={id} aria-label="Duration over time">
          <li><i className="calls" />median</li>
          <li><i className="b" />95th percentile</li>
        </ul>
        <span className="small muted number">{shown ? `${label(shown.at, bucketMs)}: ${duration(shown.p50_ms)}, ${duration(shown.p95_ms)}` : ''}</span>
      </figcaption>
      <svg className="chart" viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true" onPointerLeave={() => setAt(null)}>
        <Grid format={(value) => duration(value)} scale={sizes} />
        <path className="line-b" d={line((point) => point.p95_ms)} />
        <path className="line-a" d={line((point) => point.p50_ms)} />
        {series.map((point, index) => (
          <g key={point.at}>
            {point.p95_ms != null && <circle className="dot-b" r="2" cx={sizes.x(index) + sizes.step / 2} cy={sizes.y(point.p95_ms)} />}
            {point.p50_ms != null && <circle className="dot-a" r="2" cx={sizes.x(index) + sizes.step / 2} cy={sizes.y(point.p50_ms)} />}
          </g>
        ))}
        <Times series={series} bucketMs={bucketMs} at={setAt} scale={sizes} />
      </svg>
      <Numbers caption="Duration over time" series={series} bucketMs={bucketMs} heads={['Median', '95th percentile']} row={(point) => [duration(point.p50_ms), duration(point.p95_ms)]} />
    </figure>
  );
}

interface NumbersProps {
  caption: string;
  series: Point[];
  bucketMs: number;
  heads: string[];
  row: (point: Point) => (string | number)[];
}

function Numbers({ caption, series, bucketMs, heads, row }: NumbersProps) {
  return (
    <table className="only-read">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">From</th>
          {heads.map((head) => <th key={head} scope="col">{head}</th>)}
        </tr>
      </thead>
      <tbody>
        {series.filter((point) => point.calls > 0).map((point) => (
          <tr key={point.at}>
            <th scope="row">{label(point.at, bucketMs)}</th>
            {row(point).map((value, index) => <td key={heads[index]}>{value}</td>)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

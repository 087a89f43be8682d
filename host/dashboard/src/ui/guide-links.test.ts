import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../../..');

it('every page of the guide that the dashboard leads to is there', () => {
  const contents = readFileSync(join(root, 'host/guide/src/contents.rs'), 'utf8');
  const sources = readdirSync(join(root, 'host/dashboard/src'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsx'));
  const linked = sources.flatMap((name) => [...readFileSync(join(root, 'host/dashboard/src', name), 'utf8').matchAll(/\/docs\/guide\/([\w-]+)\.html/g)].map((found) => found[1] ?? ''));
  expect(linked.length).toBeGreaterThan(2);
  expect(linked.filter((name) => !contents.includes(`"${name}" = "`))).toEqual([]);
});

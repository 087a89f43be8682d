import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as icons from 'simple-icons';
import type { SimpleIcon } from 'simple-icons';
import { expect, it } from 'vitest';
import { files } from './plugin';
import { SLUGS } from './slugs';
import { inkOn, luminance, tile } from './tile';

it('every logo is of an integration that ships', () => {
  const shipped = readdirSync(join(import.meta.dirname, '../../../plugins'));
  expect([...SLUGS.keys()].filter((service) => !shipped.includes(service))).toEqual([]);
});

it('every integration that simple-icons has an icon of its name for has a logo', () => {
  const shipped = readdirSync(join(import.meta.dirname, '../../../plugins'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const known = new Set((Object.values(icons) as SimpleIcon[]).map((icon) => icon.slug));
  const without = shipped.map((entry) => entry.name).filter((service) => !SLUGS.has(service) && known.has(service.replaceAll('_', '')));
  expect(without).toEqual([]);
  // What a merge drops from the list is seen here, also where the icon has another name.
  expect(SLUGS.size).toBe(199);
});

it('every logo is there, small, and holds nothing but two paths', () => {
  for (const [service, text] of files()) {
    expect(text, service).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 40 40"><path fill="#[0-9A-F]{6}" d="M0 0h40v40H0z"\/><path transform="translate\(8 8\)" fill="#(?:fff|111)" d="[^"<>&]+"\/><\/svg>$/);
    expect(text.length, service).toBeLessThan(12_000);
  }
});

it('what is more than a path and a colour is refused', () => {
  for (const glyph of [{ path: 'M0 0"/><script>', hex: '000000' }, { path: 'M0 0', hex: 'red' }, { path: '', hex: '000000' }]) {
    expect(() => tile(glyph)).toThrow();
  }
});

it('the glyph stands out from its tile', () => {
  const contrast = (a: number, b: number) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  for (const hex of ['000000', 'FFFFFF', 'FF0000', '00FF00', 'FFFC00', '0A66C2', '808080']) {
    expect(contrast(luminance(hex), luminance(inkOn(hex) === '#fff' ? 'FFFFFF' : '111111')), hex).toBeGreaterThan(3);
  }
});

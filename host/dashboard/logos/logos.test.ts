import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { files } from './plugin';
import { SLUGS } from './slugs';
import { inkOn, luminance, tile } from './tile';

it('every logo is of an integration that ships', () => {
  const shipped = readdirSync(join(import.meta.dirname, '../../../plugins'));
  expect([...SLUGS.keys()].filter((service) => !shipped.includes(service))).toEqual([]);
  expect(SLUGS.size).toBeGreaterThan(100);
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

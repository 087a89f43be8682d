// A logo as a tile in the colour of its brand, so that it stands on light and dark pages alike.

/** As simple-icons gives it: a path on a grid of 24, and the brand's colour. */
export interface Glyph {
  path: string;
  hex: string;
}

/** Relative luminance (WCAG 2.2). */
export function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** White on dark colours, black on light ones: whichever stands out more. */
export const inkOn = (hex: string): string => (luminance(hex) > 0.35 ? '#111' : '#fff');

const HEX = /^[0-9A-F]{6}$/i;
/** Path data alone: nothing that ends an attribute. */
const PATH = /^[MmZzLlHhVvCcSsQqTtAa0-9 ,.+\-eE]+$/;

export function tile({ path, hex }: Glyph): string {
  if (!HEX.test(hex) || !PATH.test(path)) throw new Error('an icon is a path and a colour, nothing more');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><path fill="#${hex}" d="M0 0h40v40H0z"/><path transform="translate(8 8)" fill="${inkOn(hex)}" d="${path}"/></svg>`;
}

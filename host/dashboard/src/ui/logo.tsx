// What a service is recognised by: its logo where one is built in, or else its first letters in a colour of its own.

/** Written by the build (`logos/plugin.ts`). */
declare const LOGOS: { folder: string; services: string[] };

const HAS_LOGO = new Set(LOGOS.services);

export function Logo({ service, title, size = 32 }: { service: string; title: string; size?: number }) {
  if (HAS_LOGO.has(service)) return <img className="mark" src={`${LOGOS.folder}/${service}.svg`} width={size} height={size} alt="" loading="lazy" decoding="async" />;
  return <span className={`mark tint-${tint(service)}`} style={{ width: size, height: size }} aria-hidden="true">{initials(title)}</span>;
}

const TINTS = 6;

/** The same for the same name, always. */
export function tint(name: string): number {
  let sum = 0;
  for (const char of name) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003;
  return sum % TINTS;
}

/** Of two words their first letters, of one its first two. */
export function initials(title: string): string {
  const words = title.split(/[\s._-]+/).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const [first = '?', second] = words;
  return second ? `${[...first][0]}${[...second][0]}`.toUpperCase() : [...first].slice(0, 2).join('');
}

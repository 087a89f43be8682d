// Makes one file of each logo: `assets/logos-HASH/SERVICE.svg` in a build, the same address in `npm run dev`.

import { createHash } from 'node:crypto';
import * as icons from 'simple-icons';
import type { SimpleIcon } from 'simple-icons';
import type { Plugin } from 'vite';
import { SLUGS } from './slugs.ts';
import { tile } from './tile.ts';

/** By the name of the service. */
export function files(): Map<string, string> {
  const known = new Map((Object.values(icons) as SimpleIcon[]).map((icon) => [icon.slug, icon]));
  return new Map(
    [...SLUGS].map(([service, slug]) => {
      const icon = known.get(slug);
      if (!icon) throw new Error(`simple-icons has no ${slug}, which logos/slugs.ts names for ${service}`);
      return [service, tile(icon)];
    }),
  );
}

export function logos(): Plugin {
  const made = files();
  // What is below assets/ is kept for ever by browsers, so its name changes with its content.
  const hash = createHash('sha256').update([...made].flat().join('\n')).digest('hex').slice(0, 8);
  const folder = `assets/logos-${hash}`;
  return {
    name: 'logos',
    config: () => ({ define: { LOGOS: JSON.stringify({ folder: `/${folder}`, services: [...made.keys()] }) } }),
    configureServer(server) {
      server.middlewares.use(`/${folder}`, (request, response, next) => {
        const text = made.get(/^\/(\w+)\.svg$/.exec(request.url ?? '')?.[1] ?? '');
        if (text === undefined) return next();
        response.setHeader('content-type', 'image/svg+xml');
        response.end(text);
      });
    },
    generateBundle() {
      for (const [service, source] of made) this.emitFile({ type: 'asset', fileName: `${folder}/${service}.svg`, source });
    },
  };
}

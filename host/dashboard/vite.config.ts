import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { logos } from './logos/plugin.ts';
import { reference } from './reference/plugin.ts';

/** Leaves `x.br` and `x.gz` beside every text file of the build; the server only picks one. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    closeBundle() {
      const dist = join(import.meta.dirname, 'dist');
      for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(js|css|html|svg|json)$/.test(name)) continue;
        const bytes = readFileSync(join(dist, name));
        writeFileSync(join(dist, `${name}.gz`), gzipSync(bytes, { level: 9 }));
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(join(dist, `${name}.br`), brotliCompressSync(bytes, { params }));
      }
    },
  };
}

/** Where `npm run dev` finds a running gateway. */
const gateway = process.env.TOOLGATE_URL ?? 'http://127.0.0.1:8080';
const proxied = {
  target: gateway,
  changeOrigin: true,
  headers: { origin: gateway },
};

export default defineConfig({
  plugins: [react(), logos(), compressed(), reference()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  test: { include: ['{src,logos}/**/*.test.{ts,tsx}'] },
  server: {
    proxy: { '/internal': proxied, '/v1': proxied, '/connect/': proxied, '/oauth': proxied },
  },
});

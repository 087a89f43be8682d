// Leaves the script of the API reference at `/docs` beside the build. Scalar publishes it as one file for browsers with
// everything in it; as a dependency it would bring 290 packages and 370 MB to this folder.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';
import scalar from './scalar.json' with { type: 'json' };

const SCRIPT = 'package/dist/browser/standalone.js';

/** The published script, from exactly the package that `scalar.json` names. */
function published(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'toolgate-reference-'));
  try {
    const named = `${scalar.name}@${scalar.version}`;
    const file = execFileSync('npm', ['pack', named, '--silent', '--prefer-offline', '--pack-destination', folder], { encoding: 'utf8' }).trim();
    const archive = join(folder, file);
    const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (integrity !== scalar.integrity) throw new Error(`${named} is ${integrity}, not what reference/scalar.json says`);
    execFileSync('tar', ['xzf', archive, '-C', folder, SCRIPT]);
    return readFileSync(join(folder, SCRIPT));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function reference(): Plugin {
  return {
    name: 'reference',
    apply: 'build',
    closeBundle() {
      const folder = join(import.meta.dirname, '../dist/reference');
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'scalar.js.gz'), gzipSync(published(), { level: 9 }));
    },
  };
}

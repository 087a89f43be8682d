import { fileURLToPath } from 'node:url';
import { replayFolder } from 'toolgate-plugin/testing';
import plugin from '../src/plugin.js';

replayFolder(plugin, fileURLToPath(new URL('../examples', import.meta.url)));

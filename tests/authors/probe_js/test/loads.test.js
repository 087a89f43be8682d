import '../src/plugin.js';

// What an author imports. Read in this order: plugin.js (a plugin and its tools), schema.js (what they
// take), context.js (what they see of a call), path.js (addresses), error.js (how they fail). testing.js is the host of tests;
// guest.js and bin/build.js make the component.

export { definePlugin, tool, page, Output } from './plugin.js';
export { s } from './schema.js';
export { ToolError, problem } from './error.js';
export { path } from './path.js';
export { pick, pickEach } from './pick.js';
export { Context } from './context.js';

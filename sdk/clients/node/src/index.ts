/**
 * Client for toolgate, the tool gateway for software agents.
 *
 * @packageDocumentation
 */

export type * as api from "./api.js";
export * from "./client.js";
export { lower, toolName, type Dialect, type Lowered, type Schema } from "./dialects.js";
export * from "./errors.js";
export * as formats from "./formats.js";
export * from "./outcomes.js";
export { Pager } from "./pager.js";
export * from "./resources.js";
export { Toolset, type ToolsetOptions, type MastraTools, type VercelAI, type VercelTools } from "./toolset.js";
export { verify as verifyWebhook, type HeadersLike, type VerifyOptions } from "./webhooks.js";
export { VERSION } from "./version.js";

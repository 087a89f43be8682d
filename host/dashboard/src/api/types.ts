// The shapes that `/internal` answers. Those of mirrored routes are in `toolgate openapi`.
// Times are RFC 3339 in UTC, durations and sizes carry their unit in their name.

export type * from './types/calls';
export type * from './types/people';
export type * from './types/permissions';
export type * from './types/services';
export type * from './types/sessions';
export type * from './types/toolsets';
export type * from './types/webhooks';

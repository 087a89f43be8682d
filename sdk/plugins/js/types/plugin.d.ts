/// <reference path="./interfaces/toolgate-plugin-blobs.d.ts" />
/// <reference path="./interfaces/toolgate-plugin-call.d.ts" />
/// <reference path="./interfaces/toolgate-plugin-egress.d.ts" />
/// <reference path="./interfaces/toolgate-plugin-integration.d.ts" />
/// <reference path="./interfaces/toolgate-plugin-kv.d.ts" />
/// <reference path="./interfaces/toolgate-plugin-types.d.ts" />
declare module 'toolgate:plugin/plugin@0.1.1' {
  export type * as ToolgatePluginBlobs011 from 'toolgate:plugin/blobs@0.1.1'; // import toolgate:plugin/blobs@0.1.1
  export type * as ToolgatePluginCall011 from 'toolgate:plugin/call@0.1.1'; // import toolgate:plugin/call@0.1.1
  export type * as ToolgatePluginEgress011 from 'toolgate:plugin/egress@0.1.1'; // import toolgate:plugin/egress@0.1.1
  export type * as ToolgatePluginKv011 from 'toolgate:plugin/kv@0.1.1'; // import toolgate:plugin/kv@0.1.1
  export type * as ToolgatePluginTypes011 from 'toolgate:plugin/types@0.1.1'; // import toolgate:plugin/types@0.1.1
  export * as integration from 'toolgate:plugin/integration@0.1.1'; // export toolgate:plugin/integration@0.1.1
}

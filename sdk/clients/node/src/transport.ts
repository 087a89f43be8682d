/** What the groups of operations need of the client, so that they do not import it. */

import type { Answer, Values } from "./core.js";
import type { Operation } from "./routes.js";

/** Sends operations. */
export interface Transport {
  call<T>(operation: Operation, values: Values): Promise<T>;
  answer(operation: Operation, values: Values): Promise<Answer>;
}

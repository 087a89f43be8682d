import type { DeletedTrigger, Trigger, TriggerList, TriggerTest } from "./api.js";
import type { Pager } from "./pager.js";
import { Resource, type Body, type Keyed, type Query } from "./resources.js";

/** Tools that the server calls from time to time; each new item in their results becomes an event. */
export class Triggers extends Resource {
  /** Watches with `trigger`, as the service's plugin names it. `config`: the arguments that are to be chosen. */
  create(service: string, trigger: string, options: Omit<Body<"create_trigger">, "service" | "trigger"> & Keyed = {}): Promise<Trigger> {
    return this.call("create_trigger", { ...options, service, trigger });
  }

  list(options: Query<"list_triggers"> = {}): Pager<Trigger, TriggerList> {
    return this.pager("list_triggers", "triggers", options);
  }

  get(trigger_id: string): Promise<Trigger> {
    return this.call("get_trigger", { trigger_id });
  }

  /** Changes the given fields. */
  update(trigger_id: string, options: Body<"update_trigger">): Promise<Trigger> {
    return this.call("update_trigger", { ...options, trigger_id });
  }

  delete(trigger_id: string): Promise<DeletedTrigger> {
    return this.call("delete_trigger", { trigger_id });
  }

  /** Calls the tool and answers the items of the last day, or from `since` on; no event is sent. */
  test(trigger_id: string, options: Query<"test_trigger"> & Keyed = {}): Promise<TriggerTest> {
    return this.call("test_trigger", { ...options, trigger_id });
  }
}

/** The client. */

import type { Health, Status } from "./api.js";
import * as core from "./core.js";
import { PermissionDenied, ToolgateError, WaitTimeout } from "./errors.js";
import type { Format } from "./formats.js";
import type { ApprovalRequired, AuthRequired, Outcome } from "./outcomes.js";
import {
  Approvals,
  Connections,
  Executions,
  Knowledge,
  Permissions,
  Results,
  Sessions,
  Skills,
  Tools,
  Webhooks,
} from "./resources.js";
import type { Operation } from "./routes.js";
import { Toolset, type ToolsetOptions } from "./toolset.js";

/** How often a wait looks where the server cannot hold its answer back: from the first to the last. */
const LOOK_FIRST_MS = 1_000;
const LOOK_LAST_MS = 5_000;
/** How long the server holds an answer back. */
const POLL_MAX_MS = 25_000;

/** Working connections as text, and since when the newest is one. */
interface Active {
  text: string;
  since: string | undefined;
}

export interface ClientOptions {
  /** `TOOLGATE_API_KEY` if absent. */
  apiKey?: string;
  /** `TOOLGATE_URL` if absent, else http://127.0.0.1:8080. */
  baseUrl?: string;
  /** Bounds one try of one request; 60,000 if absent. */
  timeoutMs?: number;
  /** How often a request is tried again; 3 if absent. */
  maxRetries?: number;
  /** Longest wait before trying again; where the server asks for more, the error is thrown. 60,000 if absent. */
  maxRetryWaitMs?: number;
  fetch?: typeof fetch;
  sleep?: (ms: number) => Promise<void>;
}

export interface WaitOptions {
  /** Gets the link; prints it if absent. */
  show?: (url: string) => unknown;
  /** 900,000 if absent. */
  timeoutMs?: number;
}

/** A connection to one toolgate server with one API key. */
export class Toolgate {
  readonly tools = new Tools(this);
  readonly skills = new Skills(this);
  readonly permissions = new Permissions(this);
  readonly connections = new Connections(this);
  readonly sessions = new Sessions(this);
  readonly knowledge = new Knowledge(this);
  readonly webhooks = new Webhooks(this);
  readonly executions = new Executions(this);
  readonly approvals = new Approvals(this);
  readonly results = new Results(this);
  readonly baseUrl: string;
  // Private to the language, so that printing a client prints no key.
  readonly #authorization: string;
  readonly #options: Required<Pick<ClientOptions, "timeoutMs" | "maxRetries" | "maxRetryWaitMs" | "fetch" | "sleep">>;

  constructor(options: ClientOptions = {}) {
    this.#authorization = `Bearer ${core.checkKey(options.apiKey ?? process.env["TOOLGATE_API_KEY"])}`;
    this.baseUrl = core.checkUrl(options.baseUrl ?? process.env["TOOLGATE_URL"] ?? core.DEFAULT_URL);
    this.#options = {
      timeoutMs: options.timeoutMs ?? 60_000,
      maxRetries: options.maxRetries ?? 3,
      maxRetryWaitMs: options.maxRetryWaitMs ?? 60_000,
      fetch: options.fetch ?? fetch,
      sleep: options.sleep ?? ((ms) => new Promise((done) => setTimeout(done, ms))),
    };
  }

  /** How the server is. */
  health(): Promise<Health> {
    return this.call("health_check", {});
  }

  /** Whose key this is, and its limits. */
  status(): Promise<Status> {
    return this.call("get_status", {});
  }

  /** Tools for a model, in its provider's format: the chosen ones, or the three generic operations. */
  toolset(format: Format, options: ToolsetOptions = {}): Promise<Toolset> {
    return Toolset.load(this, format, options);
  }

  /**
   * Shows the connect link, waits until the user has connected, and makes the same call again.
   * Throws `WaitTimeout` when the time passes; a link itself is good for 15 minutes.
   */
  async waitForConnection(outcome: AuthRequired, options: WaitOptions = {}): Promise<Outcome> {
    if (!outcome.connect_url) {
      throw new ToolgateError(outcome.message, { code: "service_not_configured", request_id: outcome.request_id });
    }
    const before = await this.#active(outcome);
    (options.show ?? console.log)(outcome.connect_url);
    const timeoutMs = options.timeoutMs ?? 900_000;
    for await (const known of before ? this.#polls(outcome, before, timeoutMs) : this.#looks(timeoutMs)) {
      if (!known) continue;
      const again = await this.tools.executeCall(outcome.call);
      if (again.status !== "auth_required" && again.status !== "auth_expired") return again;
    }
    throw new WaitTimeout(`${outcome.service} was not connected in time`);
  }

  /**
   * Shows where to approve, waits for the decision, and makes the same call again. A call that was
   * denied throws `PermissionDenied`; `WaitTimeout` when the time passes.
   */
  async waitForApproval(outcome: ApprovalRequired, options: WaitOptions = {}): Promise<Outcome> {
    (options.show ?? console.log)(outcome.approval_url);
    for await (const _ of this.#looks(options.timeoutMs ?? 900_000)) {
      const pending = await this.approvals.get(outcome.approval_id).then(
        (approval) => approval.status === "pending",
        (error: unknown) => {
          if (error instanceof PermissionDenied) return false;
          throw error;
        },
      );
      if (pending) continue;
      const again = await this.tools.executeCall(outcome.call);
      if (again.status !== "approval_required") return again;
    }
    throw new WaitTimeout("nobody decided in time");
  }

  /** Pauses between looks, longer ones as time goes by, until `timeoutMs` were waited. */
  async *#looks(timeoutMs: number): AsyncGenerator<boolean> {
    let [waited, pause] = [0, LOOK_FIRST_MS];
    while (waited < timeoutMs) {
      pause = Math.min(pause, timeoutMs - waited);
      await this.#options.sleep(pause);
      yield true;
      waited += pause;
      pause = Math.min(pause * 1.5, LOOK_LAST_MS);
    }
  }

  /** Answers of a server that holds them back: whether the user's working connections are others now. */
  async *#polls(outcome: AuthRequired, before: Active, timeoutMs: number): AsyncGenerator<boolean> {
    const ends = performance.now() + timeoutMs;
    for (let left = timeoutMs; left > 0; left = ends - performance.now()) {
      const asked = performance.now();
      const held = Math.min(left, POLL_MAX_MS, this.#options.timeoutMs / 2);
      const now = await this.#active(outcome, { wait: Math.max(1, Math.ceil(held / 1000)), after: before });
      const changed = now !== undefined && now.text !== before.text;
      before = now ?? before;
      yield changed;
      // The server did not wait: it is about to stop.
      if (!changed && performance.now() - asked < LOOK_FIRST_MS) await this.#options.sleep(LOOK_FIRST_MS);
    }
  }

  /**
   * The user's working connections of the service; `undefined` if the key may not see them. With `wait` the
   * server answers once there is another one than `after`, or when the seconds are over.
   */
  async #active(outcome: AuthRequired, poll?: { wait: number; after: Active }): Promise<Active | undefined> {
    try {
      const user_id = outcome.call.user_id ?? (await this.status()).key.user_id;
      const waits = poll && { wait: poll.wait, ...(poll.after.since && { active_after: poll.after.since }) };
      const connections = await this.connections.list({ user_id, service: outcome.service, ...waits });
      const active = connections.filter((found) => found.state === "active");
      const text = JSON.stringify(active.map((found) => [found.connection_id, found.state_since, found.scopes]));
      return { text, since: active.map((found) => found.state_since).sort().at(-1) };
    } catch (error) {
      if (error instanceof PermissionDenied) return undefined;
      throw error;
    }
  }

  /** @internal */
  async call<T>(operation: Operation, values: core.Values): Promise<T> {
    return (await this.answer(operation, values)).data as T;
  }

  /** @internal */
  async answer(operation: Operation, values: core.Values): Promise<core.Answer> {
    const { timeoutMs, maxRetries, maxRetryWaitMs, sleep } = this.#options;
    const made = core.request(this.baseUrl, operation, values);
    for (let tries = 0; ; tries += 1) {
      try {
        return await core.send(made, this.#authorization, timeoutMs, this.#options.fetch);
      } catch (error) {
        if (!(error instanceof ToolgateError)) throw error;
        const wait = core.waitBeforeRetry(made, error, tries, maxRetries, maxRetryWaitMs);
        if (wait === undefined) throw error;
        await sleep(wait);
      }
    }
  }
}

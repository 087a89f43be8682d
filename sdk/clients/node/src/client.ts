/** The client. */

import type { ConnectionInfo, Health, operations, Status } from "./api.js";
import * as core from "./core.js";
import { NotFound, PermissionDenied, ToolgateError, WaitTimeout } from "./errors.js";
import type { Format } from "./formats.js";
import type { ApprovalRequired, AuthRequired, Outcome } from "./outcomes.js";
import {
  Approvals,
  Connections,
  Events,
  Executions,
  Files,
  Knowledge,
  Permissions,
  Results,
  Sessions,
  Skills,
  Tools,
  Toolsets,
  Webhooks,
} from "./resources.js";
import type { Operation } from "./routes.js";
import { Scripts } from "./scripts.js";
import { Toolset, type ToolsetOptions } from "./toolset.js";
import { Triggers } from "./triggers.js";

/** The first and the longest pause between two polls, where the server cannot hold its answer back. */
const PAUSE_FIRST_MS = 1_000;
const PAUSE_MAX_MS = 5_000;
/** How long the server holds an answer back at most. */
const POLL_MAX_MS = 25_000;

/** The active connections as text, for comparing, and the newest `state_since` of them. */
interface ActiveConnections {
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
  /** How often a request is repeated; 3 if absent. */
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

/**
 * How a user connects. `confirm_url` has no default, because it decides whose account a link can connect.
 *
 * A page of your application binds the link to the user who is signed in there: the browser ends at it with
 * `connect_code`, and the connection is made once you have called `client.connections.confirm(connect_code, user_id)`
 * for that user. Whoever gets the link from somebody else connects nothing. With `null` the gateway's page asks
 * "Are you X?" and trusts the answer: that is for programs that run on the user's own machine.
 */
export interface ConnectOptions extends WaitOptions {
  confirm_url: string | null;
}

type LinkBody = operations["link_connection"]["requestBody"]["content"]["application/json"];

/** A connection to one toolgate server with one API key. */
export class Toolgate {
  readonly tools = new Tools(this);
  readonly skills = new Skills(this);
  readonly toolsets = new Toolsets(this);
  readonly permissions = new Permissions(this);
  readonly connections = new Connections(this);
  readonly sessions = new Sessions(this);
  readonly knowledge = new Knowledge(this);
  readonly webhooks = new Webhooks(this);
  readonly triggers = new Triggers(this);
  readonly scripts = new Scripts(this);
  readonly executions = new Executions(this);
  readonly approvals = new Approvals(this);
  readonly results = new Results(this);
  readonly files = new Files(this);
  readonly events = new Events(this);
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

  /**
   * Tools for a model, in its provider's format: the chosen ones, or the three generic operations.
   *
   * @throws TypeError for an unknown format, and for options that are none, such as an array of names.
   */
  toolset<F extends Format>(format: F, options: ToolsetOptions = {}): Promise<Toolset<F>> {
    return Toolset.load(this, format, options);
  }

  /**
   * Shows a connect link, waits until the user has connected the service, and answers the connection.
   * `connection_id` renews that connection. Throws `WaitTimeout` when the time passes.
   */
  async connect(service: string, options: ConnectOptions & Omit<LinkBody, "service" | "confirm_url">): Promise<ConnectionInfo> {
    const { confirm_url, show, timeoutMs = 900_000, ...body } = options;
    const confirm = chosenConfirmUrl(confirm_url);
    const before = body.connection_id ? (await this.connections.get(body.connection_id)).state_since : undefined;
    const link = await this.connections.link(service, { ...body, ...(confirm ? { confirm_url: confirm } : {}) });
    (show ?? console.log)(link.connect_url);
    const ends = performance.now() + timeoutMs;
    for (let left = timeoutMs; left > 0; left = ends - performance.now()) {
      const startedAt = performance.now();
      const poll = { wait: this.#pollS(left), ...(before ? { active_after: before } : {}) };
      const found = await this.connections.get(link.connection_id, poll).catch((error: unknown) => {
        // Nobody has connected yet.
        if (error instanceof NotFound) return undefined;
        throw error;
      });
      if (found?.state === "active" && found.state_since !== before) return found;
      // The server did not wait: it is about to stop.
      if (performance.now() - startedAt < PAUSE_FIRST_MS) await this.#options.sleep(PAUSE_FIRST_MS);
    }
    throw new WaitTimeout(`${service} was not connected in time`);
  }

  /**
   * Shows the connect link, waits until the user has connected, and makes the same call again.
   * Throws `WaitTimeout` when the time passes; a link itself is good for 15 minutes.
   */
  async waitForConnection(outcome: AuthRequired, options: ConnectOptions): Promise<Outcome> {
    const confirm = chosenConfirmUrl(options?.confirm_url);
    if (!outcome.connect_url) {
      throw new ToolgateError(outcome.message, { code: "service_not_configured", request_id: outcome.request_id });
    }
    const before = await this.#active(outcome);
    (options.show ?? console.log)(confirm ? await this.boundLink(outcome, confirm) : outcome.connect_url);
    const timeoutMs = options.timeoutMs ?? 900_000;
    for await (const known of before ? this.#polls(outcome, before, timeoutMs) : this.#pauses(timeoutMs)) {
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
    const ends = performance.now() + (options.timeoutMs ?? 900_000);
    for (let left = ends - performance.now(); left > 0; left = ends - performance.now()) {
      const startedAt = performance.now();
      const pending = await this.approvals.get(outcome.approval_id, { wait: this.#pollS(left) }).then(
        (approval) => approval.status === "pending",
        (error: unknown) => {
          if (error instanceof PermissionDenied) return false;
          throw error;
        },
      );
      if (!pending) {
        const again = await this.tools.executeCall(outcome.call);
        if (again.status !== "approval_required") return again;
      }
      // The server did not wait: it is about to stop, or has another question.
      if (performance.now() - startedAt < PAUSE_FIRST_MS) await this.#options.sleep(PAUSE_FIRST_MS);
    }
    throw new WaitTimeout("nobody decided in time");
  }

  /** Pauses between two polls, each longer than the one before, until `timeoutMs` have passed. */
  async *#pauses(timeoutMs: number): AsyncGenerator<boolean> {
    let [waited, pause] = [0, PAUSE_FIRST_MS];
    while (waited < timeoutMs) {
      pause = Math.min(pause, timeoutMs - waited);
      await this.#options.sleep(pause);
      yield true;
      waited += pause;
      pause = Math.min(pause * 1.5, PAUSE_MAX_MS);
    }
  }

  /** Long polls; each yields whether the user's active connections have changed. */
  async *#polls(outcome: AuthRequired, before: ActiveConnections, timeoutMs: number): AsyncGenerator<boolean> {
    const ends = performance.now() + timeoutMs;
    for (let left = timeoutMs; left > 0; left = ends - performance.now()) {
      const startedAt = performance.now();
      const now = await this.#active(outcome, { wait: this.#pollS(left), after: before });
      const changed = now !== undefined && now.text !== before.text;
      before = now ?? before;
      yield changed;
      // The server did not wait: it is about to stop.
      if (!changed && performance.now() - startedAt < PAUSE_FIRST_MS) await this.#options.sleep(PAUSE_FIRST_MS);
    }
  }

  /** How long the server may hold one answer back, in whole seconds. */
  #pollS(leftMs: number): number {
    return Math.max(1, Math.ceil(Math.min(leftMs, POLL_MAX_MS, this.#options.timeoutMs / 2) / 1000));
  }

  /**
   * A link for the connection that the call lacks; at its end the application confirms its user.
   * @internal
   */
  async boundLink(outcome: AuthRequired, confirm_url: string): Promise<string> {
    const { tool_name, user_id: named, connection_id } = outcome.call;
    const user_id = named ?? (await this.status()).key.user_id;
    const described = await this.tools.schema(tool_name, named ? { user_id: named } : {});
    const { connections } = await this.connections.list({ user_id, service: outcome.service }).page();
    const known = connections.filter((found) => found.state !== "revoked");
    const renews = connection_id ?? (known.length === 1 ? known[0]?.connection_id : undefined);
    const scopes = described?.auth.scopes ?? [];
    const link = await this.connections.link(outcome.service, { user_id, scopes, confirm_url, ...(renews ? { connection_id: renews } : {}) });
    return link.connect_url;
  }

  /**
   * The user's active connections of the service; `undefined` if the key may not see them. With `wait` the server
   * answers once there is one that `after` does not have, or when the seconds have passed.
   */
  async #active(outcome: AuthRequired, poll?: { wait: number; after: ActiveConnections }): Promise<ActiveConnections | undefined> {
    try {
      const user_id = outcome.call.user_id ?? (await this.status()).key.user_id;
      const waits = poll && { wait: poll.wait, ...(poll.after.since && { active_after: poll.after.since }) };
      const { connections } = await this.connections.list({ user_id, service: outcome.service, ...waits }).page();
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
    const request = core.request(this.baseUrl, operation, values);
    for (let tries = 0; ; tries += 1) {
      try {
        return await core.send(request, this.#authorization, timeoutMs, this.#options.fetch);
      } catch (error) {
        if (!(error instanceof ToolgateError)) throw error;
        const wait = core.waitBeforeRetry(request, error, tries, maxRetries, maxRetryWaitMs);
        if (wait === undefined) throw error;
        await sleep(wait);
      }
    }
  }
}

/** The chosen page, or `undefined` for `null`. Throws if the caller has chosen neither. */
function chosenConfirmUrl(confirm_url: string | null | undefined): string | undefined {
  if (confirm_url === undefined) {
    throw new TypeError("confirm_url: pass the page of your application that confirms the user, or null where the user sits before this program");
  }
  return confirm_url ?? undefined;
}

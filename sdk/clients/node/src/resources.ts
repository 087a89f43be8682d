/**
 * The operations, grouped as the server groups them.
 *
 * Values have the names of the API's document, and its types.
 */

import type {
  Approval,
  ApprovalPage,
  ConnectionInfo,
  ConnectionPage,
  ConnectLink,
  DefaultPermissionBody,
  DeletedConnection,
  DeletedDocument,
  DeletedFile,
  DeletedHook,
  DeletedSession,
  DeletedSkill,
  DeletedToolset,
  DeletedWebhook,
  Document,
  DocumentPage,
  EventPage,
  ExecutionPage,
  ExecutionPayloads,
  ExecutionReceipt,
  FilePage,
  FileText,
  FoundPassages,
  FoundTools,
  Hook,
  HookWithSecret,
  ListedDocument,
  ListedSkill,
  ListedTool,
  Message,
  MessagePage,
  operations,
  PermissionExplanation,
  PermissionService,
  PermissionServices,
  PermissionSummary,
  ResultPiece,
  Session,
  SessionPage,
  Skill,
  SkillCheck,
  SkillPage,
  SkillVersion,
  SkillVersions,
  StoredFile,
  ToolPage,
  ToolSchema,
  ToolsetInfo,
  ToolsetList,
  ToolsetTools,
  UserPermissions,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookList,
  WebhookWithSecret,
} from "./api.js";
import { outcome, type ExecuteCall, type Outcome } from "./outcomes.js";
import { Pager } from "./pager.js";
import type { Operation } from "./routes.js";
import type { Transport } from "./transport.js";
import { verify, type HeadersLike, type VerifyOptions } from "./webhooks.js";

export type Query<O extends keyof operations> = operations[O] extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;
export type Body<O extends keyof operations> = operations[O] extends { requestBody: { content: { "application/json": infer B } } }
  ? B
  : never;
/** For calls that are executed once however often they are sent; made by the client if absent. */
export interface Keyed {
  idempotency_key?: string;
}

export class Resource {
  readonly #client: Transport;

  constructor(client: Transport) {
    this.#client = client;
  }

  protected call<T>(operation: Operation, values: object = {}): Promise<T> {
    return this.#client.call<T>(operation, values as Record<string, unknown>);
  }

  protected answer(operation: Operation, values: object): ReturnType<Transport["answer"]> {
    return this.#client.answer(operation, values as Record<string, unknown>);
  }

  protected pager<Item, Page>(operation: Operation, items: keyof Page, values: object = {}): Pager<Item, Page> {
    return new Pager<Item, Page>((now) => this.call<Page>(operation, now), items, values);
  }
}

/** Find, describe and run tools. */
export class Tools extends Resource {
  /** Finds tools by keywords or by a sentence that says what is to be done, best match first. */
  search(query: string, options: Omit<Query<"search_tools">, "query"> = {}): Promise<FoundTools> {
    return this.call("search_tools", { ...options, query });
  }

  /** All tools that the user may use, by name. `limit` is the size of a page. */
  list(options: Query<"list_tools"> = {}): Pager<ListedTool, ToolPage> {
    return this.pager("list_tools", "tools", options);
  }

  /** The tool's schemas and what it needs; `null` if `if_none_match` is still current. */
  schema(tool_name: string, options: Query<"get_tool_schema"> & { if_none_match?: string } = {}): Promise<ToolSchema | null> {
    return this.call("get_tool_schema", { ...options, tool_name });
  }

  /**
   * Runs a tool with the user's own connection. Look at the outcome's `status` before its result.
   *
   * The call carries an idempotency key, so that repeating it after a lost answer runs it once; pass
   * your own to keep it across restarts of your program.
   */
  execute(
    tool_name: string,
    args: Body<"execute_tool">["arguments"] = {},
    options: Omit<Body<"execute_tool">, "arguments"> & Keyed = {},
  ): Promise<Outcome> {
    const { retry_unknown, ...body } = options;
    return this.executeCall({ ...body, tool_name, arguments: args }, retry_unknown);
  }

  /** Makes a call again, as `outcome.call` holds it. */
  async executeCall(call: ExecuteCall, retry_unknown?: boolean): Promise<Outcome> {
    const answer = await this.answer("execute_tool", { ...call, retry_unknown });
    return outcome(answer.data, answer.request_id, call);
  }
}

/** Reusable instructions. */
export class Skills extends Resource {
  /** All Skills, newest first. `limit` is the size of a page. */
  list(options: Query<"list_skills"> = {}): Pager<ListedSkill, SkillPage> {
    return this.pager("list_skills", "skills", options);
  }

  get(skill_id: string): Promise<Skill> {
    return this.call("get_skill", { skill_id });
  }

  create(skill: Body<"create_skill">, options: Keyed = {}): Promise<Skill> {
    return this.call("create_skill", { ...options, ...skill });
  }

  /** Changes the given fields. With `version`, only if that is the Skill's version. */
  update(skill_id: string, changes: Body<"update_skill">, options: { if_match?: string } = {}): Promise<Skill> {
    return this.call("update_skill", { ...options, ...changes, skill_id });
  }

  delete(skill_id: string): Promise<DeletedSkill> {
    return this.call("delete_skill", { skill_id });
  }

  /** The Skill's history, the current version first. `limit` is the size of a page. */
  versions(skill_id: string, options: Query<"list_skill_versions"> = {}): Pager<SkillVersion, SkillVersions> {
    return this.pager("list_skill_versions", "versions", { ...options, skill_id });
  }

  /** Whether the user could follow the Skill now. */
  check(skill_id: string, options: Query<"check_skill"> = {}): Promise<SkillCheck> {
    return this.call("check_skill", { ...options, skill_id });
  }
}

/** Named choices of tools that MCP clients list under the tools' own names. */
export class Toolsets extends Resource {
  /** All toolsets of the workspace, by name. */
  async list(): Promise<ToolsetInfo[]> {
    return (await this.call<ToolsetList>("list_toolsets")).toolsets;
  }

  get(toolset_name: string): Promise<ToolsetInfo> {
    return this.call("get_toolset", { toolset_name });
  }

  create(toolset: Body<"create_toolset">, options: Keyed = {}): Promise<ToolsetInfo> {
    return this.call("create_toolset", { ...options, ...toolset });
  }

  /** Changes the given fields. */
  update(toolset_name: string, changes: Body<"update_toolset">): Promise<ToolsetInfo> {
    return this.call("update_toolset", { ...changes, toolset_name });
  }

  /** Makes the toolset what is given; what is absent is empty. */
  replace(toolset_name: string, toolset: Body<"replace_toolset">): Promise<ToolsetInfo> {
    return this.call("replace_toolset", { ...toolset, toolset_name });
  }

  delete(toolset_name: string): Promise<DeletedToolset> {
    return this.call("delete_toolset", { toolset_name });
  }

  /** What an MCP client with this key lists at the toolset's address. */
  tools(toolset_name: string): Promise<ToolsetTools> {
    return this.call("list_toolset_tools", { toolset_name });
  }
}

type Rule = Body<"change_tool_permission">;

/** Which tools a user may use. */
export class Permissions extends Resource {
  async services(): Promise<PermissionService[]> {
    return (await this.call<PermissionServices>("list_permission_services")).services;
  }

  get(user_id: string): Promise<UserPermissions> {
    return this.call("get_user_permissions", { user_id });
  }

  /** Sets the rule for one tool; `inherit` removes it. */
  setTool(user_id: string, tool_name: string, permission: Rule["permission"], bounds: Omit<Rule, "permission"> = {}): Promise<UserPermissions> {
    return this.call("change_tool_permission", { ...bounds, user_id, tool_name, permission });
  }

  /** Sets the rule for all tools of a service that have none; `inherit` removes it. */
  setService(user_id: string, service_name: string, permission: Rule["permission"], bounds: Omit<Rule, "permission"> = {}): Promise<UserPermissions> {
    return this.call("change_service_permission", { ...bounds, user_id, service_name, permission });
  }

  /** Sets many rules, all or none. */
  batch(user_id: string, rules: Body<"change_permissions">): Promise<UserPermissions> {
    return this.call("change_permissions", { ...rules, user_id });
  }

  summary(user_id: string): Promise<PermissionSummary> {
    return this.call("summarise_user_permissions", { user_id });
  }

  /** The permission of a tool that no rule is about. */
  async default(): Promise<DefaultPermissionBody["default"]> {
    const answer = await this.call<DefaultPermissionBody>("get_default_permission", {});
    return answer.default;
  }

  /** Allows the tools that no rule is about, or allows reads and asks about the others (`by_effect`). */
  async setDefault(rule: DefaultPermissionBody["default"]): Promise<DefaultPermissionBody["default"]> {
    const answer = await this.call<DefaultPermissionBody>("change_default_permission", { default: rule });
    return answer.default;
  }

  /** The permission that applies to one tool, and the rule that it comes from. */
  explain(user_id: string, tool_name: string): Promise<PermissionExplanation> {
    return this.call("explain_permission", { user_id, tool_name });
  }
}

/** What users have connected, and links to connect. */
export class Connections extends Resource {
  /**
   * A link at which the user connects an account: one use, 15 minutes. With `confirm_url` nobody is connected before
   * your application has confirmed its user; see `client.connect`, which waits for it.
   */
  link(service: string, options: Omit<Body<"link_connection">, "service"> = {}): Promise<ConnectLink> {
    return this.call("link_connection", { ...options, service });
  }

  /** Confirms that the browser that came to `confirm_url` belongs to the user. */
  confirm(code: string, user_id: string): Promise<ConnectionInfo> {
    return this.call("confirm_connection", { code, user_id });
  }

  /** With `wait` the answer comes once one is active, and at the latest after so many seconds (30 at most). */
  list(options: Query<"list_connections"> = {}): Pager<ConnectionInfo, ConnectionPage> {
    return this.pager("list_connections", "connections", options);
  }

  /** With `wait` also a connection that a link names and that does not exist yet. */
  get(connection_id: string, options: Query<"get_connection"> = {}): Promise<ConnectionInfo> {
    return this.call("get_connection", { ...options, connection_id });
  }

  /** Forgets the credential and revokes it at the provider where that is possible. */
  delete(connection_id: string): Promise<DeletedConnection> {
    return this.call("delete_connection", { connection_id });
  }

  /** Where the provider sends the connection's events, and how many were accepted. */
  hook(connection_id: string): Promise<Hook> {
    return this.call("get_connection_hook", { connection_id });
  }

  /** Opens the address for the provider's events. Without a `secret` the answer has a new one. */
  putHook(connection_id: string, options: Body<"put_connection_hook"> = {}): Promise<HookWithSecret> {
    return this.call("put_connection_hook", { ...options, connection_id });
  }

  deleteHook(connection_id: string): Promise<DeletedHook> {
    return this.call("delete_connection_hook", { connection_id });
  }
}

/** Conversations, and state that steps share. */
export class Sessions extends Resource {
  create(prompt: string, options: Omit<Body<"create_session">, "prompt"> & Keyed = {}): Promise<Session> {
    return this.call("create_session", { ...options, prompt });
  }

  list(options: Query<"list_sessions"> = {}): Pager<Session, SessionPage> {
    return this.pager("list_sessions", "sessions", options);
  }

  get(session_id: string): Promise<Session> {
    return this.call("get_session", { session_id });
  }

  delete(session_id: string): Promise<DeletedSession> {
    return this.call("delete_session", { session_id });
  }

  /** Every step of the session, oldest first. */
  messages(session_id: string, options: Query<"list_messages"> = {}): Pager<Message, MessagePage> {
    return this.pager("list_messages", "messages", { ...options, session_id });
  }

  /** The assistant's reply to a message. */
  send(session_id: string, content: string, options: Keyed = {}): Promise<Message> {
    return this.call("send_message", { ...options, session_id, content });
  }

  /** Continues where the last turn stopped for a connection, an approval or a limit. */
  resume(session_id: string, options: Keyed = {}): Promise<Message> {
    return this.call("resume_session", { ...options, session_id });
  }
}

/** Documents, and the passages of them that answer a query. */
export class Knowledge extends Resource {
  /** Adds a document: its text as `content`, or its bytes as `content_base64`. */
  add(media_type: Body<"add_document">["media_type"], options: Omit<Body<"add_document">, "media_type"> & Keyed = {}): Promise<ListedDocument> {
    return this.call("add_document", { ...options, media_type });
  }

  list(options: Query<"list_documents"> = {}): Pager<ListedDocument, DocumentPage> {
    return this.pager("list_documents", "documents", options);
  }

  get(document_id: string): Promise<Document> {
    return this.call("get_document", { document_id });
  }

  delete(document_id: string): Promise<DeletedDocument> {
    return this.call("delete_document", { document_id });
  }

  /** The passages that answer the query best. */
  search(query: string, options: Omit<Query<"search_knowledge">, "query"> = {}): Promise<FoundPassages> {
    return this.call("search_knowledge", { ...options, query });
  }
}

/** Events that the server sends. */
export class Webhooks extends Resource {
  /** Sends these events to `url`. Only this answer has the secret. */
  create(url: string, events: string[], options: Omit<Body<"create_webhook">, "url" | "events"> = {}): Promise<WebhookWithSecret> {
    return this.call("create_webhook", { ...options, url, events });
  }

  async list(): Promise<Webhook[]> {
    return (await this.call<WebhookList>("list_webhooks")).webhooks;
  }

  get(webhook_id: string): Promise<Webhook> {
    return this.call("get_webhook", { webhook_id });
  }

  /** Changes the given fields. Enabling it clears earlier failures and sends the waiting deliveries. */
  update(webhook_id: string, options: Body<"update_webhook">): Promise<Webhook> {
    return this.call("update_webhook", { ...options, webhook_id });
  }

  delete(webhook_id: string): Promise<DeletedWebhook> {
    return this.call("delete_webhook", { webhook_id });
  }

  /** Makes a new secret; the previous one also signs for another 24 hours, or for `overlap_hours`. */
  rotate(webhook_id: string, options: Body<"rotate_webhook_secret"> = {}): Promise<WebhookWithSecret> {
    return this.call("rotate_webhook_secret", { ...options, webhook_id });
  }

  /** Sends an event `webhook.test`, whichever events the webhook subscribes to. */
  test(webhook_id: string): Promise<WebhookDelivery> {
    return this.call("test_webhook", { webhook_id });
  }

  deliveries(webhook_id: string, options: Query<"list_webhook_deliveries"> = {}): Pager<WebhookDelivery, WebhookDeliveryPage> {
    return this.pager("list_webhook_deliveries", "deliveries", { ...options, webhook_id });
  }

  /** Sends the event of a delivery once more, under the same event id. */
  resend(webhook_id: string, delivery_id: string): Promise<WebhookDelivery> {
    return this.call("resend_webhook_delivery", { webhook_id, delivery_id });
  }

  /** The event of a delivery, if it is genuine. */
  verify(payload: string | Uint8Array, headers: HeadersLike, secret: string, options: VerifyOptions = {}): Record<string, unknown> {
    return verify(payload, headers, secret, options);
  }
}

/** Receipts: what ran, and every request that was sent. */
export class Executions extends Resource {
  list(options: Query<"list_executions"> = {}): Pager<ExecutionReceipt, ExecutionPage> {
    return this.pager("list_executions", "executions", options);
  }

  get(execution_id: string): Promise<ExecutionReceipt> {
    return this.call("get_execution", { execution_id });
  }

  /** The bodies that the workspace stores; needs the scope `admin`, and is recorded in the audit log. */
  payloads(execution_id: string): Promise<ExecutionPayloads> {
    return this.call("get_execution_payloads", { execution_id });
  }
}

/** Calls that a person has to allow first. */
export class Approvals extends Resource {
  list(options: Query<"list_approvals"> = {}): Pager<Approval, ApprovalPage> {
    return this.pager("list_approvals", "approvals", options);
  }

  /** With `wait` as soon as it is decided, and at the latest after so many seconds. */
  get(approval_id: string, options: Query<"get_approval"> = {}): Promise<Approval> {
    return this.call("get_approval", { ...options, approval_id });
  }

  decide(approval_id: string, decision: Body<"decide_approval">["decision"], options: Keyed = {}): Promise<Approval> {
    return this.call("decide_approval", { ...options, approval_id, decision });
  }
}

/** What happened in the workspace, in its order. */
export class Events extends Resource {
  /** What happened since the cursor. With `wait` an answer without events comes only after so many seconds. */
  list(options: Omit<Query<"list_events">, "types"> & { types?: string[] } = {}): Promise<EventPage> {
    const { types, ...rest } = options;
    return this.call("list_events", types === undefined ? rest : { ...rest, types: types.join(",") });
  }
}

/** Results that were too large for their answer, stored for an hour. */
export class Results extends Resource {
  /** One piece of the result's JSON text. */
  get(result_id: string, options: Query<"get_result"> = {}): Promise<ResultPiece> {
    return this.call("get_result", { ...options, result_id });
  }

  /** The whole JSON text, piece by piece. */
  async text(result_id: string): Promise<string> {
    let text = "";
    for (let offset: number | null | undefined = 0; offset !== null && offset !== undefined; ) {
      const piece: ResultPiece = await this.get(result_id, { offset });
      text += piece.content;
      offset = piece.next_offset;
    }
    return text;
  }
}

/** What users uploaded for tools, and what tools returned, each named by a handle. */
export class Files extends Resource {
  list(options: Query<"list_files"> = {}): Pager<StoredFile, FilePage> {
    return this.pager("list_files", "files", options);
  }

  /** Its name, type, size and hash. */
  get(file_id: string): Promise<StoredFile> {
    return this.call("get_file", { file_id });
  }

  /** A piece of its text: of text, JSON, XML, HTML and PDF. */
  text(file_id: string, options: Query<"read_file_text"> = {}): Promise<FileText> {
    return this.call("read_file_text", { ...options, file_id });
  }

  delete(file_id: string): Promise<DeletedFile> {
    return this.call("delete_file", { file_id });
  }
}

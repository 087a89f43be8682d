"""The shapes of the API. Made by sdk/clients/generate.py; do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Annotations(TypedDict):
    """
    MCP tool annotations, derived from the manifest's `effect` and `idempotent`.
    """

    readOnlyHint: bool
    destructiveHint: bool
    idempotentHint: bool
    """
    Whether running it twice has the effect of running it once. Under one `Idempotency-Key` it runs again where the
    gateway failed in the middle.
    """
    openWorldHint: bool


ApprovalDecision: TypeAlias = Literal["approve", "deny"]
"""
`POST /v1/approvals/{approval_id}`.
"""


ApprovalStatus: TypeAlias = Literal["pending", "approved", "denied", "used", "expired"]
"""
The status of an approval.
"""


class ApprovedPlugin(TypedDict):
    version: str
    sha256: str
    """
    Of the plugin file, hexadecimal.
    """


Approvers: TypeAlias = Literal["admins", "members", "self"]
"""
Who decides about a call that waits for a person.
"""


class CodeModeBody(TypedDict):
    """
    The setting to be.
    """

    enabled: bool
    """
    Whether scripts run.
    """


Confidence: TypeAlias = Literal["high", "low", "none"]
"""
Whether the tools that a search found are likely to do what was asked for.
"""


class ConfirmBody(TypedDict):
    """
    The body of a confirmation.
    """

    code: str
    """
    `connect_code` of the query with which the browser came to `confirm_url`.
    """
    user_id: str
    """
    The user who sits before that browser, by the application's own session.
    """


class Connect(TypedDict):
    """
    What a user has to do before the tool can run. `reason` repeats the status.
    """

    reason: str
    auth_type: str
    message: str
    connect_url: NotRequired[str | None]
    """
    Absolute, one use, 15 minutes. Absent where the operator has not set the service up yet;
    `message` then says so.
    """


ConnectionState: TypeAlias = Literal[
    "connected", "not_connected", "expired", "not_needed", "needs_setup"
]
"""
Whether the user could run the tool now.
"""


class CreateSessionBody(TypedDict):
    """
    A new session.
    """

    prompt: str
    """
    What the user asked for.
    """
    user_id: NotRequired[str | None]
    """
    Whose session it is; the key's default user if absent.
    """


class CreateSkillBody(TypedDict):
    """
    A new Skill.
    """

    name: str
    """
    Short and descriptive, on one line.
    """
    summary: str
    """
    What the Skill does and when to use it. `description` is read as the same field.
    """
    instructions: str
    """
    The steps to follow. `body` is read as the same field.
    """


class CreateToolsetBody(TypedDict):
    """
    A new toolset. It names at least one tool, service or Skill, and at most 128 together.
    """

    name: str
    """
    The last segment of its address.
    """
    title: NotRequired[str | None]
    """
    What clients show; the name if absent or empty.
    """
    description: NotRequired[str | None]
    """
    What it is for; clients show it to the model.
    """
    tools: NotRequired[list[str]]
    """
    Names of tools.
    """
    services: NotRequired[list[str]]
    """
    Names of services: all their tools, also those that a later version adds.
    """
    skills: NotRequired[list[str]]
    """
    Ids of Skills, which are listed as tools that answer their instructions.
    """
    generic_tools: NotRequired[bool]
    """
    Whether the tools of the main address are listed too; then the client can also run tools
    outside of the toolset.
    """
    skill_versions: NotRequired[dict[str, int]]
    """
    Versions of Skills that were read, by id: a Skill at another one is a `conflict`, and nothing is stored.
    """


class CreateTriggerBody(TypedDict):
    """
    A new trigger.
    """

    service: str
    trigger: str
    """
    The trigger's name in the service's plugin.
    """
    config: NotRequired[dict[str, Any]]
    """
    The arguments of the trigger's tool that are to be chosen.
    """
    user_id: NotRequired[str | None]
    """
    With whose permissions and connection the tool is called; the key's own user if absent.
    """
    connection_id: NotRequired[str | None]
    """
    One of the user's connections; if absent, each poll chooses as a call does.
    """
    interval_s: NotRequired[int | None]
    """
    Seconds between two polls; those of the plugin if absent.
    """
    since: NotRequired[str | None]
    """
    Items from this time on are told of although they are there already: RFC 3339, at most 30 days ago.
    """


DecidedBy: TypeAlias = Literal[
    "tool_rule", "service_rule", "workspace_default", "effect_default"
]
"""
What made a decision.
"""


class DecisionBody(TypedDict):
    """
    The decision.
    """

    decision: ApprovalDecision


DefaultRule: TypeAlias = Literal["allow", "by_effect"]
"""
What holds without a rule.
"""


DeliveryStatus: TypeAlias = Literal["pending", "delivered", "failed"]
"""
The status of a delivery.
"""


class Error(TypedDict):
    """
    What went wrong, for a program (`code`), a person (`message`) and an agent (`hint`).
    """

    code: str
    """
    Stable; one of the codes listed with each status.
    """
    message: str
    details: NotRequired[dict[str, Any] | None]
    """
    What the code leaves open, for example `violations` or `field`.
    """
    hint: NotRequired[str | None]
    """
    The next step, where there is one.
    """


class EventRecord(TypedDict):
    """
    One event.
    """

    event_id: str
    """
    The same as in the header `webhook-id` of its deliveries.
    """
    type: str
    timestamp: str
    data: dict[str, Any]
    cursor: str
    """
    Where to go on after this event.
    """


class ExecuteBody(TypedDict):
    """
    The body of an execute request.
    """

    arguments: NotRequired[dict[str, Any] | str]
    """
    The tool's arguments; none if absent.
    """
    session_id: NotRequired[str | None]
    """
    Continues an earlier execution's session; a new one is made if absent. A session is one
    user's: for another one it is `session_not_found`.
    """
    user_id: NotRequired[str | None]
    """
    The user to run for; the key's default user if absent.
    """
    connection_id: NotRequired[str | None]
    """
    Which of the user's connections to use; the newest active one if absent.
    """
    dry_run: NotRequired[bool]
    """
    Runs the plugin for real but sends nothing, and answers the requests it would have sent.
    """
    max_result_bytes: NotRequired[int | None]
    """
    A larger result is kept for an hour; the answer then holds its first bytes as text and
    `truncated` says how to read on.
    """
    max_result_chars: NotRequired[int | None]
    """
    The same in characters; the smaller bound counts where both are given.
    """
    fields: NotRequired[list[str]]
    """
    JSON Pointers of the parts of the result to answer, as an object by pointer; all if absent.
    """
    retry_unknown: NotRequired[bool]
    """
    With an `Idempotency-Key`: runs the tool again although the outcome of the first request is
    unknown.
    """


ExecutionStatus: TypeAlias = Literal[
    "success",
    "error",
    "auth_required",
    "auth_expired",
    "dry_run",
    "approval_required",
    "running",
    "interrupted",
]
"""
The outcome of an execution: the `status` that its answer carried.
"""


FailureReason: TypeAlias = Literal[
    "provider_error",
    "provider_rate_limited",
    "provider_refused",
    "not_configured",
    "timeout",
    "limit_exceeded",
    "plugin_crashed",
    "cancelled",
]
"""
Why a tool that ran has no result.
"""


class FoundTool(TypedDict):
    inputSchema: NotRequired[dict[str, Any]]
    schemaRef: NotRequired[str]
    """
    Path of the schema endpoint.
    """
    name: str
    service: str
    description: str
    version: str
    annotations: Annotations
    score: float
    confidence: Confidence
    """
    Whether this tool fits the query.
    """
    match_reasons: list[str]
    step: NotRequired[str | None]
    """
    The step of the query that the tool serves, as it was written; left out where the query is one
    wish.
    """
    connection: ConnectionState
    also_in: NotRequired[list[str]]
    """
    Other services, not among these tools, whose tool of the same name fits as well; at most 20.
    """


HealthState: TypeAlias = Literal[
    "active", "refreshing", "cooling_down", "reauth_needed", "revoked"
]
"""
A connection's health.
"""


HealthStatus: TypeAlias = Literal["ok", "degraded"]


class Hook(TypedDict):
    """
    The hook of a connection. `GET /v1/connections/{connection_id}/hook`.
    """

    connection_id: str
    service: str
    url: str
    """
    The address to register at the provider.
    """
    accepted: int
    """
    Deliveries that were taken.
    """
    refused: int
    """
    Deliveries that were forged, too old or could not be read.
    """
    last_accepted_at: NotRequired[str | None]
    last_refused_at: NotRequired[str | None]
    last_refusal: NotRequired[str | None]
    """
    Why the last one was refused.
    """
    created_at: str


class HookBody(TypedDict):
    """
    The secret that signs.
    """

    secret: NotRequired[str | None]
    """
    The provider's signing secret (Slack, Stripe); absent where the provider takes one of ours
    (GitHub): then the answer holds a fresh one.
    """


class KeyStatus(TypedDict):
    name: str
    prefix: str
    scopes: list[str]
    user_id: str
    """
    The user that tools run for when a request names none.
    """


LexicalReason: TypeAlias = Literal[
    "model_off", "model_not_installed", "model_not_ready", "model_failed", "overloaded"
]
"""
Why a search was answered by words alone.
"""


class Limits(TypedDict):
    """
    Bounds that a caller can meet.
    """

    request_bytes_max: int
    execution_timeout_ms: int
    result_bytes_max: int
    key_requests_per_minute: NotRequired[int | None]
    """
    Requests a minute with this key; `null`: no limit of its own.
    """
    key_requests_per_day: NotRequired[int | None]
    """
    Requests a day with this key; `null`: no limit of its own.
    """
    workspace_requests_per_minute: NotRequired[int | None]
    """
    Requests a minute with all keys of the workspace; `null`: no limit.
    """


class LinkBody(TypedDict):
    """
    The body of a link request.
    """

    service: str
    user_id: NotRequired[str | None]
    """
    The user who connects; the key's default user if absent.
    """
    scopes: NotRequired[list[str]]
    """
    Asked for beside those that the service's tools need anyway.
    """
    connection_id: NotRequired[str | None]
    """
    Renews this connection, which keeps its id.
    """
    slot: NotRequired[str | None]
    """
    Which of the service's credential slots; the first that can be connected if absent.
    """
    confirm_url: NotRequired[str | None]
    """
    An https page of the application, where the browser ends with `connect_code` in the query;
    the connection is there once the application has confirmed the code.
    """
    return_url: NotRequired[str | None]
    """
    HTTPS page of the application that the browser opens when the connect link is completed or
    cancelled, with `connect_status` (`connected`, `cancelled`, `failed`) and `connection_id` in the query.
    With `confirm_url` a browser that has connected goes there instead.
    """
    popup_origin: NotRequired[str | None]
    """
    The origin of the page that opens the link in a popup. The popup sends it `{"type": "toolgate.connect",
    "status", "connection_id", "service"}` with `postMessage` and closes itself.
    """


class ListedDocument(TypedDict):
    """
    A document as lists show it.
    """

    document_id: str
    """
    `doc_<ULID>`.
    """
    title: str
    media_type: str
    sha256: str
    """
    Of the file as it came, hexadecimal.
    """
    bytes: int
    """
    Size of the file as it came.
    """
    chars: int
    """
    Length of its text in characters.
    """
    pages: NotRequired[int | None]
    """
    Absent where the kind of document has no pages.
    """
    created_at: str


class ListedSkill(TypedDict):
    """
    A Skill as lists show it.
    """

    skill_id: str
    name: str
    summary: str
    version: int
    created_at: str
    updated_at: str


class ListedTool(TypedDict):
    name: str
    service: str
    description: str
    version: str
    annotations: Annotations


MediaType: TypeAlias = Literal[
    "text/plain", "text/markdown", "text/html", "application/pdf"
]
"""
What a document is.
"""


MessageRole: TypeAlias = Literal["user", "assistant", "tool"]
"""
Whose step of a session it is. A step of `tool` is what an operation answered to the assistant.
"""


class Meta(TypedDict):
    """
    What every answer carries beside its result.
    """

    request_id: str
    """
    The same value as the header `X-Request-Id`.
    """


ModelState: TypeAlias = Literal[
    "off", "not_installed", "loading", "preparing", "ready", "failed"
]
"""
What the sentence model is doing.
"""


class OperationCall(TypedDict):
    """
    An operation that the assistant asked for.
    """

    tool_call_id: str
    operation: str
    """
    `search_tools`, `describe_tool`, `execute_tool`, `list_skills`, `read_skill` or
    `search_knowledge`.
    """
    arguments: str
    """
    JSON text as the model wrote it.
    """


PauseReason: TypeAlias = Literal["connection", "approval"]


PayloadEncoding: TypeAlias = Literal["text", "base64"]
"""
How `content` encodes bytes.
"""


PayloadSide: TypeAlias = Literal["request", "answer"]
"""
Which half of an exchange a body is.
"""


class Pending(TypedDict):
    """
    What a paused turn waits for.
    """

    tool_call_id: str
    tool_name: str
    service: str
    message: str
    connect_url: NotRequired[str | None]
    """
    For the user to open; in the reply alone, never kept: resume makes a fresh one.
    """
    approval_id: NotRequired[str | None]
    approval_url: NotRequired[str | None]
    """
    Where a member approves or denies the call.
    """


Permission: TypeAlias = Literal["allow", "deny", "ask"]
"""
What holds for one user and one tool.
"""


class PermissionCounts(TypedDict):
    """
    Numbers of tools.
    """

    allow: int
    deny: int
    ask: int


class PermissionService(TypedDict):
    service: str
    display_name: str
    tools: int
    """
    How many tools it has.
    """
    auth_type: str
    """
    `oauth2`, `api_key`, ... or `none`.
    """


class PlannedRequest(TypedDict):
    """
    One request that a dry run would have sent; a credential shows as `[slot NAME]`.
    """

    method: str
    url: str
    headers: list[list[str]]
    body: str
    """
    UTF-8 text, or `[N bytes]` for binary data and for text over 256 KiB.
    """
    body_base64: NotRequired[str | None]
    """
    A body that is not text; absent of a longer one than 256 KiB.
    """


class PlannedScriptCall(TypedDict):
    """
    A call that a dry run held back.
    """

    step: int
    tool: str
    line: NotRequired[int | None]
    arguments: dict[str, Any]


class PluginCounts(TypedDict):
    active: int
    loading: int
    """
    Files of the folder that are still being compiled and looked at; their tools follow.
    """
    quarantined: int
    pending_approval: int
    servers_failing: NotRequired[int]
    """
    Remote MCP servers that gave no usable list when they were last asked. Their plugins keep their tools.
    """


class PluginVersion(TypedDict):
    """
    The exact plugin file that ran.
    """

    service: str
    version: str
    sha256: str
    """
    SHA-256 of the component file, hexadecimal.
    """


class Position(TypedDict):
    """
    Where a passage stands in its document's text.
    """

    starts_at: int
    """
    In characters (Unicode scalar values), from 0.
    """
    ends_at: int
    """
    Behind its last character.
    """
    page: NotRequired[int | None]
    """
    From 1; absent where the kind of document has no pages.
    """


class Probe(TypedDict):
    status: str
    """
    Always `ok`.
    """


Ranking: TypeAlias = Literal["lexical", "hybrid"]
"""
How a search was ranked.
"""


class ReceiptFailure(TypedDict):
    """
    What a failed call was answered.
    """

    code: str
    message: str
    """
    In the words of the provider or the plugin, without credentials; at most 2,000 characters.
    """
    suggested_fix: NotRequired[str | None]
    provider_status: NotRequired[int | None]
    """
    HTTP status of the provider's answer.
    """


class ReceiptKey(TypedDict):
    """
    How a person recognises the key of a receipt.
    """

    name: str
    prefix: str
    """
    First eight characters of the key's random part.
    """


ReceiptKind: TypeAlias = Literal["tool", "connection", "script"]
"""
Whose requests a receipt is about.
"""


class ReplaceToolsetBody(TypedDict):
    """
    A whole toolset. What is absent is empty.
    """

    title: NotRequired[str]
    """
    Empty: the name.
    """
    description: NotRequired[str]
    tools: NotRequired[list[str]]
    services: NotRequired[list[str]]
    skills: NotRequired[list[str]]
    generic_tools: NotRequired[bool]
    skill_versions: NotRequired[dict[str, int]]
    """
    Versions of Skills that were read, by id: a Skill at another one is a `conflict`, and nothing is changed.
    """


class RequestRecord(TypedDict):
    """
    One request that left the process, as the receipt keeps it: as the plugin made it, before a
    credential was written into it, and without any credential that the gateway knows.
    """

    method: str
    origin: NotRequired[str]
    """
    Scheme, host and port.
    """
    host: str
    path: str
    """
    What may be a credential is `[redacted]`: segments that the manifest does not declare and that are neither short
    nor words, numbers or UUIDs, and users in front of an `@`.
    """
    query: NotRequired[str | None]
    """
    The query; values that look like credentials, and addresses with a user, are `[redacted]`.
    """
    status: NotRequired[int | None]
    """
    HTTP status; absent when no answer came.
    """
    bytes_out: int
    body_sha256: NotRequired[str | None]
    """
    SHA-256 of the body, hexadecimal; absent without a body.
    """
    bytes_in: int
    started_ms: NotRequired[int | None]
    """
    When it began, after the start of the call.
    """
    duration_ms: int
    credential_slot: NotRequired[str | None]


class ResultFile(TypedDict):
    """
    One file of a result: kept for a day under its handle, and, where it fits, whole in the answer.
    """

    file_id: NotRequired[str | None]
    """
    Of `GET /v1/files/{file_id}`, and for the argument of a tool that takes a file. Absent where the workspace had
    no room to keep it.
    """
    name: NotRequired[str | None]
    media_type: str
    size_bytes: int
    sha256: NotRequired[str | None]
    """
    Of the content, hexadecimal.
    """
    expires_at: NotRequired[str | None]
    """
    How long it is kept.
    """
    content: NotRequired[str | None]
    """
    Base64 (RFC 4648, section 4). Absent where the contents of all files are larger than the answer may be.
    """


class ResumeBody(TypedDict):
    """
    Nothing has to be said to go on.
    """


class RotateBody(TypedDict):
    """
    How to rotate.
    """

    overlap_hours: NotRequired[int | None]
    """
    How long the secret before signs too, in hours; 24 if absent, 0 ends it at once.
    """


class RuleApprovers(TypedDict):
    """
    Approvers by the name of a service or tool.
    """

    services: NotRequired[dict[str, Approvers]]
    tools: NotRequired[dict[str, Approvers]]


class RunScriptBody(TypedDict):
    """
    A script and what it runs with.
    """

    script: str
    """
    One module in JavaScript or TypeScript, at most 256 KiB. Its result is its default export, or what that function
    returns.
    """
    arguments: NotRequired[Any]
    """
    What the script finds in `args`; an empty object if absent.
    """
    user_id: NotRequired[str | None]
    """
    The user to run for; the key's default user if absent.
    """
    session_id: NotRequired[str | None]
    """
    The session of all calls; each call has its own if absent.
    """
    dry_run: NotRequired[bool]
    """
    Calls that read are made, calls that write are planned: the answer lists them in `plan`.
    """


class SchemaOrRef(TypedDict):
    """
    Either the schema itself or where to read it.
    """

    inputSchema: NotRequired[dict[str, Any]]
    schemaRef: NotRequired[str]
    """
    Path of the schema endpoint.
    """


ScriptCallStatus: TypeAlias = Literal["ok", "error", "open", "not_begun"]


class ScriptError(TypedDict):
    """
    Why a run failed.
    """

    name: str
    """
    Of the error in JavaScript, such as `TypeError`; `RunError` where the gateway ended the run.
    """
    message: str
    code: NotRequired[str | None]
    """
    Of a call that failed and of a limit, such as `not_found` or `timeout`.
    """
    line: NotRequired[int | None]
    """
    In the script as it was sent, from 1.
    """
    column: NotRequired[int | None]
    step: NotRequired[int | None]
    """
    The step whose failure the script did not catch.
    """


class ScriptLog(TypedDict):
    """
    One line that a script logged.
    """

    level: str
    """
    `info`, `warn` or `error`.
    """
    text: str


class ScriptPause(TypedDict):
    """
    What a paused run waits for.
    """

    reason: PauseReason
    step: int
    """
    The call that waits.
    """
    line: NotRequired[int | None]
    tool: str
    connect_url: NotRequired[str | None]
    """
    For the user to open: one use, 15 minutes. It is in the answer to the run that paused and nowhere else; resuming
    answers a new one.
    """
    approval_id: NotRequired[str | None]
    approval_url: NotRequired[str | None]
    """
    Where a member approves or denies the call.
    """
    message: str


ScriptStatus: TypeAlias = Literal[
    "done", "failed", "paused", "planned", "cancelled", "running"
]
"""
How far a run is.
"""


class SendMessageBody(TypedDict):
    """
    A new message.
    """

    content: str
    """
    What the user says.
    """


Setting: TypeAlias = Literal["allow", "deny", "ask", "inherit"]
"""
A rule as a request names it.
"""


class SkillTool(TypedDict):
    tool_name: str
    service: str
    permission: Permission
    connection: ConnectionState


class SkillVersion(TypedDict):
    """
    A Skill as it was.
    """

    version: int
    name: str
    summary: str
    instructions: str
    created_at: str
    """
    When this version began.
    """


class StoredFile(TypedDict):
    """
    A file, without its content.
    """

    file_id: str
    """
    The handle: pass it as the argument of a tool that takes a file.
    """
    user_id: str
    """
    Whose it is.
    """
    name: NotRequired[str | None]
    media_type: str
    size_bytes: int
    sha256: str
    """
    Of the content, hexadecimal.
    """
    execution_id: NotRequired[str | None]
    """
    The call that returned it; absent for an uploaded one.
    """
    created_at: str
    expires_at: str


class TestedItem(TypedDict):
    """
    One item of a test.
    """

    event_id: str
    """
    The id that its event would have.
    """
    time: NotRequired[str | None]
    event: Any
    """
    The provider's content; `null` where it is too large.
    """


class ToolAuth(TypedDict):
    type: str
    """
    `oauth2`, `api_key`, ... or `none`.
    """
    scopes: list[str]


class ToolError(TypedDict):
    """
    The provider's refusal in the form an agent can act on.
    """

    code: str
    message: str
    can_retry: bool
    retry_after_ms: NotRequired[int | None]
    suggested_fix: NotRequired[str | None]
    provider_status: NotRequired[int | None]
    provider_body: NotRequired[Any]


class ToolSource(TypedDict):
    """
    What a tool of a toolset runs.
    """

    service: NotRequired[str]
    kind: Literal["tool", "skill"]
    skill_id: NotRequired[str]


class ToolsetInfo(TypedDict):
    """
    A toolset, and how many tools it lists now for a user who may use all of them.
    """

    name: str
    title: str
    """
    What clients show; the name where none is given.
    """
    description: str
    """
    What it is for; clients show it to the model.
    """
    tools: list[str]
    """
    Names of tools.
    """
    services: list[str]
    """
    Names of services: all their tools.
    """
    skills: list[str]
    """
    Ids of Skills.
    """
    generic_tools: bool
    """
    Whether the tools of the main address are listed too.
    """
    mcp_url: str
    """
    The address for MCP clients.
    """
    listed: int
    """
    How many tools its list holds, at most 128.
    """
    left_out: int
    """
    How many more there are, which are neither listed nor callable.
    """
    missing: NotRequired[list[str]]
    """
    What was chosen and is not there any more, or not yet.
    """
    created_at: str
    updated_at: str


class ToolsetTool(TypedDict):
    """
    One tool of a toolset.
    """

    service: NotRequired[str]
    kind: Literal["tool", "skill"]
    skill_id: NotRequired[str]
    name: str
    title: str
    description: str
    inputSchema: dict[str, Any]
    outputSchema: NotRequired[dict[str, Any] | None]
    annotations: Annotations


TriggerState: TypeAlias = Literal[
    "active", "failing", "waiting_for_connection", "paused"
]
"""
How a trigger fares.
"""


TriggerTestStatus: TypeAlias = Literal["found", "auth_required", "error"]


class Truncated(TypedDict):
    """
    Where the rest of a result is.
    """

    result_id: str
    """
    Of `GET /v1/results/{result_id}`.
    """
    bytes_total: int
    """
    Size of the whole result as compact JSON.
    """
    bytes_shown: int
    """
    How many of them `result` holds, as text: read on from here.
    """
    expires_at: str


TurnReason: TypeAlias = Literal[
    "answered",
    "no_model",
    "auth_required",
    "auth_expired",
    "approval_required",
    "steps_exhausted",
    "tokens_exhausted",
    "time_exhausted",
    "rate_limited",
    "model_failed",
    "key_revoked",
    "gateway_stopping",
]


TurnStatus: TypeAlias = Literal["completed", "paused", "stopped"]


class UpdateSkillBody(TypedDict):
    """
    What to change of a Skill.
    """

    name: NotRequired[str | None]
    """
    Empty or absent keeps the name.
    """
    summary: NotRequired[str | None]
    """
    Empty or absent keeps the summary. `description` is read as the same field.
    """
    instructions: NotRequired[str | None]
    """
    Empty or absent keeps the instructions. `body` is read as the same field.
    """
    version: NotRequired[int | None]
    """
    Changes the Skill only if this is its version; the same as `If-Match`.
    """


class UpdateToolsetBody(TypedDict):
    """
    What to change; absent fields stay, others are replaced.
    """

    title: NotRequired[str | None]
    """
    Empty: the name.
    """
    description: NotRequired[str | None]
    tools: NotRequired[list[str] | None]
    """
    In place of all tools.
    """
    services: NotRequired[list[str] | None]
    """
    In place of all services.
    """
    skills: NotRequired[list[str] | None]
    """
    In place of all Skills.
    """
    generic_tools: NotRequired[bool | None]
    skill_versions: NotRequired[dict[str, int]]
    """
    Versions of Skills that were read, by id: a Skill at another one is a `conflict`, and nothing is changed.
    """


class UpdateTriggerBody(TypedDict):
    """
    What to change; absent fields stay.
    """

    config: NotRequired[dict[str, Any] | None]
    """
    In place of all arguments that were chosen. What is there under them is read anew and not told of.
    """
    interval_s: NotRequired[int | None]
    paused: NotRequired[bool | None]
    """
    `false` also polls at once, and tells of what has come meanwhile.
    """


class WebhookDelivery(TypedDict):
    """
    One event on its way to one webhook.
    """

    delivery_id: str
    """
    `dlv_<ULID>`.
    """
    event_id: str
    """
    The header `webhook-id`: the same for every attempt and every webhook.
    """
    type: str
    """
    The event's type.
    """
    status: DeliveryStatus
    attempts: int
    next_attempt_at: NotRequired[str | None]
    """
    Absent once it is settled.
    """
    last_attempt_at: NotRequired[str | None]
    response_status: NotRequired[int | None]
    """
    HTTP status of the last answer.
    """
    duration_ms: NotRequired[int | None]
    """
    How long the last attempt took.
    """
    last_error: NotRequired[str | None]
    """
    Why the last attempt failed.
    """
    execution_id: NotRequired[str | None]
    """
    The execution that the event tells of, where it tells of one.
    """
    created_at: str


class WebhookFilters(TypedDict):
    """
    Which events of the wanted types pass. An absent list lets everything pass; a given one only
    events that carry one of its values.
    """

    user_ids: NotRequired[list[str] | None]
    services: NotRequired[list[str] | None]
    tool_names: NotRequired[list[str] | None]


class CodeMode(TypedDict):
    """
    Whether the gateway runs scripts for the workspace.
    """

    enabled: bool


class ConnectLink(TypedDict):
    connect_url: str
    """
    Absolute, one use, 15 minutes.
    """
    expires_at: str
    connection_id: str
    """
    The connection that it makes or renews.
    """


class DeletedConnection(TypedDict):
    """
    What a deletion did.
    """

    connection_id: str
    deleted: bool
    """
    Always `true`.
    """
    revoked_at_provider: bool
    """
    Whether the provider was told to revoke the credential and agreed.
    """


class HookWithSecret(TypedDict):
    """
    A hook, with its secret where the gateway has just made it.
    """

    connection_id: str
    service: str
    url: str
    """
    The address to register at the provider.
    """
    accepted: int
    """
    Deliveries that were taken.
    """
    refused: int
    """
    Deliveries that were forged, too old or could not be read.
    """
    last_accepted_at: NotRequired[str | None]
    last_refused_at: NotRequired[str | None]
    last_refusal: NotRequired[str | None]
    """
    Why the last one was refused.
    """
    created_at: str
    secret: NotRequired[str | None]
    """
    To be entered at the provider. Shown this once.
    """


class DeletedHook(TypedDict):
    connection_id: str
    deleted: bool
    """
    Always `true`.
    """


class EventPage(TypedDict):
    """
    `GET /v1/events`, oldest first.
    """

    events: list[EventRecord]
    cursor: str
    """
    Where to go on, also when there was no event.
    """
    has_more: bool
    """
    Whether more is there already.
    """
    truncated: bool
    """
    Whether events between the cursor that was sent and the first of these are no longer kept.
    """


class FilePage(TypedDict):
    files: list[StoredFile]
    """
    Newest first.
    """
    next_cursor: NotRequired[str | None]
    """
    `null` on the last page.
    """


class DeletedFile(TypedDict):
    file_id: str
    deleted: bool
    """
    Always `true`.
    """


class FileText(TypedDict):
    """
    A piece of the text of a file.
    """

    file: StoredFile
    text: NotRequired[str | None]
    """
    `null`: the file has no text that can be read here.
    """
    offset: int
    """
    Where the piece begins in the whole text, in bytes.
    """
    bytes_total: int
    """
    Of the whole text.
    """
    next_offset: NotRequired[int | None]
    """
    Where the next piece begins; `null` after the last one.
    """


class Health(TypedDict):
    """
    `GET /v1/health`, `svc_health_check`.
    """

    status: HealthStatus
    version: str
    database: str
    """
    `sqlite` or `postgres`.
    """
    plugins: PluginCounts
    tools: int
    """
    Tools in the serving catalog.
    """
    runtime: str
    """
    How instances get their memory: `pooling` or `on_demand`.
    """
    search: Ranking
    """
    How search ranks: `hybrid` once the sentence model is `ready`, else `lexical`.
    """
    search_model: ModelState
    """
    What the model for searching by meaning is doing.
    """


class DocumentPage(TypedDict):
    documents: list[ListedDocument]
    next_cursor: NotRequired[str | None]
    """
    `null` on the last page.
    """


class Document(TypedDict):
    """
    A document with its text.
    """

    document_id: str
    """
    `doc_<ULID>`.
    """
    title: str
    media_type: str
    sha256: str
    """
    Of the file as it came, hexadecimal.
    """
    bytes: int
    """
    Size of the file as it came.
    """
    chars: int
    """
    Length of its text in characters.
    """
    pages: NotRequired[int | None]
    """
    Absent where the kind of document has no pages.
    """
    created_at: str
    content: str
    """
    Its text as it was read; positions of passages count its characters.
    """


class DeletedDocument(TypedDict):
    document_id: str
    deleted: bool
    """
    Always `true`.
    """


class PermissionServices(TypedDict):
    """
    `GET /v1/permissions/services`.
    """

    services: list[PermissionService]


class PermissionSummary(TypedDict):
    """
    `GET /v1/permissions/users/{user_id}/summary`: tools by what holds for them.
    """

    user_id: str
    services: dict[str, PermissionCounts]
    total: PermissionCounts


class ResultPiece(TypedDict):
    """
    One piece of a kept result. `GET /v1/results/{result_id}`.
    """

    result_id: str
    execution_id: str
    content: str
    """
    A piece of the result's JSON text.
    """
    offset: int
    bytes_total: int
    next_offset: NotRequired[int | None]
    """
    Where the next piece begins; `null` after the last one.
    """
    expires_at: str


class DeletedSession(TypedDict):
    session_id: str
    deleted: bool
    """
    Always `true`.
    """


class SkillPage(TypedDict):
    skills: list[ListedSkill]
    """
    Newest first.
    """
    total: int
    """
    Skills that the filter finds, on this page and others.
    """
    limit: int
    offset: int


class Skill(TypedDict):
    """
    A Skill in full.
    """

    skill_id: str
    name: str
    summary: str
    """
    What it does and when to use it.
    """
    instructions: str
    version: int
    """
    1 when new, one more with each update.
    """
    created_at: str
    updated_at: str
    change_waits: NotRequired[bool]
    """
    In the answer to an update: a toolset names the Skill, so the change waits for an admin, and these are the texts
    that readers still get.
    """


class DeletedSkill(TypedDict):
    skill_id: str
    deleted: bool
    """
    Always `true`.
    """


class SkillCheck(TypedDict):
    """
    `GET /v1/skills/{skill_id}/check`.
    """

    skill_id: str
    user_id: str
    ready: bool
    """
    Whether every tool exists, is allowed and is connected where it has to be.
    """
    tools: list[SkillTool]
    """
    In the order in which the Skill names them.
    """
    unknown_tools: list[str]
    """
    Names that look like tools of a known service, but are none.
    """


class SkillVersions(TypedDict):
    skill_id: str
    versions: list[SkillVersion]
    """
    Newest first; fewer than `limit` where their texts are long.
    """
    next_cursor: NotRequired[str | None]
    """
    `null` on the last page.
    """


class Status(TypedDict):
    """
    `GET /v1/status`.
    """

    status: str
    """
    `ok`: the key is valid.
    """
    workspace: str
    """
    Name of the key's workspace.
    """
    key: KeyStatus
    limits: Limits


class ToolPage(TypedDict):
    tools: list[ListedTool]
    next_cursor: NotRequired[str | None]


class FoundTools(TypedDict):
    query: str
    service: str | None
    """
    The service that was named; null if none was.
    """
    total: int
    """
    Tools found, also beyond `limit`: those that match well, and the nearest up to ten.
    """
    tools: list[FoundTool]
    """
    Best first. Where the query has several steps, their tools take turns.
    """
    confidence: Confidence
    """
    Whether the tools fit the query.
    """
    suggestions: NotRequired[list[str]]
    """
    The nearest services, when no tool shares anything with the query.
    """
    ranking: Ranking
    lexical_reason: NotRequired[LexicalReason | None]
    plugins_loading: NotRequired[int]
    """
    Plugins that are still being loaded, whose tools are not among these; left out when there
    are none.
    """


class Execution(TypedDict):
    """
    The outcome of one execute request. Every variant carries its receipt's id.
    """

    result: NotRequired[Any]
    truncated: NotRequired[Truncated | None]
    files: NotRequired[list[ResultFile]]
    """
    Files that the tool returned beside its result.
    """
    summary: NotRequired[str | None]
    next_cursor: NotRequired[str | None]
    status: Literal[
        "success",
        "error",
        "auth_required",
        "auth_expired",
        "dry_run",
        "approval_required",
    ]
    reason: NotRequired[str]
    error: NotRequired[ToolError]
    auth_type: NotRequired[str]
    message: NotRequired[str]
    connect_url: NotRequired[str | None]
    """
    Absolute, one use, 15 minutes. Absent where the operator has not set the service up yet;
    `message` then says so.
    """
    requests: NotRequired[list[PlannedRequest]]
    """
    What the call would send, as a dry run shows it.
    """
    approval_id: NotRequired[str]
    approval_url: NotRequired[str]
    """
    Where a member approves or denies it.
    """
    expires_at: NotRequired[str]
    execution_id: str
    tool_name: str
    service: str
    session_id: str
    duration_ms: int
    coerced: NotRequired[list[str]]
    """
    JSON Pointers of texts in the arguments that were taken as the number, boolean, list or object that the
    tool asks for; at most 100. Left out when there are none.
    """


class ToolSchema(TypedDict):
    """
    `GET /v1/tools/{tool_name}/schema` and `svc_get_tool_schema`.
    """

    name: str
    service: str
    description: str
    inputSchema: dict[str, Any]
    outputSchema: NotRequired[dict[str, Any] | None]
    annotations: Annotations
    auth: ToolAuth
    examples: list[dict[str, Any]]
    """
    Arguments of realistic calls, as the author of the plugin wrote them.
    """


class ToolsetList(TypedDict):
    toolsets: list[ToolsetInfo]
    """
    By name.
    """


class DeletedToolset(TypedDict):
    name: str
    deleted: bool
    """
    Always `true`.
    """


class ToolsetTools(TypedDict):
    """
    `GET /v1/toolsets/{toolset_name}/tools`, and what `/mcp/t/{toolset_name}` lists.
    """

    name: str
    title: str
    description: str
    generic_tools: bool
    """
    Whether an MCP client is listed the tools of the main address too, before these.
    """
    tools: list[ToolsetTool]
    """
    Skills, then tools, each by name.
    """
    left_out: int
    """
    How many more the caller may use, which are neither listed nor callable here.
    """


class DeletedTrigger(TypedDict):
    trigger_id: str
    deleted: bool
    """
    Always `true`.
    """


class TriggerTest(TypedDict):
    """
    What polls would have found of late. `POST /v1/triggers/{trigger_id}/test`.
    """

    status: TriggerTestStatus
    """
    `found`, or why nothing was read.
    """
    execution_id: NotRequired[str | None]
    """
    The receipt of the call, of the last one where there were several; absent where nothing was called.
    """
    message: NotRequired[str | None]
    """
    Why nothing was read.
    """
    connect: NotRequired[Connect | None]
    listed: int
    """
    Items that were read.
    """
    since: NotRequired[str | None]
    """
    The time from which on items are answered: the one that was asked for, or a day ago. Absent where the service gives
    no times of them; then the first page is answered as it is listed now.
    """
    found: NotRequired[int | None]
    """
    Of the items that were read, those from then on; absent like it.
    """
    complete: bool
    """
    Whether there are no more of them: behind five pages nothing is read.
    """
    items: list[TestedItem]
    """
    The first 20 of them, as their events would have them.
    """


class WebhookWithSecret(TypedDict):
    """
    A webhook with its secret, which no later answer holds.
    """

    webhook_id: str
    """
    `whk_<ULID>`.
    """
    url: str
    description: str
    events: list[str]
    """
    Event types, groups (`tool.*`) or `*`.
    """
    filters: WebhookFilters
    enabled: bool
    disabled_reason: NotRequired[str | None]
    """
    Why the gateway has switched it off: `gone` after an answer 410, `failing` after five days
    without a good answer. Absent where a caller has.
    """
    disabled_at: NotRequired[str | None]
    failing_since: NotRequired[str | None]
    """
    Since when no delivery has arrived; absent while all is well.
    """
    paused_until: NotRequired[str | None]
    """
    Until when nothing is sent but tests and repetitions, as deliveries failed; absent while all is well.
    """
    previous_secret_until: NotRequired[str | None]
    """
    Until when the secret before the last rotation signs too.
    """
    created_at: str
    updated_at: str
    secret: str
    """
    `whsec_` and the key in base64, as Standard Webhooks writes it. Shown this once.
    """


class DeletedWebhook(TypedDict):
    webhook_id: str
    deleted: bool
    """
    Always `true`.
    """


class WebhookDeliveryPage(TypedDict):
    deliveries: list[WebhookDelivery]
    next_cursor: NotRequired[str | None]
    """
    `null` on the last page.
    """


class AddDocumentBody(TypedDict):
    """
    A new document: `content` or `content_base64`, at most 4 MiB. The body may be as large as 6 MiB.
    """

    title: NotRequired[str | None]
    """
    On one line; what the document calls itself if absent, else its first line.
    """
    media_type: MediaType
    content: NotRequired[str | None]
    """
    The document as text; not for PDF.
    """
    content_base64: NotRequired[str | None]
    """
    The document's bytes in base64 (RFC 4648, section 4); text is UTF-8.
    """


class Approval(TypedDict):
    """
    One question. `GET /v1/approvals/{approval_id}`.
    """

    approval_id: str
    """
    `apr_<ULID>`.
    """
    user_id: str
    tool_name: str
    title: str
    """
    The tool's title.
    """
    annotations: NotRequired[Annotations | None]
    status: ApprovalStatus
    arguments: Any
    """
    What the tool is called with, whole. Numbers that JSON parsers round are here as they round them.
    """
    arguments_text: str
    """
    The same as JSON text, as it runs, with every digit; characters that a reader cannot see are escaped.
    """
    secrets_masked: bool
    """
    Whether an earlier version of the gateway has masked a secret of the connection in `arguments` or `requests`: now
    such a call is refused.
    """
    requests: list[PlannedRequest]
    """
    What the call would send first, as a dry run shows it. The run may begin with nothing else.
    """
    requests_complete: bool
    """
    Whether these are all: requests that follow from the first answers cannot be planned.
    """
    asked_by: str
    """
    `key:<id>` or `member:<id>`; may not decide, unless `approvers` is `self` and it is a member.
    """
    asked_by_name: str
    """
    Name of the key or the member.
    """
    approvers: Approvers
    can_decide: bool
    """
    Whether the reader of this may decide it now.
    """
    connection_id: NotRequired[str | None]
    """
    What the call would run with; absent where the tool needs none.
    """
    account: NotRequired[str | None]
    """
    The account's name at the provider, where it is known.
    """
    plugin: ApprovedPlugin
    """
    The code that would run. Another version is another question.
    """
    created_at: str
    expires_at: str
    decided_by: NotRequired[str | None]
    """
    `key:<id>` or `member:<id>`.
    """
    decided_at: NotRequired[str | None]


class ApprovalNeeded(TypedDict):
    """
    A call that waits for a person. `reason` repeats the status.
    """

    reason: str
    message: str
    approval_id: str
    approval_url: str
    """
    Where a member approves or denies it.
    """
    expires_at: str
    requests: list[PlannedRequest]
    """
    What the call would send, as a dry run shows it.
    """


class BatchBody(TypedDict):
    """
    Rules of services and tools.
    """

    services: NotRequired[dict[str, Setting]]
    """
    By name of the service.
    """
    tools: NotRequired[dict[str, Setting]]
    """
    By name of the tool.
    """
    approvers: NotRequired[Approvers | None]


class ConnectionInfo(TypedDict):
    """
    A connection as public answers show it.
    """

    connection_id: str
    """
    `con_<ULID>`; kept when the user connects again.
    """
    user_id: str
    service: str
    auth_type: str
    account: NotRequired[str | None]
    """
    The account's name at the provider, where it could be read.
    """
    scopes: list[str]
    """
    Scopes that were asked for or granted.
    """
    state: HealthState
    state_since: str
    next_retry_at: NotRequired[str | None]
    last_error: NotRequired[str | None]
    """
    Why the last refresh failed.
    """
    created_at: str
    refresh_token_expires_at: NotRequired[str | None]
    """
    When the refresh token ends, where the provider says it.
    """


class CreateWebhookBody(TypedDict):
    """
    A new webhook.
    """

    url: str
    """
    A public https address, or one for which the operator allows an upstream.
    """
    events: list[str]
    """
    Event types, groups (`tool.*`) or `*`.
    """
    description: NotRequired[str]
    filters: NotRequired[WebhookFilters]


class DefaultPermissionBody(TypedDict):
    """
    `GET` and `PATCH /v1/permissions/default`.
    """

    default: DefaultRule
    approvers: NotRequired[Approvers | None]


class ExecutionPayload(TypedDict):
    """
    The body of one request, before a credential was added, or of one answer, as the plugin got it.
    """

    number: int
    """
    Of the request within the call; an answer has the number of its request.
    """
    side: PayloadSide
    method: str
    origin: str
    path: str
    media_type: NotRequired[str | None]
    bytes_total: int
    """
    Size of the whole body.
    """
    truncated: bool
    """
    Whether `content` is its beginning only: 64 KiB of a body are kept, 512 KiB of a call.
    """
    encoding: PayloadEncoding
    content: str


class ExecutionReceipt(TypedDict):
    """
    `GET /v1/executions/{id}`: one execution as it is kept.
    """

    execution_id: str
    """
    `exe_<ULID>`.
    """
    kind: NotRequired[ReceiptKind]
    tool_name: str
    """
    For a receipt of a connection what was done, such as `host:token_refresh`.
    """
    user_id: str
    key: ReceiptKey
    """
    The API key that asked.
    """
    status: ExecutionStatus
    reason: NotRequired[FailureReason | None]
    started_at: str
    """
    Milliseconds since the Unix epoch; RFC 3339 in public answers.
    """
    duration_ms: int
    connection_id: NotRequired[str | None]
    """
    The connection it ran with.
    """
    parent_execution_id: NotRequired[str | None]
    """
    The run of a script whose call this was.
    """
    plugin: PluginVersion
    requests: list[RequestRecord]
    """
    What left the process, in order.
    """
    failure: NotRequired[ReceiptFailure | None]


class Failure(TypedDict):
    """
    The answer to a request that was refused or failed.
    """

    success: bool
    """
    Always `false`.
    """
    error: Error
    meta: Meta


class FoundPassage(TypedDict):
    document_id: str
    title: str
    """
    The document's.
    """
    text: str
    position: Position
    score: float
    """
    Larger is better; comparable within one answer only (BM25).
    """


class LimitedRule(TypedDict):
    """
    A rule that ends at a time or after a number of calls.
    """

    service: NotRequired[str | None]
    """
    Name of the service, for a service's rule.
    """
    tool_name: NotRequired[str | None]
    """
    Name of the tool, for a tool's rule.
    """
    permission: Permission
    expires_at: NotRequired[str | None]
    max_calls: NotRequired[int | None]
    used: NotRequired[int | None]
    """
    How many of `max_calls` are used.
    """


class Matches(TypedDict):
    """
    Skills, passages and tools that match a message, best first.
    """

    skills: list[ListedSkill]
    passages: list[FoundPassage]
    tools: list[FoundTool]
    """
    With their input schemas, as search answers them.
    """
    not_searched: NotRequired[list[str]]
    """
    What the key has no scope to look into.
    """


class Message(TypedDict):
    """
    One step of a session.
    """

    status: NotRequired[TurnStatus | None]
    reason: NotRequired[TurnReason | None]
    model_configured: NotRequired[bool | None]
    """
    Whether a model wrote the assistant's message.
    """
    tool_calls: NotRequired[list[OperationCall]]
    """
    Operations that the assistant asked for in this step.
    """
    tool_call_id: NotRequired[str | None]
    """
    Which of them a `tool` message answers.
    """
    operation: NotRequired[str | None]
    execution_id: NotRequired[str | None]
    """
    The receipt, where a tool was executed.
    """
    pending: NotRequired[Pending | None]
    call_begun: NotRequired[bool | None]
    """
    Of a reply that left calls open: whether one of them was begun since. What of it may have
    run is not made again.
    """
    matches: NotRequired[Matches | None]
    tokens: NotRequired[int | None]
    """
    What the turn has cost so far, as the model's server counts or else as estimated.
    """
    message_id: str
    """
    `msg_<ULID>`.
    """
    role: MessageRole
    content: str
    created_at: str


class Outcome(TypedDict):
    result: NotRequired[Any]
    truncated: NotRequired[Truncated | None]
    files: NotRequired[list[ResultFile]]
    """
    Files that the tool returned beside its result.
    """
    summary: NotRequired[str | None]
    next_cursor: NotRequired[str | None]
    status: Literal[
        "success",
        "error",
        "auth_required",
        "auth_expired",
        "dry_run",
        "approval_required",
    ]
    reason: NotRequired[str]
    error: NotRequired[ToolError]
    auth_type: NotRequired[str]
    message: NotRequired[str]
    connect_url: NotRequired[str | None]
    """
    Absolute, one use, 15 minutes. Absent where the operator has not set the service up yet;
    `message` then says so.
    """
    requests: NotRequired[list[PlannedRequest]]
    """
    What the call would send, as a dry run shows it.
    """
    approval_id: NotRequired[str]
    approval_url: NotRequired[str]
    """
    Where a member approves or denies it.
    """
    expires_at: NotRequired[str]


class RuleBody(TypedDict):
    """
    One rule.
    """

    permission: Setting
    approvers: NotRequired[Approvers | None]
    expires_at: NotRequired[str | None]
    """
    The rule counts until this time, in UTC; afterwards it is as if it were not there.
    """
    max_calls: NotRequired[int | None]
    """
    The rule counts for this many calls; afterwards it is as if it were not there.
    """


class ScriptCall(TypedDict):
    """
    One step of a run.
    """

    step: int
    """
    From 0, in the order in which the script asked.
    """
    tool: str
    """
    The tool's name, or `search`, `describe`, `skill`, `sleep`.
    """
    line: NotRequired[int | None]
    status: ScriptCallStatus
    execution_id: NotRequired[str | None]
    """
    Of its receipt.
    """
    started_at: NotRequired[str | None]
    """
    Milliseconds since the Unix epoch, RFC 3339 in public answers; absent where it has not begun.
    """
    duration_ms: NotRequired[int | None]
    """
    Absent where it has not ended.
    """


class ScriptRunSummary(TypedDict):
    """
    A run in a list.
    """

    run_id: str
    status: ScriptStatus
    user_id: str
    session_id: NotRequired[str | None]
    execution_id: str
    script_sha256: str
    """
    Of the script's text, hexadecimal.
    """
    steps: int
    """
    Steps that have begun.
    """
    dry_run: bool
    created_at: str
    updated_at: str
    expires_at: str
    """
    When the run is deleted with its journal.
    """


class Session(TypedDict):
    """
    One session.
    """

    session_id: str
    user_id: str
    title: NotRequired[str | None]
    """
    The beginning of what it was created with; absent for a session that executions made.
    """
    created_at: str
    last_active_at: str
    expires_at: str
    """
    When it is gone unless it is used before.
    """
    messages: NotRequired[list[Message] | None]
    """
    What has been said in it, oldest first, at most the last 100 messages and without what
    operations answered; absent in lists.
    """


class Trigger(TypedDict):
    """
    One trigger. `GET /v1/triggers/{trigger_id}`.
    """

    trigger_id: str
    """
    `trg_<ULID>`.
    """
    user_id: str
    """
    With whose permissions and connection the tool is called.
    """
    service: str
    trigger: str
    """
    The trigger's name in the service's plugin.
    """
    event: str
    """
    The type of its events.
    """
    connection_id: NotRequired[str | None]
    """
    The connection that was chosen; absent where each poll chooses as a call does.
    """
    config: NotRequired[dict[str, Any] | None]
    """
    The arguments that were chosen. Absent in lists.
    """
    interval_s: int
    """
    Seconds between two polls.
    """
    state: TriggerState
    failures: int
    """
    Polls that failed since the last good one.
    """
    last_error: NotRequired[str | None]
    """
    Why the last poll failed, or what the trigger waits for.
    """
    watching_since: NotRequired[str | None]
    """
    Since when new items are told of; absent until what was there before has been read.
    """
    last_poll_at: NotRequired[str | None]
    last_item_at: NotRequired[str | None]
    items_found: int
    """
    Items that were told of.
    """
    next_poll_at: NotRequired[str | None]
    """
    Absent while the trigger is paused.
    """
    created_at: str
    updated_at: str


class UpdateWebhookBody(TypedDict):
    """
    What to change; absent fields stay.
    """

    url: NotRequired[str | None]
    events: NotRequired[list[str] | None]
    description: NotRequired[str | None]
    filters: NotRequired[WebhookFilters | None]
    enabled: NotRequired[bool | None]
    """
    `true` also forgets earlier failures and sends what waits.
    """


class Webhook(TypedDict):
    """
    One webhook. `GET /v1/webhooks/{webhook_id}`.
    """

    webhook_id: str
    """
    `whk_<ULID>`.
    """
    url: str
    description: str
    events: list[str]
    """
    Event types, groups (`tool.*`) or `*`.
    """
    filters: WebhookFilters
    enabled: bool
    disabled_reason: NotRequired[str | None]
    """
    Why the gateway has switched it off: `gone` after an answer 410, `failing` after five days
    without a good answer. Absent where a caller has.
    """
    disabled_at: NotRequired[str | None]
    failing_since: NotRequired[str | None]
    """
    Since when no delivery has arrived; absent while all is well.
    """
    paused_until: NotRequired[str | None]
    """
    Until when nothing is sent but tests and repetitions, as deliveries failed; absent while all is well.
    """
    previous_secret_until: NotRequired[str | None]
    """
    Until when the secret before the last rotation signs too.
    """
    created_at: str
    updated_at: str


class ApprovalPage(TypedDict):
    approvals: list[Approval]
    next_cursor: NotRequired[str | None]
    """
    `null` on the last page.
    """


class ConnectionPage(TypedDict):
    connections: list[ConnectionInfo]
    next_cursor: NotRequired[str | None]
    """
    `null` on the last page.
    """


class ExecutionPage(TypedDict):
    executions: list[ExecutionReceipt]
    next_cursor: NotRequired[str | None]
    """
    `null` on the last page. A filtered page may be short, or empty, before the last.
    """


class ExecutionPayloads(TypedDict):
    """
    `GET /v1/executions/{execution_id}/payloads`.
    """

    execution_id: str
    payloads: list[ExecutionPayload]
    """
    In the order in which the requests left, each request before its answer. Empty where the
    workspace kept none at the time of the call.
    """


class FoundPassages(TypedDict):
    query: str
    passages: list[FoundPassage]
    """
    Best first.
    """


class UserPermissions(TypedDict):
    """
    `GET /v1/permissions/users/{user_id}`: the user's own rules that hold now.
    """

    user_id: str
    default: DefaultRule
    services: dict[str, Permission]
    tools: dict[str, Permission]
    approvers: NotRequired[RuleApprovers]
    """
    Who decides for the rules that ask, where it is not `admins`.
    """
    limited: NotRequired[list[LimitedRule]]
    """
    Those of the rules that end by themselves.
    """


class PermissionExplanation(TypedDict):
    """
    `GET /v1/permissions/users/{user_id}/explain`.
    """

    user_id: str
    tool_name: str
    service: str
    effect: str
    """
    What the tool does: `read`, `write` or `destructive`.
    """
    permission: Permission
    decided_by: DecidedBy
    approvers: NotRequired[Approvers | None]
    rule: NotRequired[LimitedRule | None]


class ScriptRun(TypedDict):
    """
    One run of a script.
    """

    run_id: str
    status: ScriptStatus
    result: NotRequired[Any]
    """
    What the script's default export is, or answers. Absent unless the script came to its end.
    """
    error: NotRequired[ScriptError | None]
    pause: NotRequired[ScriptPause | None]
    plan: list[PlannedScriptCall]
    """
    Calls that a dry run held back, in the order in which the script asked for them.
    """
    logs: list[ScriptLog]
    """
    What the script logged.
    """
    warnings: list[str]
    """
    What else the author of the script should know, such as calls that were not awaited.
    """
    calls: list[ScriptCall]
    """
    What the script asked for, in its order.
    """
    execution_id: str
    """
    Of the receipt of the run; those of its calls name it as their parent.
    """


class ScriptRunPage(TypedDict):
    """
    `GET /v1/scripts/runs`, newest first.
    """

    items: list[ScriptRunSummary]
    next_cursor: str | None
    """
    `null` on the last page.
    """


class SessionPage(TypedDict):
    sessions: list[Session]
    next_cursor: NotRequired[str | None]
    """
    `null` on the last page.
    """


class MessagePage(TypedDict):
    messages: list[Message]
    next_cursor: NotRequired[str | None]
    """
    `null` on the last page.
    """


class TriggerList(TypedDict):
    """
    `GET /v1/triggers`, newest first.
    """

    triggers: list[Trigger]
    next_cursor: NotRequired[str | None]
    """
    `null` on the last page.
    """


class WebhookList(TypedDict):
    """
    `GET /v1/webhooks`, newest first.
    """

    webhooks: list[Webhook]


class Details(TypedDict):
    """
    What a step is beside its text.
    """

    status: NotRequired[TurnStatus | None]
    reason: NotRequired[TurnReason | None]
    model_configured: NotRequired[bool | None]
    """
    Whether a model wrote the assistant's message.
    """
    tool_calls: NotRequired[list[OperationCall]]
    """
    Operations that the assistant asked for in this step.
    """
    tool_call_id: NotRequired[str | None]
    """
    Which of them a `tool` message answers.
    """
    operation: NotRequired[str | None]
    execution_id: NotRequired[str | None]
    """
    The receipt, where a tool was executed.
    """
    pending: NotRequired[Pending | None]
    call_begun: NotRequired[bool | None]
    """
    Of a reply that left calls open: whether one of them was begun since. What of it may have
    run is not made again.
    """
    matches: NotRequired[Matches | None]
    tokens: NotRequired[int | None]
    """
    What the turn has cost so far, as the model's server counts or else as estimated.
    """

/** The shapes of the API. Made by sdk/clients/generate.py; do not edit. */

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A new document: `content` or `content_base64`, at most 4 MiB. The body may be as large as 6 MiB. */
        AddDocumentBody: {
            /** @description The document as text; not for PDF. */
            content?: string | null;
            /** @description The document's bytes in base64 (RFC 4648, section 4); text is UTF-8. */
            content_base64?: string | null;
            media_type: components["schemas"]["MediaType"];
            /** @description On one line; what the document calls itself if absent, else its first line. */
            title?: string | null;
        };
        /** @description MCP tool annotations, derived from the manifest's `effect` and `idempotent`. */
        Annotations: {
            destructiveHint: boolean;
            /**
             * @description Whether running it twice has the effect of running it once. Under one `Idempotency-Key` it runs again where the
             *     gateway failed in the middle.
             */
            idempotentHint: boolean;
            openWorldHint: boolean;
            readOnlyHint: boolean;
        };
        /** @description One question. `GET /v1/approvals/{approval_id}`. */
        Approval: {
            /** @description The account's name at the provider, where it is known. */
            account?: string | null;
            annotations?: components["schemas"]["Annotations"] | null;
            /**
             * @description `apr_<ULID>`.
             * @example apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            approval_id: string;
            approvers: components["schemas"]["Approvers"];
            /** @description What the tool is called with, whole. Numbers that JSON parsers round are here as they round them. */
            arguments: unknown;
            /** @description The same as JSON text, as it runs, with every digit; characters that a reader cannot see are escaped. */
            arguments_text: string;
            /** @description `key:<id>` or `member:<id>`; may not decide, unless `approvers` is `self` and it is a member. */
            asked_by: string;
            /** @description Name of the key or the member. */
            asked_by_name: string;
            /** @description Whether the reader of this may decide it now. */
            can_decide: boolean;
            /** @description What the call would run with; absent where the tool needs none. */
            connection_id?: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            decided_at?: string | null;
            /** @description `key:<id>` or `member:<id>`. */
            decided_by?: string | null;
            /** Format: date-time */
            expires_at: string;
            /** @description The code that would run. Another version is another question. */
            plugin: components["schemas"]["ApprovedPlugin"];
            /** @description What the call would send first, as a dry run shows it. The run may begin with nothing else. */
            requests: components["schemas"]["PlannedRequest"][];
            /** @description Whether these are all: requests that follow from the first answers cannot be planned. */
            requests_complete: boolean;
            /**
             * @description Whether an earlier version of the gateway has masked a secret of the connection in `arguments` or `requests`: now
             *     such a call is refused.
             */
            secrets_masked: boolean;
            status: components["schemas"]["ApprovalStatus"];
            /** @description The tool's title. */
            title: string;
            tool_name: string;
            user_id: string;
        };
        /**
         * @description `POST /v1/approvals/{approval_id}`.
         * @enum {string}
         */
        ApprovalDecision: "approve" | "deny";
        /** @description A call that waits for a person. `reason` repeats the status. */
        ApprovalNeeded: {
            approval_id: string;
            /** @description Where a member approves or denies it. */
            approval_url: string;
            /** Format: date-time */
            expires_at: string;
            message: string;
            reason: string;
            /** @description What the call would send, as a dry run shows it. */
            requests: components["schemas"]["PlannedRequest"][];
        };
        ApprovalPage: {
            approvals: components["schemas"]["Approval"][];
            /** @description `null` on the last page. */
            next_cursor?: string | null;
        };
        /**
         * @description The status of an approval.
         * @enum {string}
         */
        ApprovalStatus: "pending" | "approved" | "denied" | "used" | "expired";
        ApprovedPlugin: {
            /** @description Of the plugin file, hexadecimal. */
            sha256: string;
            version: string;
        };
        /**
         * @description Who decides about a call that waits for a person.
         * @enum {string}
         */
        Approvers: "admins" | "members" | "self";
        /** @description Rules of services and tools. */
        BatchBody: {
            approvers?: components["schemas"]["Approvers"] | null;
            /** @description By name of the service. */
            services?: {
                [key: string]: components["schemas"]["Setting"];
            };
            /** @description By name of the tool. */
            tools?: {
                [key: string]: components["schemas"]["Setting"];
            };
        };
        /** @description Whether the gateway runs scripts for the workspace. */
        CodeMode: {
            enabled: boolean;
        };
        /** @description The setting to be. */
        CodeModeBody: {
            /** @description Whether scripts run. */
            enabled: boolean;
        };
        /**
         * @description Whether the tools that a search found are likely to do what was asked for.
         * @enum {string}
         */
        Confidence: "high" | "low" | "none";
        /** @description The body of a confirmation. */
        ConfirmBody: {
            /** @description `connect_code` of the query with which the browser came to `confirm_url`. */
            code: string;
            /**
             * @description The user who sits before that browser, by the application's own session.
             * @example ada@example.com
             */
            user_id: string;
        };
        /** @description What a user has to do before the tool can run. `reason` repeats the status. */
        Connect: {
            auth_type: string;
            /**
             * @description Absolute, one use, 15 minutes. Absent where the operator has not set the service up yet;
             *     `message` then says so.
             */
            connect_url?: string | null;
            message: string;
            reason: string;
        };
        /** @description A connection as public answers show it. */
        ConnectionInfo: {
            /** @description The account's name at the provider, where it could be read. */
            account?: string | null;
            /** @example oauth2 */
            auth_type: string;
            /**
             * @description `con_<ULID>`; kept when the user connects again.
             * @example con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            connection_id: string;
            /** Format: date-time */
            created_at: string;
            /** @description Why the last refresh failed. */
            last_error?: string | null;
            /** Format: date-time */
            next_retry_at?: string | null;
            /**
             * Format: date-time
             * @description When the refresh token ends, where the provider says it.
             */
            refresh_token_expires_at?: string | null;
            /** @description Scopes that were asked for or granted. */
            scopes: string[];
            /** @example github */
            service: string;
            state: components["schemas"]["HealthState"];
            /** Format: date-time */
            state_since: string;
            /** @example ada@example.com */
            user_id: string;
        };
        ConnectionPage: {
            connections: components["schemas"]["ConnectionInfo"][];
            /** @description `null` on the last page. */
            next_cursor?: string | null;
        };
        /**
         * @description Whether the user could run the tool now.
         * @enum {string}
         */
        ConnectionState: "connected" | "not_connected" | "expired" | "not_needed" | "needs_setup";
        ConnectLink: {
            /** @description Absolute, one use, 15 minutes. */
            connect_url: string;
            /** @description The connection that it makes or renews. */
            connection_id: string;
            /** Format: date-time */
            expires_at: string;
        };
        /** @description A new session. */
        CreateSessionBody: {
            /** @description What the user asked for. */
            prompt: string;
            /**
             * @description Whose session it is; the key's default user if absent.
             * @example ada@example.com
             */
            user_id?: string | null;
        };
        /** @description A new Skill. */
        CreateSkillBody: {
            /** @description The steps to follow. `body` is read as the same field. */
            instructions: string;
            /** @description Short and descriptive, on one line. */
            name: string;
            /** @description What the Skill does and when to use it. `description` is read as the same field. */
            summary: string;
        };
        /** @description A new toolset. It names at least one tool, service or Skill, and at most 128 together. */
        CreateToolsetBody: {
            /** @description What it is for; clients show it to the model. */
            description?: string | null;
            /**
             * @description Whether the tools of the main address are listed too; then the client can also run tools
             *     outside of the toolset.
             */
            generic_tools?: boolean;
            /** @description The last segment of its address. */
            name: string;
            /** @description Names of services: all their tools, also those that a later version adds. */
            services?: string[];
            /** @description Versions of Skills that were read, by id: a Skill at another one is a `conflict`, and nothing is stored. */
            skill_versions?: {
                [key: string]: number;
            };
            /** @description Ids of Skills, which are listed as tools that answer their instructions. */
            skills?: string[];
            /** @description What clients show; the name if absent or empty. */
            title?: string | null;
            /** @description Names of tools. */
            tools?: string[];
        };
        /** @description A new trigger. */
        CreateTriggerBody: {
            /** @description The arguments of the trigger's tool that are to be chosen. */
            config?: Record<string, unknown>;
            /** @description One of the user's connections; if absent, each poll chooses as a call does. */
            connection_id?: string | null;
            /**
             * Format: int64
             * @description Seconds between two polls; those of the plugin if absent.
             */
            interval_s?: number | null;
            service: string;
            /**
             * Format: date-time
             * @description Items from this time on are told of although they are there already: RFC 3339, at most 30 days ago.
             */
            since?: string | null;
            /** @description The trigger's name in the service's plugin. */
            trigger: string;
            /** @description With whose permissions and connection the tool is called; the key's own user if absent. */
            user_id?: string | null;
        };
        /** @description A new webhook. */
        CreateWebhookBody: {
            description?: string;
            /** @description Event types, groups (`tool.*`) or `*`. */
            events: string[];
            filters?: components["schemas"]["WebhookFilters"];
            /**
             * @description A public https address, or one for which the operator allows an upstream.
             * @example https://app.example.com/toolgate
             */
            url: string;
        };
        /**
         * @description What made a decision.
         * @enum {string}
         */
        DecidedBy: "tool_rule" | "service_rule" | "workspace_default" | "effect_default";
        /** @description The decision. */
        DecisionBody: {
            decision: components["schemas"]["ApprovalDecision"];
        };
        /** @description `GET` and `PATCH /v1/permissions/default`. */
        DefaultPermissionBody: {
            approvers?: components["schemas"]["Approvers"] | null;
            default: components["schemas"]["DefaultRule"];
        };
        /**
         * @description What holds without a rule.
         * @enum {string}
         */
        DefaultRule: "allow" | "by_effect";
        /** @description What a deletion did. */
        DeletedConnection: {
            connection_id: string;
            /** @description Always `true`. */
            deleted: boolean;
            /** @description Whether the provider was told to revoke the credential and agreed. */
            revoked_at_provider: boolean;
        };
        DeletedDocument: {
            /**
             * @description Always `true`.
             * @example true
             */
            deleted: boolean;
            document_id: string;
        };
        DeletedFile: {
            /**
             * @description Always `true`.
             * @example true
             */
            deleted: boolean;
            file_id: string;
        };
        DeletedHook: {
            connection_id: string;
            /**
             * @description Always `true`.
             * @example true
             */
            deleted: boolean;
        };
        DeletedSession: {
            /**
             * @description Always `true`.
             * @example true
             */
            deleted: boolean;
            session_id: string;
        };
        DeletedSkill: {
            /**
             * @description Always `true`.
             * @example true
             */
            deleted: boolean;
            /** Format: uuid */
            skill_id: string;
        };
        DeletedToolset: {
            /**
             * @description Always `true`.
             * @example true
             */
            deleted: boolean;
            name: string;
        };
        DeletedTrigger: {
            /**
             * @description Always `true`.
             * @example true
             */
            deleted: boolean;
            trigger_id: string;
        };
        DeletedWebhook: {
            /**
             * @description Always `true`.
             * @example true
             */
            deleted: boolean;
            webhook_id: string;
        };
        /**
         * @description The status of a delivery.
         * @enum {string}
         */
        DeliveryStatus: "pending" | "delivered" | "failed";
        /** @description What a step is beside its text. */
        Details: {
            /**
             * @description Of a reply that left calls open: whether one of them was begun since. What of it may have
             *     run is not made again.
             */
            call_begun?: boolean | null;
            /** @description The receipt, where a tool was executed. */
            execution_id?: string | null;
            matches?: components["schemas"]["Matches"] | null;
            /** @description Whether a model wrote the assistant's message. */
            model_configured?: boolean | null;
            operation?: string | null;
            pending?: components["schemas"]["Pending"] | null;
            reason?: components["schemas"]["TurnReason"] | null;
            status?: components["schemas"]["TurnStatus"] | null;
            /**
             * Format: int64
             * @description What the turn has cost so far, as the model's server counts or else as estimated.
             */
            tokens?: number | null;
            /** @description Which of them a `tool` message answers. */
            tool_call_id?: string | null;
            /** @description Operations that the assistant asked for in this step. */
            tool_calls?: components["schemas"]["OperationCall"][];
        };
        /** @description A document with its text. */
        Document: components["schemas"]["ListedDocument"] & {
            /** @description Its text as it was read; positions of passages count its characters. */
            content: string;
        };
        DocumentPage: {
            documents: components["schemas"]["ListedDocument"][];
            /** @description `null` on the last page. */
            next_cursor?: string | null;
        };
        /** @description What went wrong, for a program (`code`), a person (`message`) and an agent (`hint`). */
        Error: {
            /**
             * @description Stable; one of the codes listed with each status.
             * @example invalid_request
             */
            code: string;
            /** @description What the code leaves open, for example `violations` or `field`. */
            details?: Record<string, unknown> | null;
            /** @description The next step, where there is one. */
            hint?: string | null;
            message: string;
        };
        /** @description `GET /v1/events`, oldest first. */
        EventPage: {
            /** @description Where to go on, also when there was no event. */
            cursor: string;
            events: components["schemas"]["EventRecord"][];
            /** @description Whether more is there already. */
            has_more: boolean;
            /** @description Whether events between the cursor that was sent and the first of these are no longer kept. */
            truncated: boolean;
        };
        /** @description One event. */
        EventRecord: {
            /** @description Where to go on after this event. */
            cursor: string;
            data: Record<string, unknown>;
            /**
             * @description The same as in the header `webhook-id` of its deliveries.
             * @example evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            event_id: string;
            /** Format: date-time */
            timestamp: string;
            /** @example tool.executed */
            type: string;
        };
        /** @description The body of an execute request. */
        ExecuteBody: {
            /** @description The tool's arguments; none if absent. */
            arguments?: Record<string, unknown> | string;
            /** @description Which of the user's connections to use; the newest active one if absent. */
            connection_id?: string | null;
            /** @description Runs the plugin for real but sends nothing, and answers the requests it would have sent. */
            dry_run?: boolean;
            /** @description JSON Pointers of the parts of the result to answer, as an object by pointer; all if absent. */
            fields?: string[];
            /**
             * @description A larger result is kept for an hour; the answer then holds its first bytes as text and
             *     `truncated` says how to read on.
             */
            max_result_bytes?: number | null;
            /** @description The same in characters; the smaller bound counts where both are given. */
            max_result_chars?: number | null;
            /**
             * @description With an `Idempotency-Key`: runs the tool again although the outcome of the first request is
             *     unknown.
             */
            retry_unknown?: boolean;
            /**
             * @description Continues an earlier execution's session; a new one is made if absent. A session is one
             *     user's: for another one it is `session_not_found`.
             * @example tool_9f86d081884c7d659a2feaa0c55ad015
             */
            session_id?: string | null;
            /**
             * @description The user to run for; the key's default user if absent.
             * @example ada@example.com
             */
            user_id?: string | null;
        };
        /** @description The outcome of one execute request. Every variant carries its receipt's id. */
        Execution: components["schemas"]["Outcome"] & {
            /**
             * @description JSON Pointers of texts in the arguments that were taken as the number, boolean, list or object that the
             *     tool asks for; at most 100. Left out when there are none.
             * @example [
             *       "/limit"
             *     ]
             */
            coerced?: string[];
            /** Format: int64 */
            duration_ms: number;
            execution_id: string;
            service: string;
            session_id: string;
            tool_name: string;
        };
        ExecutionPage: {
            executions: components["schemas"]["ExecutionReceipt"][];
            /** @description `null` on the last page. A filtered page may be short, or empty, before the last. */
            next_cursor?: string | null;
        };
        /** @description The body of one request, before a credential was added, or of one answer, as the plugin got it. */
        ExecutionPayload: {
            /** @description Size of the whole body. */
            bytes_total: number;
            content: string;
            encoding: components["schemas"]["PayloadEncoding"];
            /** @example application/json */
            media_type?: string | null;
            method: string;
            /**
             * Format: int32
             * @description Of the request within the call; an answer has the number of its request.
             */
            number: number;
            /** @example https://api.github.com */
            origin: string;
            path: string;
            side: components["schemas"]["PayloadSide"];
            /** @description Whether `content` is its beginning only: 64 KiB of a body are kept, 512 KiB of a call. */
            truncated: boolean;
        };
        /** @description `GET /v1/executions/{execution_id}/payloads`. */
        ExecutionPayloads: {
            /** @example exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD */
            execution_id: string;
            /**
             * @description In the order in which the requests left, each request before its answer. Empty where the
             *     workspace kept none at the time of the call.
             */
            payloads: components["schemas"]["ExecutionPayload"][];
        };
        /** @description `GET /v1/executions/{id}`: one execution as it is kept. */
        ExecutionReceipt: {
            /** @description The connection it ran with. */
            connection_id?: string | null;
            /** Format: int64 */
            duration_ms: number;
            /**
             * @description `exe_<ULID>`.
             * @example exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            execution_id: string;
            failure?: components["schemas"]["ReceiptFailure"] | null;
            /** @description The API key that asked. */
            key: components["schemas"]["ReceiptKey"];
            kind?: components["schemas"]["ReceiptKind"];
            /**
             * @description The run of a script whose call this was.
             * @example exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBC
             */
            parent_execution_id?: string | null;
            plugin: components["schemas"]["PluginVersion"];
            reason?: components["schemas"]["FailureReason"] | null;
            /** @description What left the process, in order. */
            requests: components["schemas"]["RequestRecord"][];
            /**
             * Format: date-time
             * @description Milliseconds since the Unix epoch; RFC 3339 in public answers.
             */
            started_at: string;
            status: components["schemas"]["ExecutionStatus"];
            /**
             * @description For a receipt of a connection what was done, such as `host:token_refresh`.
             * @example github_create_issue
             */
            tool_name: string;
            /** @example ada@example.com */
            user_id: string;
        };
        /**
         * @description The outcome of an execution: the `status` that its answer carried.
         * @enum {string}
         */
        ExecutionStatus: "success" | "error" | "auth_required" | "auth_expired" | "dry_run" | "approval_required" | "running" | "interrupted";
        /** @description The answer to a request that was refused or failed. */
        Failure: {
            error: components["schemas"]["Error"];
            meta: components["schemas"]["Meta"];
            /**
             * @description Always `false`.
             * @example false
             */
            success: boolean;
        };
        /**
         * @description Why a tool that ran has no result.
         * @enum {string}
         */
        FailureReason: "provider_error" | "provider_rate_limited" | "provider_refused" | "not_configured" | "timeout" | "limit_exceeded" | "plugin_crashed" | "cancelled";
        FilePage: {
            /** @description Newest first. */
            files: components["schemas"]["StoredFile"][];
            /** @description `null` on the last page. */
            next_cursor?: string | null;
        };
        /** @description A piece of the text of a file. */
        FileText: {
            /** @description Of the whole text. */
            bytes_total: number;
            file: components["schemas"]["StoredFile"];
            /** @description Where the next piece begins; `null` after the last one. */
            next_offset?: number | null;
            /** @description Where the piece begins in the whole text, in bytes. */
            offset: number;
            /** @description `null`: the file has no text that can be read here. */
            text?: string | null;
        };
        FoundPassage: {
            /** @example doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD */
            document_id: string;
            position: components["schemas"]["Position"];
            /**
             * Format: float
             * @description Larger is better; comparable within one answer only (BM25).
             */
            score: number;
            text: string;
            /** @description The document's. */
            title: string;
        };
        FoundPassages: {
            /** @description Best first. */
            passages: components["schemas"]["FoundPassage"][];
            query: string;
        };
        FoundTool: components["schemas"]["SchemaOrRef"] & {
            /** @description Other services, not among these tools, whose tool of the same name fits as well; at most 20. */
            also_in?: string[];
            annotations: components["schemas"]["Annotations"];
            /** @description Whether this tool fits the query. */
            confidence: components["schemas"]["Confidence"];
            connection: components["schemas"]["ConnectionState"];
            description: string;
            match_reasons: string[];
            name: string;
            /** Format: float */
            score: number;
            service: string;
            /**
             * @description The step of the query that the tool serves, as it was written; left out where the query is one
             *     wish.
             */
            step?: string | null;
            version: string;
        };
        FoundTools: {
            /** @description Whether the tools fit the query. */
            confidence: components["schemas"]["Confidence"];
            lexical_reason?: components["schemas"]["LexicalReason"] | null;
            /**
             * @description Plugins that are still being loaded, whose tools are not among these; left out when there
             *     are none.
             */
            plugins_loading?: number;
            query: string;
            ranking: components["schemas"]["Ranking"];
            /** @description The service that was named; null if none was. */
            service: string | null;
            /** @description The nearest services, when no tool shares anything with the query. */
            suggestions?: string[];
            /** @description Best first. Where the query has several steps, their tools take turns. */
            tools: components["schemas"]["FoundTool"][];
            /** @description Tools found, also beyond `limit`: those that match well, and the nearest up to ten. */
            total: number;
        };
        /** @description `GET /v1/health`, `svc_health_check`. */
        Health: {
            /** @description `sqlite` or `postgres`. */
            database: string;
            plugins: components["schemas"]["PluginCounts"];
            /** @description How instances get their memory: `pooling` or `on_demand`. */
            runtime: string;
            /** @description How search ranks: `hybrid` once the sentence model is `ready`, else `lexical`. */
            search: components["schemas"]["Ranking"];
            /** @description What the model for searching by meaning is doing. */
            search_model: components["schemas"]["ModelState"];
            status: components["schemas"]["HealthStatus"];
            /** @description Tools in the serving catalog. */
            tools: number;
            version: string;
        };
        /**
         * @description A connection's health.
         * @enum {string}
         */
        HealthState: "active" | "refreshing" | "cooling_down" | "reauth_needed" | "revoked";
        /** @enum {string} */
        HealthStatus: "ok" | "degraded";
        /** @description The hook of a connection. `GET /v1/connections/{connection_id}/hook`. */
        Hook: {
            /**
             * Format: int64
             * @description Deliveries that were taken.
             */
            accepted: number;
            connection_id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            last_accepted_at?: string | null;
            /** @description Why the last one was refused. */
            last_refusal?: string | null;
            /** Format: date-time */
            last_refused_at?: string | null;
            /**
             * Format: int64
             * @description Deliveries that were forged, too old or could not be read.
             */
            refused: number;
            service: string;
            /**
             * @description The address to register at the provider.
             * @example https://toolgate.example.com/hooks/con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            url: string;
        };
        /** @description The secret that signs. */
        HookBody: {
            /**
             * @description The provider's signing secret (Slack, Stripe); absent where the provider takes one of ours
             *     (GitHub): then the answer holds a fresh one.
             */
            secret?: string | null;
        };
        /** @description A hook, with its secret where the gateway has just made it. */
        HookWithSecret: components["schemas"]["Hook"] & {
            /** @description To be entered at the provider. Shown this once. */
            secret?: string | null;
        };
        KeyStatus: {
            name: string;
            prefix: string;
            scopes: string[];
            /** @description The user that tools run for when a request names none. */
            user_id: string;
        };
        /**
         * @description Why a search was answered by words alone.
         * @enum {string}
         */
        LexicalReason: "model_off" | "model_not_installed" | "model_not_ready" | "model_failed" | "overloaded";
        /** @description A rule that ends at a time or after a number of calls. */
        LimitedRule: {
            /** Format: date-time */
            expires_at?: string | null;
            /** Format: int64 */
            max_calls?: number | null;
            permission: components["schemas"]["Permission"];
            /** @description Name of the service, for a service's rule. */
            service?: string | null;
            /** @description Name of the tool, for a tool's rule. */
            tool_name?: string | null;
            /**
             * Format: int64
             * @description How many of `max_calls` are used.
             */
            used?: number | null;
        };
        /** @description Bounds that a caller can meet. */
        Limits: {
            /** Format: int64 */
            execution_timeout_ms: number;
            /**
             * Format: int64
             * @description Requests a day with this key; `null`: no limit of its own.
             */
            key_requests_per_day?: number | null;
            /**
             * Format: int64
             * @description Requests a minute with this key; `null`: no limit of its own.
             */
            key_requests_per_minute?: number | null;
            request_bytes_max: number;
            result_bytes_max: number;
            /**
             * Format: int64
             * @description Requests a minute with all keys of the workspace; `null`: no limit.
             */
            workspace_requests_per_minute?: number | null;
        };
        /** @description The body of a link request. */
        LinkBody: {
            /**
             * @description An https page of the application, where the browser ends with `connect_code` in the query;
             *     the connection is there once the application has confirmed the code.
             */
            confirm_url?: string | null;
            /** @description Renews this connection, which keeps its id. */
            connection_id?: string | null;
            /**
             * @description The origin of the page that opens the link in a popup. The popup sends it `{"type": "toolgate.connect",
             *     "status", "connection_id", "service"}` with `postMessage` and closes itself.
             * @example https://app.example.com
             */
            popup_origin?: string | null;
            /**
             * @description HTTPS page of the application that the browser opens when the connect link is completed or
             *     cancelled, with `connect_status` (`connected`, `cancelled`, `failed`) and `connection_id` in the query.
             *     With `confirm_url` a browser that has connected goes there instead.
             */
            return_url?: string | null;
            /** @description Asked for beside those that the service's tools need anyway. */
            scopes?: string[];
            /** @example github */
            service: string;
            /** @description Which of the service's credential slots; the first that can be connected if absent. */
            slot?: string | null;
            /**
             * @description The user who connects; the key's default user if absent.
             * @example ada@example.com
             */
            user_id?: string | null;
        };
        /** @description A document as lists show it. */
        ListedDocument: {
            /**
             * Format: int64
             * @description Size of the file as it came.
             */
            bytes: number;
            /**
             * Format: int64
             * @description Length of its text in characters.
             */
            chars: number;
            /** Format: date-time */
            created_at: string;
            /**
             * @description `doc_<ULID>`.
             * @example doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            document_id: string;
            /** @example application/pdf */
            media_type: string;
            /**
             * Format: int64
             * @description Absent where the kind of document has no pages.
             */
            pages?: number | null;
            /** @description Of the file as it came, hexadecimal. */
            sha256: string;
            title: string;
        };
        /** @description A Skill as lists show it. */
        ListedSkill: {
            /** Format: date-time */
            created_at: string;
            name: string;
            /** Format: uuid */
            skill_id: string;
            summary: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: int64 */
            version: number;
        };
        ListedTool: {
            annotations: components["schemas"]["Annotations"];
            description: string;
            name: string;
            service: string;
            version: string;
        };
        /** @description Skills, passages and tools that match a message, best first. */
        Matches: {
            /** @description What the key has no scope to look into. */
            not_searched?: string[];
            passages: components["schemas"]["FoundPassage"][];
            skills: components["schemas"]["ListedSkill"][];
            /** @description With their input schemas, as search answers them. */
            tools: components["schemas"]["FoundTool"][];
        };
        /**
         * @description What a document is.
         * @enum {string}
         */
        MediaType: "text/plain" | "text/markdown" | "text/html" | "application/pdf";
        /** @description One step of a session. */
        Message: components["schemas"]["Details"] & {
            content: string;
            /** Format: date-time */
            created_at: string;
            /**
             * @description `msg_<ULID>`.
             * @example msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            message_id: string;
            role: components["schemas"]["MessageRole"];
        };
        MessagePage: {
            messages: components["schemas"]["Message"][];
            /** @description `null` on the last page. */
            next_cursor?: string | null;
        };
        /**
         * @description Whose step of a session it is. A step of `tool` is what an operation answered to the assistant.
         * @enum {string}
         */
        MessageRole: "user" | "assistant" | "tool";
        /** @description What every answer carries beside its result. */
        Meta: {
            /** @description The same value as the header `X-Request-Id`. */
            request_id: string;
        };
        /**
         * @description What the sentence model is doing.
         * @enum {string}
         */
        ModelState: "off" | "not_installed" | "loading" | "preparing" | "ready" | "failed";
        /** @description An operation that the assistant asked for. */
        OperationCall: {
            /** @description JSON text as the model wrote it. */
            arguments: string;
            /**
             * @description `search_tools`, `describe_tool`, `execute_tool`, `list_skills`, `read_skill` or
             *     `search_knowledge`.
             * @example execute_tool
             */
            operation: string;
            tool_call_id: string;
        };
        Outcome: {
            /** @description Files that the tool returned beside its result. */
            files?: components["schemas"]["ResultFile"][];
            next_cursor?: string | null;
            result: unknown;
            /** @enum {string} */
            status: "success";
            summary?: string | null;
            truncated?: components["schemas"]["Truncated"] | null;
        } | {
            error: components["schemas"]["ToolError"];
            reason: components["schemas"]["FailureReason"];
            /** @enum {string} */
            status: "error";
        } | (components["schemas"]["Connect"] & {
            /** @enum {string} */
            status: "auth_required";
        }) | (components["schemas"]["Connect"] & {
            /** @enum {string} */
            status: "auth_expired";
        }) | {
            requests: components["schemas"]["PlannedRequest"][];
            /** @enum {string} */
            status: "dry_run";
        } | (components["schemas"]["ApprovalNeeded"] & {
            /** @enum {string} */
            status: "approval_required";
        });
        /** @enum {string} */
        PauseReason: "connection" | "approval";
        /**
         * @description How `content` encodes bytes.
         * @enum {string}
         */
        PayloadEncoding: "text" | "base64";
        /**
         * @description Which half of an exchange a body is.
         * @enum {string}
         */
        PayloadSide: "request" | "answer";
        /** @description What a paused turn waits for. */
        Pending: {
            approval_id?: string | null;
            /** @description Where a member approves or denies the call. */
            approval_url?: string | null;
            /** @description For the user to open; in the reply alone, never kept: resume makes a fresh one. */
            connect_url?: string | null;
            message: string;
            service: string;
            tool_call_id: string;
            tool_name: string;
        };
        /**
         * @description What holds for one user and one tool.
         * @enum {string}
         */
        Permission: "allow" | "deny" | "ask";
        /** @description Numbers of tools. */
        PermissionCounts: {
            allow: number;
            ask: number;
            deny: number;
        };
        /** @description `GET /v1/permissions/users/{user_id}/explain`. */
        PermissionExplanation: {
            approvers?: components["schemas"]["Approvers"] | null;
            decided_by: components["schemas"]["DecidedBy"];
            /** @description What the tool does: `read`, `write` or `destructive`. */
            effect: string;
            permission: components["schemas"]["Permission"];
            rule?: components["schemas"]["LimitedRule"] | null;
            service: string;
            tool_name: string;
            user_id: string;
        };
        PermissionService: {
            /** @description `oauth2`, `api_key`, ... or `none`. */
            auth_type: string;
            /** @example GitHub */
            display_name: string;
            /** @example github */
            service: string;
            /** @description How many tools it has. */
            tools: number;
        };
        /** @description `GET /v1/permissions/services`. */
        PermissionServices: {
            services: components["schemas"]["PermissionService"][];
        };
        /** @description `GET /v1/permissions/users/{user_id}/summary`: tools by what holds for them. */
        PermissionSummary: {
            services: {
                [key: string]: components["schemas"]["PermissionCounts"];
            };
            total: components["schemas"]["PermissionCounts"];
            user_id: string;
        };
        /** @description One request that a dry run would have sent; a credential shows as `[slot NAME]`. */
        PlannedRequest: {
            /** @description UTF-8 text, or `[N bytes]` for binary data and for text over 256 KiB. */
            body: string;
            /** @description A body that is not text; absent of a longer one than 256 KiB. */
            body_base64?: string | null;
            headers: [
                string,
                string
            ][];
            method: string;
            url: string;
        };
        /** @description A call that a dry run held back. */
        PlannedScriptCall: {
            arguments: Record<string, unknown>;
            /** Format: int32 */
            line?: number | null;
            /** Format: int32 */
            step: number;
            tool: string;
        };
        PluginCounts: {
            active: number;
            /** @description Files of the folder that are still being compiled and looked at; their tools follow. */
            loading: number;
            pending_approval: number;
            quarantined: number;
            /** @description Remote MCP servers that gave no usable list when they were last asked. Their plugins keep their tools. */
            servers_failing?: number;
        };
        /** @description The exact plugin file that ran. */
        PluginVersion: {
            /** @example github */
            service: string;
            /** @description SHA-256 of the component file, hexadecimal. */
            sha256: string;
            /** @example 1.4.0 */
            version: string;
        };
        /** @description Where a passage stands in its document's text. */
        Position: {
            /** @description Behind its last character. */
            ends_at: number;
            /** @description From 1; absent where the kind of document has no pages. */
            page?: number | null;
            /** @description In characters (Unicode scalar values), from 0. */
            starts_at: number;
        };
        Probe: {
            /**
             * @description Always `ok`.
             * @example ok
             */
            status: string;
        };
        /**
         * @description How a search was ranked.
         * @enum {string}
         */
        Ranking: "lexical" | "hybrid";
        /** @description What a failed call was answered. */
        ReceiptFailure: {
            /** @example validation_failed */
            code: string;
            /**
             * @description In the words of the provider or the plugin, without credentials; at most 2,000 characters.
             * @example Validation Failed: title is missing
             */
            message: string;
            /**
             * Format: int32
             * @description HTTP status of the provider's answer.
             */
            provider_status?: number | null;
            suggested_fix?: string | null;
        };
        /** @description How a person recognises the key of a receipt. */
        ReceiptKey: {
            name: string;
            /** @description First eight characters of the key's random part. */
            prefix: string;
        };
        /**
         * @description Whose requests a receipt is about.
         * @enum {string}
         */
        ReceiptKind: "tool" | "connection" | "script";
        /** @description A whole toolset. What is absent is empty. */
        ReplaceToolsetBody: {
            description?: string;
            generic_tools?: boolean;
            services?: string[];
            /** @description Versions of Skills that were read, by id: a Skill at another one is a `conflict`, and nothing is changed. */
            skill_versions?: {
                [key: string]: number;
            };
            skills?: string[];
            /** @description Empty: the name. */
            title?: string;
            tools?: string[];
        };
        /**
         * @description One request that left the process, as the receipt keeps it: as the plugin made it, before a
         *     credential was written into it, and without any credential that the gateway knows.
         */
        RequestRecord: {
            /** @description SHA-256 of the body, hexadecimal; absent without a body. */
            body_sha256?: string | null;
            /** Format: int64 */
            bytes_in: number;
            /** Format: int64 */
            bytes_out: number;
            credential_slot?: string | null;
            /** Format: int64 */
            duration_ms: number;
            host: string;
            method: string;
            /**
             * @description Scheme, host and port.
             * @example https://api.github.com
             */
            origin?: string;
            /**
             * @description What may be a credential is `[redacted]`: segments that the manifest does not declare and that are neither short
             *     nor words, numbers or UUIDs, and users in front of an `@`.
             */
            path: string;
            /**
             * @description The query; values that look like credentials, and addresses with a user, are `[redacted]`.
             * @example page=2&access_token=[redacted]
             */
            query?: string | null;
            /**
             * Format: int64
             * @description When it began, after the start of the call.
             */
            started_ms?: number | null;
            /**
             * Format: int32
             * @description HTTP status; absent when no answer came.
             */
            status?: number | null;
        };
        /** @description One file of a result: kept for a day under its handle, and, where it fits, whole in the answer. */
        ResultFile: {
            /** @description Base64 (RFC 4648, section 4). Absent where the contents of all files are larger than the answer may be. */
            content?: string | null;
            /**
             * Format: date-time
             * @description How long it is kept.
             */
            expires_at?: string | null;
            /**
             * @description Of `GET /v1/files/{file_id}`, and for the argument of a tool that takes a file. Absent where the workspace had
             *     no room to keep it.
             * @example file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            file_id?: string | null;
            media_type: string;
            name?: string | null;
            /** @description Of the content, hexadecimal. */
            sha256?: string | null;
            /** Format: int64 */
            size_bytes: number;
        };
        /** @description One piece of a kept result. `GET /v1/results/{result_id}`. */
        ResultPiece: {
            bytes_total: number;
            /** @description A piece of the result's JSON text. */
            content: string;
            execution_id: string;
            /** Format: date-time */
            expires_at: string;
            /** @description Where the next piece begins; `null` after the last one. */
            next_offset?: number | null;
            offset: number;
            result_id: string;
        };
        /** @description Nothing has to be said to go on. */
        ResumeBody: Record<string, unknown>;
        /** @description How to rotate. */
        RotateBody: {
            /**
             * Format: int32
             * @description How long the secret before signs too, in hours; 24 if absent, 0 ends it at once.
             */
            overlap_hours?: number | null;
        };
        /** @description Approvers by the name of a service or tool. */
        RuleApprovers: {
            services?: {
                [key: string]: components["schemas"]["Approvers"];
            };
            tools?: {
                [key: string]: components["schemas"]["Approvers"];
            };
        };
        /** @description One rule. */
        RuleBody: {
            approvers?: components["schemas"]["Approvers"] | null;
            /**
             * @description The rule counts until this time, in UTC; afterwards it is as if it were not there.
             * @example 2027-01-01T00:00:00Z
             */
            expires_at?: string | null;
            /**
             * Format: int64
             * @description The rule counts for this many calls; afterwards it is as if it were not there.
             */
            max_calls?: number | null;
            permission: components["schemas"]["Setting"];
        };
        /** @description A script and what it runs with. */
        RunScriptBody: {
            /** @description What the script finds in `args`; an empty object if absent. */
            arguments?: unknown;
            /** @description Calls that read are made, calls that write are planned: the answer lists them in `plan`. */
            dry_run?: boolean;
            /**
             * @description One module in JavaScript or TypeScript, at most 256 KiB. Its result is its default export, or what that function
             *     returns.
             * @example const issues = await github.listIssues({ owner: args.owner, repo: args.repo });
             *     export default issues.length;
             */
            script: string;
            /** @description The session of all calls; each call has its own if absent. */
            session_id?: string | null;
            /**
             * @description The user to run for; the key's default user if absent.
             * @example ada@example.com
             */
            user_id?: string | null;
        };
        /** @description Either the schema itself or where to read it. */
        SchemaOrRef: {
            inputSchema: Record<string, unknown>;
        } | {
            /** @description Path of the schema endpoint. */
            schemaRef: string;
        };
        /** @description One step of a run. */
        ScriptCall: {
            /**
             * Format: int64
             * @description Absent where it has not ended.
             */
            duration_ms?: number | null;
            /** @description Of its receipt. */
            execution_id?: string | null;
            /** Format: int32 */
            line?: number | null;
            /**
             * Format: date-time
             * @description Milliseconds since the Unix epoch, RFC 3339 in public answers; absent where it has not begun.
             */
            started_at?: string | null;
            status: components["schemas"]["ScriptCallStatus"];
            /**
             * Format: int32
             * @description From 0, in the order in which the script asked.
             */
            step: number;
            /** @description The tool's name, or `search`, `describe`, `skill`, `sleep`. */
            tool: string;
        };
        /** @enum {string} */
        ScriptCallStatus: "ok" | "error" | "open" | "not_begun";
        /** @description Why a run failed. */
        ScriptError: {
            /** @description Of a call that failed and of a limit, such as `not_found` or `timeout`. */
            code?: string | null;
            /** Format: int32 */
            column?: number | null;
            /**
             * Format: int32
             * @description In the script as it was sent, from 1.
             */
            line?: number | null;
            message: string;
            /**
             * @description Of the error in JavaScript, such as `TypeError`; `RunError` where the gateway ended the run.
             * @example TypeError
             */
            name: string;
            /**
             * Format: int32
             * @description The step whose failure the script did not catch.
             */
            step?: number | null;
        };
        /** @description One line that a script logged. */
        ScriptLog: {
            /** @description `info`, `warn` or `error`. */
            level: string;
            text: string;
        };
        /** @description What a paused run waits for. */
        ScriptPause: {
            approval_id?: string | null;
            /** @description Where a member approves or denies the call. */
            approval_url?: string | null;
            /**
             * @description For the user to open: one use, 15 minutes. It is in the answer to the run that paused and nowhere else; resuming
             *     answers a new one.
             */
            connect_url?: string | null;
            /** Format: int32 */
            line?: number | null;
            message: string;
            reason: components["schemas"]["PauseReason"];
            /**
             * Format: int32
             * @description The call that waits.
             */
            step: number;
            /** @example github_create_issue */
            tool: string;
        };
        /** @description One run of a script. */
        ScriptRun: {
            /** @description What the script asked for, in its order. */
            calls: components["schemas"]["ScriptCall"][];
            error?: components["schemas"]["ScriptError"] | null;
            /**
             * @description Of the receipt of the run; those of its calls name it as their parent.
             * @example exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            execution_id: string;
            /** @description What the script logged. */
            logs: components["schemas"]["ScriptLog"][];
            pause?: components["schemas"]["ScriptPause"] | null;
            /** @description Calls that a dry run held back, in the order in which the script asked for them. */
            plan: components["schemas"]["PlannedScriptCall"][];
            /** @description What the script's default export is, or answers. Absent unless the script came to its end. */
            result?: unknown;
            /** @example run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD */
            run_id: string;
            status: components["schemas"]["ScriptStatus"];
            /** @description What else the author of the script should know, such as calls that were not awaited. */
            warnings: string[];
        };
        /** @description `GET /v1/scripts/runs`, newest first. */
        ScriptRunPage: {
            items: components["schemas"]["ScriptRunSummary"][];
            /** @description `null` on the last page. */
            next_cursor: string | null;
        };
        /** @description A run in a list. */
        ScriptRunSummary: {
            /** Format: date-time */
            created_at: string;
            dry_run: boolean;
            execution_id: string;
            /**
             * Format: date-time
             * @description When the run is deleted with its journal.
             */
            expires_at: string;
            run_id: string;
            /** @description Of the script's text, hexadecimal. */
            script_sha256: string;
            session_id?: string | null;
            status: components["schemas"]["ScriptStatus"];
            /**
             * Format: int32
             * @description Steps that have begun.
             */
            steps: number;
            /** Format: date-time */
            updated_at: string;
            user_id: string;
        };
        /**
         * @description How far a run is.
         * @enum {string}
         */
        ScriptStatus: "done" | "failed" | "paused" | "planned" | "cancelled" | "running";
        /** @description A new message. */
        SendMessageBody: {
            /** @description What the user says. */
            content: string;
        };
        /** @description One session. */
        Session: {
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When it is gone unless it is used before.
             */
            expires_at: string;
            /** Format: date-time */
            last_active_at: string;
            /**
             * @description What has been said in it, oldest first, at most the last 100 messages and without what
             *     operations answered; absent in lists.
             */
            messages?: components["schemas"]["Message"][] | null;
            /** @example ses_9f86d081884c7d659a2feaa0c55ad015 */
            session_id: string;
            /** @description The beginning of what it was created with; absent for a session that executions made. */
            title?: string | null;
            user_id: string;
        };
        SessionPage: {
            /** @description `null` on the last page. */
            next_cursor?: string | null;
            sessions: components["schemas"]["Session"][];
        };
        /**
         * @description A rule as a request names it.
         * @enum {string}
         */
        Setting: "allow" | "deny" | "ask" | "inherit";
        /** @description A Skill in full. */
        Skill: {
            /**
             * @description In the answer to an update: a toolset names the Skill, so the change waits for an admin, and these are the texts
             *     that readers still get.
             */
            change_waits?: boolean;
            /** Format: date-time */
            created_at: string;
            instructions: string;
            name: string;
            /** Format: uuid */
            skill_id: string;
            /** @description What it does and when to use it. */
            summary: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * Format: int64
             * @description 1 when new, one more with each update.
             */
            version: number;
        };
        /** @description `GET /v1/skills/{skill_id}/check`. */
        SkillCheck: {
            /** @description Whether every tool exists, is allowed and is connected where it has to be. */
            ready: boolean;
            /** Format: uuid */
            skill_id: string;
            /** @description In the order in which the Skill names them. */
            tools: components["schemas"]["SkillTool"][];
            /** @description Names that look like tools of a known service, but are none. */
            unknown_tools: string[];
            user_id: string;
        };
        SkillPage: {
            limit: number;
            offset: number;
            /** @description Newest first. */
            skills: components["schemas"]["ListedSkill"][];
            /** @description Skills that the filter finds, on this page and others. */
            total: number;
        };
        SkillTool: {
            connection: components["schemas"]["ConnectionState"];
            permission: components["schemas"]["Permission"];
            service: string;
            tool_name: string;
        };
        /** @description A Skill as it was. */
        SkillVersion: {
            /**
             * Format: date-time
             * @description When this version began.
             */
            created_at: string;
            instructions: string;
            name: string;
            summary: string;
            /** Format: int64 */
            version: number;
        };
        SkillVersions: {
            /** @description `null` on the last page. */
            next_cursor?: string | null;
            /** Format: uuid */
            skill_id: string;
            /** @description Newest first; fewer than `limit` where their texts are long. */
            versions: components["schemas"]["SkillVersion"][];
        };
        /** @description `GET /v1/status`. */
        Status: {
            key: components["schemas"]["KeyStatus"];
            limits: components["schemas"]["Limits"];
            /** @description `ok`: the key is valid. */
            status: string;
            /** @description Name of the key's workspace. */
            workspace: string;
        };
        /** @description A file, without its content. */
        StoredFile: {
            /** Format: date-time */
            created_at: string;
            /** @description The call that returned it; absent for an uploaded one. */
            execution_id?: string | null;
            /** Format: date-time */
            expires_at: string;
            /**
             * @description The handle: pass it as the argument of a tool that takes a file.
             * @example file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            file_id: string;
            media_type: string;
            name?: string | null;
            /** @description Of the content, hexadecimal. */
            sha256: string;
            /** Format: int64 */
            size_bytes: number;
            /** @description Whose it is. */
            user_id: string;
        };
        /** @description One item of a test. */
        TestedItem: {
            /** @description The provider's content; `null` where it is too large. */
            event: unknown;
            /**
             * @description The id that its event would have.
             * @example evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            event_id: string;
            /** Format: date-time */
            time?: string | null;
        };
        ToolAuth: {
            scopes: string[];
            /** @description `oauth2`, `api_key`, ... or `none`. */
            type: string;
        };
        /** @description The provider's refusal in the form an agent can act on. */
        ToolError: {
            can_retry: boolean;
            code: string;
            message: string;
            provider_body?: unknown;
            /** Format: int32 */
            provider_status?: number | null;
            /** Format: int64 */
            retry_after_ms?: number | null;
            suggested_fix?: string | null;
        };
        ToolPage: {
            next_cursor?: string | null;
            tools: components["schemas"]["ListedTool"][];
        };
        /** @description `GET /v1/tools/{tool_name}/schema` and `svc_get_tool_schema`. */
        ToolSchema: {
            annotations: components["schemas"]["Annotations"];
            auth: components["schemas"]["ToolAuth"];
            description: string;
            /** @description Arguments of realistic calls, as the author of the plugin wrote them. */
            examples: Record<string, unknown>[];
            inputSchema: Record<string, unknown>;
            name: string;
            outputSchema?: Record<string, unknown> | null;
            service: string;
        };
        /** @description A toolset, and how many tools it lists now for a user who may use all of them. */
        ToolsetInfo: {
            /** Format: date-time */
            created_at: string;
            /** @description What it is for; clients show it to the model. */
            description: string;
            /** @description Whether the tools of the main address are listed too. */
            generic_tools: boolean;
            /** @description How many more there are, which are neither listed nor callable. */
            left_out: number;
            /** @description How many tools its list holds, at most 128. */
            listed: number;
            /**
             * @description The address for MCP clients.
             * @example https://tools.example.com/mcp/t/support
             */
            mcp_url: string;
            /** @description What was chosen and is not there any more, or not yet. */
            missing?: string[];
            /** @example support */
            name: string;
            /** @description Names of services: all their tools. */
            services: string[];
            /** @description Ids of Skills. */
            skills: string[];
            /** @description What clients show; the name where none is given. */
            title: string;
            /** @description Names of tools. */
            tools: string[];
            /** Format: date-time */
            updated_at: string;
        };
        ToolsetList: {
            /** @description By name. */
            toolsets: components["schemas"]["ToolsetInfo"][];
        };
        /** @description One tool of a toolset. */
        ToolsetTool: components["schemas"]["ToolSource"] & {
            annotations: components["schemas"]["Annotations"];
            description: string;
            inputSchema: Record<string, unknown>;
            name: string;
            outputSchema?: Record<string, unknown> | null;
            title: string;
        };
        /** @description `GET /v1/toolsets/{toolset_name}/tools`, and what `/mcp/t/{toolset_name}` lists. */
        ToolsetTools: {
            description: string;
            /** @description Whether an MCP client is listed the tools of the main address too, before these. */
            generic_tools: boolean;
            /** @description How many more the caller may use, which are neither listed nor callable here. */
            left_out: number;
            /** @example support */
            name: string;
            title: string;
            /** @description Skills, then tools, each by name. */
            tools: components["schemas"]["ToolsetTool"][];
        };
        /** @description What a tool of a toolset runs. */
        ToolSource: {
            /** @enum {string} */
            kind: "tool";
            service: string;
        } | {
            /** @enum {string} */
            kind: "skill";
            /** Format: uuid */
            skill_id: string;
        };
        /** @description One trigger. `GET /v1/triggers/{trigger_id}`. */
        Trigger: {
            /** @description The arguments that were chosen. Absent in lists. */
            config?: Record<string, unknown> | null;
            /** @description The connection that was chosen; absent where each poll chooses as a call does. */
            connection_id?: string | null;
            /** Format: date-time */
            created_at: string;
            /**
             * @description The type of its events.
             * @example trigger.github.new_issue
             */
            event: string;
            /**
             * Format: int64
             * @description Polls that failed since the last good one.
             */
            failures: number;
            /**
             * Format: int64
             * @description Seconds between two polls.
             */
            interval_s: number;
            /**
             * Format: int64
             * @description Items that were told of.
             */
            items_found: number;
            /** @description Why the last poll failed, or what the trigger waits for. */
            last_error?: string | null;
            /** Format: date-time */
            last_item_at?: string | null;
            /** Format: date-time */
            last_poll_at?: string | null;
            /**
             * Format: date-time
             * @description Absent while the trigger is paused.
             */
            next_poll_at?: string | null;
            service: string;
            state: components["schemas"]["TriggerState"];
            /**
             * @description The trigger's name in the service's plugin.
             * @example new_issue
             */
            trigger: string;
            /**
             * @description `trg_<ULID>`.
             * @example trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            trigger_id: string;
            /** Format: date-time */
            updated_at: string;
            /** @description With whose permissions and connection the tool is called. */
            user_id: string;
            /**
             * Format: date-time
             * @description Since when new items are told of; absent until what was there before has been read.
             */
            watching_since?: string | null;
        };
        /** @description `GET /v1/triggers`, newest first. */
        TriggerList: {
            /** @description `null` on the last page. */
            next_cursor?: string | null;
            triggers: components["schemas"]["Trigger"][];
        };
        /**
         * @description How a trigger fares.
         * @enum {string}
         */
        TriggerState: "active" | "failing" | "waiting_for_connection" | "paused";
        /** @description What polls would have found of late. `POST /v1/triggers/{trigger_id}/test`. */
        TriggerTest: {
            /** @description Whether there are no more of them: behind five pages nothing is read. */
            complete: boolean;
            connect?: components["schemas"]["Connect"] | null;
            /** @description The receipt of the call, of the last one where there were several; absent where nothing was called. */
            execution_id?: string | null;
            /** @description Of the items that were read, those from then on; absent like it. */
            found?: number | null;
            /** @description The first 20 of them, as their events would have them. */
            items: components["schemas"]["TestedItem"][];
            /** @description Items that were read. */
            listed: number;
            /** @description Why nothing was read. */
            message?: string | null;
            /**
             * Format: date-time
             * @description The time from which on items are answered: the one that was asked for, or a day ago. Absent where the service gives
             *     no times of them; then the first page is answered as it is listed now.
             */
            since?: string | null;
            /** @description `found`, or why nothing was read. */
            status: components["schemas"]["TriggerTestStatus"];
        };
        /** @enum {string} */
        TriggerTestStatus: "found" | "auth_required" | "error";
        /** @description Where the rest of a result is. */
        Truncated: {
            /** @description How many of them `result` holds, as text: read on from here. */
            bytes_shown: number;
            /** @description Size of the whole result as compact JSON. */
            bytes_total: number;
            /** Format: date-time */
            expires_at: string;
            /**
             * @description Of `GET /v1/results/{result_id}`.
             * @example res_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            result_id: string;
        };
        /** @enum {string} */
        TurnReason: "answered" | "no_model" | "auth_required" | "auth_expired" | "approval_required" | "steps_exhausted" | "tokens_exhausted" | "time_exhausted" | "rate_limited" | "model_failed" | "key_revoked" | "gateway_stopping";
        /** @enum {string} */
        TurnStatus: "completed" | "paused" | "stopped";
        /** @description What to change of a Skill. */
        UpdateSkillBody: {
            /** @description Empty or absent keeps the instructions. `body` is read as the same field. */
            instructions?: string | null;
            /** @description Empty or absent keeps the name. */
            name?: string | null;
            /** @description Empty or absent keeps the summary. `description` is read as the same field. */
            summary?: string | null;
            /**
             * Format: int64
             * @description Changes the Skill only if this is its version; the same as `If-Match`.
             */
            version?: number | null;
        };
        /** @description What to change; absent fields stay, others are replaced. */
        UpdateToolsetBody: {
            description?: string | null;
            generic_tools?: boolean | null;
            /** @description In place of all services. */
            services?: string[] | null;
            /** @description Versions of Skills that were read, by id: a Skill at another one is a `conflict`, and nothing is changed. */
            skill_versions?: {
                [key: string]: number;
            };
            /** @description In place of all Skills. */
            skills?: string[] | null;
            /** @description Empty: the name. */
            title?: string | null;
            /** @description In place of all tools. */
            tools?: string[] | null;
        };
        /** @description What to change; absent fields stay. */
        UpdateTriggerBody: {
            /** @description In place of all arguments that were chosen. What is there under them is read anew and not told of. */
            config?: Record<string, unknown> | null;
            /** Format: int64 */
            interval_s?: number | null;
            /** @description `false` also polls at once, and tells of what has come meanwhile. */
            paused?: boolean | null;
        };
        /** @description What to change; absent fields stay. */
        UpdateWebhookBody: {
            description?: string | null;
            /** @description `true` also forgets earlier failures and sends what waits. */
            enabled?: boolean | null;
            events?: string[] | null;
            filters?: components["schemas"]["WebhookFilters"] | null;
            url?: string | null;
        };
        /** @description `GET /v1/permissions/users/{user_id}`: the user's own rules that hold now. */
        UserPermissions: {
            /** @description Who decides for the rules that ask, where it is not `admins`. */
            approvers?: components["schemas"]["RuleApprovers"];
            default: components["schemas"]["DefaultRule"];
            /** @description Those of the rules that end by themselves. */
            limited?: components["schemas"]["LimitedRule"][];
            services: {
                [key: string]: components["schemas"]["Permission"];
            };
            tools: {
                [key: string]: components["schemas"]["Permission"];
            };
            user_id: string;
        };
        /** @description One webhook. `GET /v1/webhooks/{webhook_id}`. */
        Webhook: {
            /** Format: date-time */
            created_at: string;
            description: string;
            /** Format: date-time */
            disabled_at?: string | null;
            /**
             * @description Why the gateway has switched it off: `gone` after an answer 410, `failing` after five days
             *     without a good answer. Absent where a caller has.
             */
            disabled_reason?: string | null;
            enabled: boolean;
            /** @description Event types, groups (`tool.*`) or `*`. */
            events: string[];
            /**
             * Format: date-time
             * @description Since when no delivery has arrived; absent while all is well.
             */
            failing_since?: string | null;
            filters: components["schemas"]["WebhookFilters"];
            /**
             * Format: date-time
             * @description Until when nothing is sent but tests and repetitions, as deliveries failed; absent while all is well.
             */
            paused_until?: string | null;
            /**
             * Format: date-time
             * @description Until when the secret before the last rotation signs too.
             */
            previous_secret_until?: string | null;
            /** Format: date-time */
            updated_at: string;
            url: string;
            /**
             * @description `whk_<ULID>`.
             * @example whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            webhook_id: string;
        };
        /** @description One event on its way to one webhook. */
        WebhookDelivery: {
            /** Format: int64 */
            attempts: number;
            /** Format: date-time */
            created_at: string;
            /**
             * @description `dlv_<ULID>`.
             * @example dlv_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            delivery_id: string;
            /**
             * Format: int64
             * @description How long the last attempt took.
             */
            duration_ms?: number | null;
            /**
             * @description The header `webhook-id`: the same for every attempt and every webhook.
             * @example evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            event_id: string;
            /**
             * @description The execution that the event tells of, where it tells of one.
             * @example exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
             */
            execution_id?: string | null;
            /** Format: date-time */
            last_attempt_at?: string | null;
            /** @description Why the last attempt failed. */
            last_error?: string | null;
            /**
             * Format: date-time
             * @description Absent once it is settled.
             */
            next_attempt_at?: string | null;
            /**
             * Format: int64
             * @description HTTP status of the last answer.
             */
            response_status?: number | null;
            status: components["schemas"]["DeliveryStatus"];
            /** @description The event's type. */
            type: string;
        };
        WebhookDeliveryPage: {
            deliveries: components["schemas"]["WebhookDelivery"][];
            /** @description `null` on the last page. */
            next_cursor?: string | null;
        };
        /**
         * @description Which events of the wanted types pass. An absent list lets everything pass; a given one only
         *     events that carry one of its values.
         */
        WebhookFilters: {
            services?: string[] | null;
            tool_names?: string[] | null;
            user_ids?: string[] | null;
        };
        /** @description `GET /v1/webhooks`, newest first. */
        WebhookList: {
            webhooks: components["schemas"]["Webhook"][];
        };
        /** @description A webhook with its secret, which no later answer holds. */
        WebhookWithSecret: components["schemas"]["Webhook"] & {
            /** @description `whsec_` and the key in base64, as Standard Webhooks writes it. Shown this once. */
            secret: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AddDocumentBody = components['schemas']['AddDocumentBody'];
export type Annotations = components['schemas']['Annotations'];
export type Approval = components['schemas']['Approval'];
export type ApprovalDecision = components['schemas']['ApprovalDecision'];
export type ApprovalNeeded = components['schemas']['ApprovalNeeded'];
export type ApprovalPage = components['schemas']['ApprovalPage'];
export type ApprovalStatus = components['schemas']['ApprovalStatus'];
export type ApprovedPlugin = components['schemas']['ApprovedPlugin'];
export type Approvers = components['schemas']['Approvers'];
export type BatchBody = components['schemas']['BatchBody'];
export type CodeMode = components['schemas']['CodeMode'];
export type CodeModeBody = components['schemas']['CodeModeBody'];
export type Confidence = components['schemas']['Confidence'];
export type ConfirmBody = components['schemas']['ConfirmBody'];
export type Connect = components['schemas']['Connect'];
export type ConnectionInfo = components['schemas']['ConnectionInfo'];
export type ConnectionPage = components['schemas']['ConnectionPage'];
export type ConnectionState = components['schemas']['ConnectionState'];
export type ConnectLink = components['schemas']['ConnectLink'];
export type CreateSessionBody = components['schemas']['CreateSessionBody'];
export type CreateSkillBody = components['schemas']['CreateSkillBody'];
export type CreateToolsetBody = components['schemas']['CreateToolsetBody'];
export type CreateTriggerBody = components['schemas']['CreateTriggerBody'];
export type CreateWebhookBody = components['schemas']['CreateWebhookBody'];
export type DecidedBy = components['schemas']['DecidedBy'];
export type DecisionBody = components['schemas']['DecisionBody'];
export type DefaultPermissionBody = components['schemas']['DefaultPermissionBody'];
export type DefaultRule = components['schemas']['DefaultRule'];
export type DeletedConnection = components['schemas']['DeletedConnection'];
export type DeletedDocument = components['schemas']['DeletedDocument'];
export type DeletedFile = components['schemas']['DeletedFile'];
export type DeletedHook = components['schemas']['DeletedHook'];
export type DeletedSession = components['schemas']['DeletedSession'];
export type DeletedSkill = components['schemas']['DeletedSkill'];
export type DeletedToolset = components['schemas']['DeletedToolset'];
export type DeletedTrigger = components['schemas']['DeletedTrigger'];
export type DeletedWebhook = components['schemas']['DeletedWebhook'];
export type DeliveryStatus = components['schemas']['DeliveryStatus'];
export type Details = components['schemas']['Details'];
export type Document = components['schemas']['Document'];
export type DocumentPage = components['schemas']['DocumentPage'];
export type Error = components['schemas']['Error'];
export type EventPage = components['schemas']['EventPage'];
export type EventRecord = components['schemas']['EventRecord'];
export type ExecuteBody = components['schemas']['ExecuteBody'];
export type Execution = components['schemas']['Execution'];
export type ExecutionPage = components['schemas']['ExecutionPage'];
export type ExecutionPayload = components['schemas']['ExecutionPayload'];
export type ExecutionPayloads = components['schemas']['ExecutionPayloads'];
export type ExecutionReceipt = components['schemas']['ExecutionReceipt'];
export type ExecutionStatus = components['schemas']['ExecutionStatus'];
export type Failure = components['schemas']['Failure'];
export type FailureReason = components['schemas']['FailureReason'];
export type FilePage = components['schemas']['FilePage'];
export type FileText = components['schemas']['FileText'];
export type FoundPassage = components['schemas']['FoundPassage'];
export type FoundPassages = components['schemas']['FoundPassages'];
export type FoundTool = components['schemas']['FoundTool'];
export type FoundTools = components['schemas']['FoundTools'];
export type Health = components['schemas']['Health'];
export type HealthState = components['schemas']['HealthState'];
export type HealthStatus = components['schemas']['HealthStatus'];
export type Hook = components['schemas']['Hook'];
export type HookBody = components['schemas']['HookBody'];
export type HookWithSecret = components['schemas']['HookWithSecret'];
export type KeyStatus = components['schemas']['KeyStatus'];
export type LexicalReason = components['schemas']['LexicalReason'];
export type LimitedRule = components['schemas']['LimitedRule'];
export type Limits = components['schemas']['Limits'];
export type LinkBody = components['schemas']['LinkBody'];
export type ListedDocument = components['schemas']['ListedDocument'];
export type ListedSkill = components['schemas']['ListedSkill'];
export type ListedTool = components['schemas']['ListedTool'];
export type Matches = components['schemas']['Matches'];
export type MediaType = components['schemas']['MediaType'];
export type Message = components['schemas']['Message'];
export type MessagePage = components['schemas']['MessagePage'];
export type MessageRole = components['schemas']['MessageRole'];
export type Meta = components['schemas']['Meta'];
export type ModelState = components['schemas']['ModelState'];
export type OperationCall = components['schemas']['OperationCall'];
export type Outcome = components['schemas']['Outcome'];
export type PauseReason = components['schemas']['PauseReason'];
export type PayloadEncoding = components['schemas']['PayloadEncoding'];
export type PayloadSide = components['schemas']['PayloadSide'];
export type Pending = components['schemas']['Pending'];
export type Permission = components['schemas']['Permission'];
export type PermissionCounts = components['schemas']['PermissionCounts'];
export type PermissionExplanation = components['schemas']['PermissionExplanation'];
export type PermissionService = components['schemas']['PermissionService'];
export type PermissionServices = components['schemas']['PermissionServices'];
export type PermissionSummary = components['schemas']['PermissionSummary'];
export type PlannedRequest = components['schemas']['PlannedRequest'];
export type PlannedScriptCall = components['schemas']['PlannedScriptCall'];
export type PluginCounts = components['schemas']['PluginCounts'];
export type PluginVersion = components['schemas']['PluginVersion'];
export type Position = components['schemas']['Position'];
export type Probe = components['schemas']['Probe'];
export type Ranking = components['schemas']['Ranking'];
export type ReceiptFailure = components['schemas']['ReceiptFailure'];
export type ReceiptKey = components['schemas']['ReceiptKey'];
export type ReceiptKind = components['schemas']['ReceiptKind'];
export type ReplaceToolsetBody = components['schemas']['ReplaceToolsetBody'];
export type RequestRecord = components['schemas']['RequestRecord'];
export type ResultFile = components['schemas']['ResultFile'];
export type ResultPiece = components['schemas']['ResultPiece'];
export type ResumeBody = components['schemas']['ResumeBody'];
export type RotateBody = components['schemas']['RotateBody'];
export type RuleApprovers = components['schemas']['RuleApprovers'];
export type RuleBody = components['schemas']['RuleBody'];
export type RunScriptBody = components['schemas']['RunScriptBody'];
export type SchemaOrRef = components['schemas']['SchemaOrRef'];
export type ScriptCall = components['schemas']['ScriptCall'];
export type ScriptCallStatus = components['schemas']['ScriptCallStatus'];
export type ScriptError = components['schemas']['ScriptError'];
export type ScriptLog = components['schemas']['ScriptLog'];
export type ScriptPause = components['schemas']['ScriptPause'];
export type ScriptRun = components['schemas']['ScriptRun'];
export type ScriptRunPage = components['schemas']['ScriptRunPage'];
export type ScriptRunSummary = components['schemas']['ScriptRunSummary'];
export type ScriptStatus = components['schemas']['ScriptStatus'];
export type SendMessageBody = components['schemas']['SendMessageBody'];
export type Session = components['schemas']['Session'];
export type SessionPage = components['schemas']['SessionPage'];
export type Setting = components['schemas']['Setting'];
export type Skill = components['schemas']['Skill'];
export type SkillCheck = components['schemas']['SkillCheck'];
export type SkillPage = components['schemas']['SkillPage'];
export type SkillTool = components['schemas']['SkillTool'];
export type SkillVersion = components['schemas']['SkillVersion'];
export type SkillVersions = components['schemas']['SkillVersions'];
export type Status = components['schemas']['Status'];
export type StoredFile = components['schemas']['StoredFile'];
export type TestedItem = components['schemas']['TestedItem'];
export type ToolAuth = components['schemas']['ToolAuth'];
export type ToolError = components['schemas']['ToolError'];
export type ToolPage = components['schemas']['ToolPage'];
export type ToolSchema = components['schemas']['ToolSchema'];
export type ToolsetInfo = components['schemas']['ToolsetInfo'];
export type ToolsetList = components['schemas']['ToolsetList'];
export type ToolsetTool = components['schemas']['ToolsetTool'];
export type ToolsetTools = components['schemas']['ToolsetTools'];
export type ToolSource = components['schemas']['ToolSource'];
export type Trigger = components['schemas']['Trigger'];
export type TriggerList = components['schemas']['TriggerList'];
export type TriggerState = components['schemas']['TriggerState'];
export type TriggerTest = components['schemas']['TriggerTest'];
export type TriggerTestStatus = components['schemas']['TriggerTestStatus'];
export type Truncated = components['schemas']['Truncated'];
export type TurnReason = components['schemas']['TurnReason'];
export type TurnStatus = components['schemas']['TurnStatus'];
export type UpdateSkillBody = components['schemas']['UpdateSkillBody'];
export type UpdateToolsetBody = components['schemas']['UpdateToolsetBody'];
export type UpdateTriggerBody = components['schemas']['UpdateTriggerBody'];
export type UpdateWebhookBody = components['schemas']['UpdateWebhookBody'];
export type UserPermissions = components['schemas']['UserPermissions'];
export type Webhook = components['schemas']['Webhook'];
export type WebhookDelivery = components['schemas']['WebhookDelivery'];
export type WebhookDeliveryPage = components['schemas']['WebhookDeliveryPage'];
export type WebhookFilters = components['schemas']['WebhookFilters'];
export type WebhookList = components['schemas']['WebhookList'];
export type WebhookWithSecret = components['schemas']['WebhookWithSecret'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;

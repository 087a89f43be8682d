/** The shapes of the API. Made by sdk/clients/generate.py; do not edit. */

export interface paths {
    "/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List approvals
         * @description Newest first, with the requests that each call would send: those of the users that the caller acts
         *     for. Follow `next_cursor` to the end.
         */
        get: operations["list_approvals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals/{approval_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an approval
         * @description Who wants to run what, and the requests that would be sent.
         *
         *     With `wait` the answer comes as soon as it is decided or expired, and at the latest after so many
         *     seconds, with what there is then.
         */
        get: operations["get_approval"];
        put?: never;
        /**
         * Decide an approval
         * @description Approves or denies a pending call, once. After `approve` the same call of the same asker, with the
         *     same connection and version of the plugin, runs one time, whatever becomes of it; after
         *     `deny` it is refused until the approval would have expired. Answers 409 when it is decided or
         *     expired already, and 403 for the key or member that asked for the call.
         */
        post: operations["decide_approval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/code-mode": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read whether code mode is on
         * @description While it is off no script runs and MCP clients do not see `svc_run_script`.
         */
        get: operations["get_code_mode"];
        /**
         * Switch code mode
         * @description For keys with the scope `admin`, owners and admins. Runs that are under way when it is switched off go on; those that
         *     are paused are not resumed.
         */
        put: operations["set_code_mode"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List connections
         * @description Connections of the workspace, newest first. Credentials are never part of an answer. Follow
         *     `next_cursor` to the end.
         *
         *     With `wait` the answer comes as soon as one of the page is active, and at the latest after so many
         *     seconds with what there is then: for an application that has shown a connect link.
         */
        get: operations["list_connections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/connections/{connection_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a connection
         * @description Its account, scopes and health; the credential is never part of an answer.
         *
         *     With `wait` the answer comes as soon as it is active, and at the latest after so many seconds: a
         *     connection that a link names is not there before its user has connected.
         */
        get: operations["get_connection"];
        put?: never;
        post?: never;
        /**
         * Delete a connection
         * @description Forgets the credential and has the provider revoke it where it has an endpoint for that.
         */
        delete: operations["delete_connection"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/connections/{connection_id}/hook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a connection's hook
         * @description Its address, and how many deliveries were taken and refused; the secret is never part of an answer.
         */
        get: operations["get_connection_hook"];
        /**
         * Open a connection's hook
         * @description Answers the address to register at the provider. Deliveries that its secret has not signed are
         *     refused. Sent again it replaces the secret. The key needs the scope `webhooks`.
         */
        put: operations["put_connection_hook"];
        post?: never;
        /**
         * Close a connection's hook
         * @description What the provider sends there is refused from now on.
         */
        delete: operations["delete_connection_hook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/connections/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm a connection
         * @description The application's word that the browser belongs to the link's user. Another user ends the link.
         */
        post: operations["confirm_connection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/connections/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a connect link
         * @description A link at which the user connects an account: one use, 15 minutes, bound to user and service.
         *
         *     The link is a secret, so its answer is never kept: with an `Idempotency-Key` no two of these run
         *     at the same time, and a repetition makes a link of its own. A link that nobody opens does nothing.
         */
        post: operations["link_connection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description What happened since the cursor, oldest first, as webhooks are sent it: of the types whose subject the key may read, and
         *     only of its own user where it acts for no other. Pass `cursor` of the answer to go on; with `wait` an answer without
         *     events comes only after so many seconds. `truncated` says that events before these are no longer kept: events can be
         *     read for 24 hours, and are written from the first read of a workspace on until nobody has read for a week.
         *
         *     With `Accept: text/event-stream` the answer is a stream that goes on: each `event` with the event's JSON as its data
         *     and the cursor as its id, `truncated` where events are no longer kept, and `error` before it ends. A client that comes
         *     back sends the last id in `Last-Event-ID`.
         */
        get: operations["list_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List executions
         * @description Receipts of the workspace, newest first. Follow `next_cursor` to the end: one page of a filtered list
         *     looks at 20,000 receipts at most, so it may be short, or empty, before the last.
         */
        get: operations["list_executions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{execution_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an execution
         * @description Who ran what, on which plugin file, and every request that left the gateway for it. Bodies are
         *     not part of it.
         */
        get: operations["get_execution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{execution_id}/payloads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an execution's bodies
         * @description The bodies of its requests and answers, where the workspace had the setting that keeps them: of
         *     each the first 64 KiB, 512 KiB of a call together, without any credential that the gateway adds.
         *     For keys with the scope `admin`, owners and admins; every reading is in the audit log.
         */
        get: operations["get_execution_payloads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List files
         * @description Those that have not expired, newest first, without their contents. Follow `next_cursor` to the end.
         */
        get: operations["list_files"];
        put?: never;
        /**
         * Upload a file
         * @description The body is the file itself, at most 32 MiB, with its `Content-Type`; its name is the one in
         *     `Content-Disposition`. Pass the handle that is answered as the argument of a tool that takes a file: so that no
         *     model writes the content. The content never changes. With `Repr-Digest` the file is refused if another content
         *     arrives.
         */
        post: operations["upload_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describe a file
         * @description Its name, type, size and hash.
         */
        get: operations["get_file"];
        put?: never;
        post?: never;
        /**
         * Delete a file
         * @description Before it expires by itself.
         */
        delete: operations["delete_file"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file_id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a file
         * @description The content with its media type and name. One range of bytes may be asked for (RFC 9110, section 14). A file that a
         *     tool returned is refused where its user could not run that tool now.
         */
        get: operations["download_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file_id}/text": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the text of a file
         * @description Of text, JSON, XML, HTML and PDF of up to 4 MiB, in pieces: follow `next_offset` to the end. `text` is `null` for
         *     other files. PDF and HTML are read in a sandbox.
         */
        get: operations["read_file_text"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the gateway's health
         * @description The running version, its database and how many plugins and tools serve.
         */
        get: operations["health_check"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/knowledge/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List documents
         * @description Newest first, without their text. Follow `next_cursor` to the end.
         */
        get: operations["list_documents"];
        put?: never;
        /**
         * Add a document
         * @description Reads its text and keeps that, not the file: at most 2,000,000 characters. The next search finds
         *     it. PDF and HTML are read in a sandbox; pictures of text are not recognised.
         */
        post: operations["add_document"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/knowledge/documents/{document_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a document
         * @description With its text, in whose characters positions of passages count.
         */
        get: operations["get_document"];
        put?: never;
        post?: never;
        /**
         * Delete a document
         * @description Once this is answered no search finds it any more, in no process.
         */
        delete: operations["delete_document"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/knowledge/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search the knowledge
         * @description The passages that answer the query best, each with its document and its place there.
         *     Words are compared by their English stems, without accents; none found is an empty list.
         */
        get: operations["search_knowledge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/permissions/default": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the default permission
         * @description What holds for every user of the workspace where no rule says otherwise.
         */
        get: operations["get_default_permission"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the default permission
         * @description `allow`, or `by_effect`: tools that only read are allowed, all others ask. Holds from the next
         *     request on.
         */
        patch: operations["change_default_permission"];
        trace?: never;
    };
    "/v1/permissions/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List services for permissions
         * @description The services that rules can be about, by name.
         */
        get: operations["list_permission_services"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/permissions/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a user's permissions
         * @description The user's own rules that hold now, and what holds without one.
         */
        get: operations["get_user_permissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/permissions/users/{user_id}/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change permissions in a batch
         * @description Sets up to 1,000 of the user's rules at once, all or none; `inherit` removes one. Answers the
         *     user's rules.
         */
        patch: operations["change_permissions"];
        trace?: never;
    };
    "/v1/permissions/users/{user_id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain a permission
         * @description What holds for one tool, and which rule or default made it so.
         */
        get: operations["explain_permission"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/permissions/users/{user_id}/services/{service_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a service's permission
         * @description Sets the user's rule for all tools of a service that have no rule of their own; `inherit`
         *     removes it. Answers the user's rules.
         */
        patch: operations["change_service_permission"];
        trace?: never;
    };
    "/v1/permissions/users/{user_id}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Summarise a user's permissions
         * @description For how many tools of each service the user is allowed, denied or asked.
         */
        get: operations["summarise_user_permissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/permissions/users/{user_id}/tools/{tool_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a tool's permission
         * @description Sets the user's rule for one tool; `inherit` removes it. Answers the user's rules.
         */
        patch: operations["change_tool_permission"];
        trace?: never;
    };
    "/v1/results/{result_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read on in a result
         * @description A piece of a result that execute has kept for an hour, as text. Begin at the answer's
         *     `bytes_shown` and follow `next_offset` to the end.
         */
        get: operations["get_result"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scripts/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a script
         * @description The script calls tools with the user's own permissions and connections; each call has a receipt of its own. The status
         *     is 200 and `data.status` tells the outcome: `done`, `failed` with an `error` and its line, `paused` with a link for
         *     the user to open (then resume the run: the calls that were made are not made again), `planned` after a dry run, or
         *     `cancelled`. With `Accept: text/event-stream` the script's progress is sent while it runs, and at last `reply`, which
         *     holds the same envelope, or `error`. A run goes on when its client leaves: read it later, or cancel it. Needs the
         *     scope `tools:execute`, and code mode.
         */
        post: operations["run_script"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scripts/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List runs of scripts
         * @description Newest first, without their scripts and results. Follow `next_cursor` to the end.
         */
        get: operations["list_script_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scripts/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a run of a script
         * @description Its outcome, its logs and its calls, each with the id of its receipt.
         */
        get: operations["get_script_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scripts/runs/{run_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a run of a script
         * @description No further call is made. What a call under way has sent stays sent. Answers 409 for a run that is over.
         */
        post: operations["cancel_script"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scripts/runs/{run_id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a run of a script
         * @description Goes on where a run was paused or its process stopped: the script runs anew and is given the outcomes that are stored,
         *     so that no call is made twice. Answers what run answers, also for a run that has ended; 409 while the run is under way
         *     elsewhere.
         */
        post: operations["resume_script"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Newest first, those of executions too. Follow `next_cursor` to the end.
         */
        get: operations["list_sessions"];
        put?: never;
        /**
         * Create a session
         * @description Answers it with the assistant's reply to the prompt, as sending a message does, and streams like
         *     that too, beginning with the event `session`. Its id may be sent with every execution of the
         *     task; it is gone once nobody has used it for 24 hours.
         */
        post: operations["create_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a session
         * @description Whose it is, what it began with and until when it lives.
         */
        get: operations["get_session"];
        put?: never;
        post?: never;
        /**
         * Delete a session
         * @description With everything that plugins kept in it.
         */
        delete: operations["delete_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List messages
         * @description Every step of the session, oldest first, with what operations answered to the assistant.
         */
        get: operations["list_messages"];
        put?: never;
        /**
         * Send a message
         * @description Answers the assistant's reply. With a model configured the assistant searches, describes and
         *     executes tools with this key's rights until it has an answer, a person has to do something first
         *     (`status: paused` with `pending`: show its link, then resume) or a bound is met (`status:
         *     stopped`). Without one the reply names what matches, and `model_configured` is `false`. With
         *     `Accept: text/event-stream` the steps are sent as they are taken: events `text`, `step`, and at
         *     last `reply` or `error`. The work goes on if the client leaves; the messages show it.
         */
        post: operations["send_message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a session
         * @description Goes on where the last turn had to stop: a call that waited for a connection or an approval is
         *     made again, a turn that met a bound gets a new one. A call that an earlier turn had begun and did
         *     not see to its end is not made again; the assistant learns that its outcome is unknown. Answers
         *     like sending a message; `conflict` where nothing waits or the session has no room for an answer.
         */
        post: operations["resume_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Skills
         * @description Newest first, without their instructions. `query` keeps those whose name or summary holds
         *     every one of its words, whatever their case.
         */
        get: operations["list_skills"];
        put?: never;
        /**
         * Create a Skill
         * @description Keeps it as version 1 and gives it an id.
         */
        post: operations["create_skill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{skill_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a Skill
         * @description The Skill in full. Its entity tag is its version: send it back in `If-Match` with an update.
         */
        get: operations["get_skill"];
        /**
         * Update a Skill
         * @description Changes the fields that are given and not empty, at least one, and adds one to the version.
         *     With `If-Match` or `version` it does so only over that version, and answers 409 otherwise.
         */
        put: operations["update_skill"];
        post?: never;
        /**
         * Delete a Skill
         * @description For good, with all its versions.
         */
        delete: operations["delete_skill"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{skill_id}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check a Skill
         * @description The tools that the Skill's texts name: whether they exist, what the user may use of them and
         *     whether they are connected.
         */
        get: operations["check_skill"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{skill_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a Skill's versions
         * @description In full, the current one first. The newest 200 are kept. Follow `next_cursor` to the end; a page
         *     of long texts may hold fewer than `limit`.
         */
        get: operations["list_skill_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Test the key
         * @description What the gateway knows of the key in use: its name, scopes, default user and limits.
         */
        get: operations["get_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/{tool_name}/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Execute a tool
         * @description Runs the tool with the user's own connection. Whatever the provider says, the status is 200
         *     and `data.status` tells the outcome of the call: `success`, `error` with a `reason`,
         *     `auth_required` or `auth_expired` with a link for the user to open, `approval_required` while a
         *     person has to allow the call (the same call then runs once), or `dry_run` with the
         *     requests that were held back. With `Accept: text/event-stream` progress and partial results are sent
         *     while the tool runs: events `progress` (`done`, `total` or null, `message`) and `partial`
         *     (a part of the result), and at last `reply`, which holds the same envelope, or `error`. While there
         *     is no other event, the last `progress` is sent again every ten seconds. Closing
         *     that stream cancels the call, unless the request has an `Idempotency-Key`: then the call goes on
         *     and the same request answers its outcome. Where the gateway failed in the middle of a call with that key, the
         *     same request is refused as `outcome_unknown`, unless the tool's `annotations.idempotentHint` is true: such a
         *     tool runs again, and its provider may see the call twice.
         */
        post: operations["execute_tool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/{tool_name}/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describe a tool
         * @description The tool's schemas and what it needs to be connected to. The entity tag changes with the
         *     plugin's file alone: send it back in `If-None-Match` to learn cheaply that nothing changed.
         */
        get: operations["get_tool_schema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tools
         * @description All tools that the user may use, ordered by name. Follow `next_cursor` to the end.
         */
        get: operations["list_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search tools
         * @description Finds tools by keywords or by a sentence that says what is to be done, best match first. The
         *     first `schema_limit` tools carry their input schema, as long as all of them together stay
         *     within 24,000 bytes; the others say where to read it. A search answers the nearest tools, up to ten
         *     where fewer match well; `confidence` says whether they fit. A query of several steps is answered
         *     with tools for each of them, which take turns and say in `step` which one they serve.
         */
        get: operations["search_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read tools as TypeScript
         * @description Declarations of what a script sees: a function of each tool with the types of its arguments and its result, and the
         *     script's own functions. The text compiles with `tsc --strict`.
         */
        get: operations["get_tool_types"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List toolsets
         * @description Toolsets of the workspace, by name.
         */
        get: operations["list_toolsets"];
        put?: never;
        /**
         * Create a toolset
         * @description A toolset grants nothing: each user is listed what their permissions allow. An unknown tool is
         *     refused with the nearest names. Needs the scope `admin`.
         */
        post: operations["create_toolset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolset_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a toolset
         * @description What it names, and how many tools that comes to now for a user who may use all of them.
         */
        get: operations["get_toolset"];
        /**
         * Replace a toolset
         * @description The toolset is what the body says; what is absent is empty. Connected clients are told that their list has changed.
         *     Needs the scope `admin`.
         */
        put: operations["replace_toolset"];
        post?: never;
        /**
         * Delete a toolset
         * @description Its address answers 404 from the next request on. Needs the scope `admin`.
         */
        delete: operations["delete_toolset"];
        options?: never;
        head?: never;
        /**
         * Change a toolset
         * @description Fields that are given replace the stored ones. Connected clients are told that their list has changed.
         *     Needs the scope `admin`.
         */
        patch: operations["update_toolset"];
        trace?: never;
    };
    "/v1/toolsets/{toolset_name}/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a toolset's tools
         * @description What an MCP client with this key is listed at the toolset's address: Skills, then tools, each by
         *     name, without those that the key's user may not use.
         */
        get: operations["list_toolset_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List triggers
         * @description Newest first, without the arguments that were chosen. Follow `next_cursor` to the end.
         */
        get: operations["list_triggers"];
        put?: never;
        /**
         * Create a trigger
         * @description The tool is called at once and then at each interval, with the permissions and the connection of the user. What is
         *     there at first is remembered and not told of, but for what `since` wants; each new item becomes one event
         *     `trigger.<service>.<event>` for the webhooks that want it. Needs the scopes `webhooks` and `tools:execute`.
         */
        post: operations["create_trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/triggers/{trigger_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a trigger
         * @description Its arguments, and how it fares.
         */
        get: operations["get_trigger"];
        put?: never;
        post?: never;
        /**
         * Delete a trigger
         * @description With what it remembers. A poll that is under way tells of nothing more; what was told of is still sent.
         */
        delete: operations["delete_trigger"];
        options?: never;
        head?: never;
        /**
         * Change a trigger
         * @description Absent fields stay. A poll that is under way tells of nothing more, and the next one begins at once unless the
         *     trigger is paused. Needs the scopes `webhooks` and `tools:execute`.
         */
        patch: operations["update_trigger"];
        trace?: never;
    };
    "/v1/triggers/{trigger_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a trigger
         * @description Calls the tool and answers the items of the last day, or from `since` on; at most five pages are read. Where the
         *     service gives no times of its items, the answer has no `since`, and the first page is answered as it is listed now.
         *     No event is sent, and nothing is remembered: not even with an `Idempotency-Key`, with which no two of these run at
         *     the same time. Needs the scopes `webhooks` and `tools:execute`.
         */
        post: operations["test_trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Webhooks of the workspace, newest first.
         */
        get: operations["list_webhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description Events are sent as `POST` with `{type, timestamp, data}` and the headers `webhook-id`,
         *     `webhook-timestamp` and `webhook-signature` of Standard Webhooks, at least once and in order while
         *     they are answered with a status of the 200s within 15 s. Others are tried again for three days;
         *     410 switches the webhook off, and so do five days without a good answer. The answer alone holds
         *     the secret, so it is never kept: with an `Idempotency-Key` no two of these run at the same time,
         *     and a repetition makes a webhook of its own.
         */
        post: operations["create_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a webhook
         * @description Where it sends what, and how it fares; the secret is never part of an answer.
         */
        get: operations["get_webhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description With its deliveries; what waits is not sent any more.
         */
        delete: operations["delete_webhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook
         * @description Absent fields stay. With `enabled: true` it forgets earlier failures and what waits is sent at once, also where it
         *     was on and paused.
         */
        patch: operations["update_webhook"];
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries
         * @description Newest first. Settled ones are kept for seven days. Follow `next_cursor` to the end.
         */
        get: operations["list_webhook_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery once more
         * @description The same event under the same `webhook-id`, as a delivery of its own.
         */
        post: operations["resend_webhook_delivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate a webhook's secret
         * @description Deliveries carry a signature with each secret while they overlap. The answer alone holds the new
         *     one.
         */
        post: operations["rotate_webhook_secret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a webhook
         * @description Sends it an event `webhook.test` at once, whatever events it wants, and also while it is paused. Its deliveries
         *     show its outcome.
         */
        post: operations["test_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
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
    responses: {
        /** @description `invalid_request`, `invalid_json`, `invalid_arguments` */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `conflict`, `idempotency_conflict`, `in_progress`, `outcome_unknown`, `repeated_write` */
        Conflict: {
            headers: {
                /** @description With `in_progress`: seconds after which the first request may have ended. */
                "Retry-After"?: string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `permission_denied`, `scope_denied`, `ip_not_allowed` */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `internal_error` */
        InternalServerError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `method_not_allowed` */
        MethodNotAllowed: {
            headers: {
                /** @description The methods of the route. */
                Allow?: string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `not_found`, `tool_not_found`, `tool_withdrawn`, `skill_not_found`, `session_not_found`, `user_not_found`, `service_not_found` */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `payload_too_large` */
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `overloaded` */
        ServiceUnavailable: {
            headers: {
                /** @description Seconds after which another try is worthwhile. */
                "Retry-After"?: string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `rate_limit_exceeded` */
        TooManyRequests: {
            headers: {
                /** @description What remains of it, and seconds until it opens again. */
                RateLimit?: string;
                /** @description The limit that was met: name, quota and window in seconds. */
                "RateLimit-Policy"?: string;
                /** @description Seconds until the limit opens again. */
                "Retry-After"?: string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `api_key_required`, `invalid_api_key` */
        Unauthorized: {
            headers: {
                /** @description `Bearer` */
                "WWW-Authenticate"?: string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `unsupported_media_type` */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Names the request in logs; the same as `meta.request_id`. */
        RequestId: string;
    };
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
export type ResponseBadRequest = components['responses']['BadRequest'];
export type ResponseConflict = components['responses']['Conflict'];
export type ResponseForbidden = components['responses']['Forbidden'];
export type ResponseInternalServerError = components['responses']['InternalServerError'];
export type ResponseMethodNotAllowed = components['responses']['MethodNotAllowed'];
export type ResponseNotFound = components['responses']['NotFound'];
export type ResponsePayloadTooLarge = components['responses']['PayloadTooLarge'];
export type ResponseServiceUnavailable = components['responses']['ServiceUnavailable'];
export type ResponseTooManyRequests = components['responses']['TooManyRequests'];
export type ResponseUnauthorized = components['responses']['Unauthorized'];
export type ResponseUnsupportedMediaType = components['responses']['UnsupportedMediaType'];
export type HeaderRequestId = components['headers']['RequestId'];
export type $defs = Record<string, never>;
export interface operations {
    list_approvals: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many approvals a page holds; 20 if absent. */
                limit?: number;
                /** @description Only approvals in this state. */
                status?: components["schemas"]["ApprovalStatus"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of approvals. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "approvals": [
                     *           {
                     *             "approval_id": "apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "user_id": "ada@example.com",
                     *             "tool_name": "github_create_issue",
                     *             "title": "Create an issue",
                     *             "status": "pending",
                     *             "arguments": {
                     *               "owner": "ada",
                     *               "repo": "engine",
                     *               "title": "The mill jams on card 12"
                     *             },
                     *             "arguments_text": "{\n  \"owner\": \"ada\",\n  \"repo\": \"engine\",\n  \"title\": \"The mill jams on card 12\"\n}",
                     *             "secrets_masked": false,
                     *             "requests": [
                     *               {
                     *                 "method": "POST",
                     *                 "url": "https://api.github.com/repos/ada/engine/issues",
                     *                 "headers": [
                     *                   [
                     *                     "authorization",
                     *                     "[slot user]"
                     *                   ]
                     *                 ],
                     *                 "body": "{\"title\":\"The mill jams on card 12\"}"
                     *               }
                     *             ],
                     *             "requests_complete": false,
                     *             "asked_by": "key:key_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "asked_by_name": "agent",
                     *             "approvers": "admins",
                     *             "can_decide": true,
                     *             "plugin": {
                     *               "version": "1.0.0",
                     *               "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                     *             },
                     *             "created_at": "2026-11-20T09:30:00.125Z",
                     *             "expires_at": "2026-11-21T09:30:00.125Z"
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ApprovalPage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_approval: {
        parameters: {
            query?: {
                /** @description Seconds to wait until it is decided; 0 if absent. */
                wait?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id that execute returned.
                 * @example apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                approval_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The approval. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "approval_id": "apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "user_id": "ada@example.com",
                     *         "tool_name": "github_create_issue",
                     *         "title": "Create an issue",
                     *         "status": "pending",
                     *         "arguments": {
                     *           "owner": "ada",
                     *           "repo": "engine",
                     *           "title": "The mill jams on card 12"
                     *         },
                     *         "arguments_text": "{\n  \"owner\": \"ada\",\n  \"repo\": \"engine\",\n  \"title\": \"The mill jams on card 12\"\n}",
                     *         "secrets_masked": false,
                     *         "requests": [],
                     *         "requests_complete": false,
                     *         "asked_by": "key:key_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "asked_by_name": "agent",
                     *         "approvers": "admins",
                     *         "can_decide": true,
                     *         "plugin": {
                     *           "version": "1.0.0",
                     *           "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                     *         },
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "expires_at": "2026-11-21T09:30:00.125Z",
                     *         "connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "account": "ada"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Approval"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    decide_approval: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The id that execute returned.
                 * @example apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                approval_id: string;
            };
            cookie?: never;
        };
        /** @description Approve or deny. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "decision": "approve"
                 *     }
                 */
                "application/json": components["schemas"]["DecisionBody"];
            };
        };
        responses: {
            /** @description The approval as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "approval_id": "apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "user_id": "ada@example.com",
                     *         "tool_name": "github_create_issue",
                     *         "title": "Create an issue",
                     *         "status": "approved",
                     *         "arguments": {
                     *           "owner": "ada",
                     *           "repo": "engine",
                     *           "title": "The mill jams on card 12"
                     *         },
                     *         "arguments_text": "{\n  \"owner\": \"ada\",\n  \"repo\": \"engine\",\n  \"title\": \"The mill jams on card 12\"\n}",
                     *         "secrets_masked": false,
                     *         "requests": [],
                     *         "requests_complete": false,
                     *         "asked_by": "key:key_01KAHZ6M5T9Q4C8W2N7RXJ3VBE",
                     *         "asked_by_name": "agent",
                     *         "approvers": "admins",
                     *         "can_decide": false,
                     *         "plugin": {
                     *           "version": "1.0.0",
                     *           "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                     *         },
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "expires_at": "2026-11-21T09:30:00.125Z",
                     *         "decided_by": "key:key_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "decided_at": "2026-11-20T09:31:00.000Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Approval"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_code_mode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The setting of the workspace. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "enabled": false
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["CodeMode"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    set_code_mode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description On or off. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["CodeModeBody"];
            };
        };
        responses: {
            /** @description The setting as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "enabled": true
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["CodeMode"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_connections: {
        parameters: {
            query?: {
                /**
                 * @description With `wait`: one whose `state_since` is this moment or before is known already.
                 * @example 2026-11-20T09:30:00.125Z
                 */
                active_after?: string;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many connections a page holds; 20 if absent. */
                limit?: number;
                /**
                 * @description Only connections of this service.
                 * @example github
                 */
                service?: string;
                /** @description Only connections of this user. */
                user_id?: string;
                /** @description Seconds to wait until one is active; 0 if absent. */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of connections. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "connections": [
                     *           {
                     *             "connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "user_id": "ada@example.com",
                     *             "service": "github",
                     *             "auth_type": "oauth2",
                     *             "account": "ada",
                     *             "scopes": [
                     *               "repo"
                     *             ],
                     *             "state": "active",
                     *             "state_since": "2026-11-20T09:30:00.125Z",
                     *             "created_at": "2026-11-20T09:30:00.125Z"
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ConnectionPage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_connection: {
        parameters: {
            query?: {
                /**
                 * @description With `wait`: a `state_since` at this moment or before is known already.
                 * @example 2026-11-20T09:30:00.125Z
                 */
                active_after?: string;
                /** @description Seconds to wait until it is active; 0 if absent. */
                wait?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id that link and list return.
                 * @example con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connection. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "user_id": "ada@example.com",
                     *         "service": "github",
                     *         "auth_type": "oauth2",
                     *         "account": "ada",
                     *         "scopes": [
                     *           "repo"
                     *         ],
                     *         "state": "cooling_down",
                     *         "state_since": "2026-11-20T09:30:00.125Z",
                     *         "next_retry_at": "2026-11-20T09:30:08.125Z",
                     *         "last_error": "the provider cannot answer now (HTTP status 503)",
                     *         "created_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ConnectionInfo"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    delete_connection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that link and list return.
                 * @example con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "deleted": true,
                     *         "revoked_at_provider": true
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DeletedConnection"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_connection_hook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that link and list return.
                 * @example con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The hook. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "service": "github",
                     *         "url": "https://toolgate.example.com/hooks/con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "accepted": 12,
                     *         "refused": 1,
                     *         "last_accepted_at": "2026-11-20T09:30:00.125Z",
                     *         "last_refused_at": "2026-11-20T09:29:00.125Z",
                     *         "last_refusal": "the signature does not match",
                     *         "created_at": "2026-11-20T09:00:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Hook"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    put_connection_hook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that link and list return.
                 * @example con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                connection_id: string;
            };
            cookie?: never;
        };
        /** @description The provider's secret, or nothing. */
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["HookBody"];
            };
        };
        responses: {
            /** @description The hook, and its secret if it was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "service": "github",
                     *         "url": "https://toolgate.example.com/hooks/con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "accepted": 0,
                     *         "refused": 0,
                     *         "created_at": "2026-11-20T09:00:00.125Z",
                     *         "secret": "hook_9f86d081884c7d659a2feaa0c55ad015"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["HookWithSecret"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    delete_connection_hook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that link and list return.
                 * @example con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is closed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "deleted": true
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DeletedHook"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    confirm_connection: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description Code and user. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "abc",
                 *       "user_id": "ada@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["ConfirmBody"];
            };
        };
        responses: {
            /** @description The connection. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "user_id": "ada@example.com",
                     *         "service": "github",
                     *         "auth_type": "oauth2",
                     *         "account": "ada",
                     *         "scopes": [
                     *           "repo"
                     *         ],
                     *         "state": "active",
                     *         "state_since": "2026-11-20T09:30:00.125Z",
                     *         "created_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ConnectionInfo"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    link_connection: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description What is to be connected. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "service": "github",
                 *       "user_id": "ada@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["LinkBody"];
            };
        };
        responses: {
            /** @description The link. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "connect_url": "https://gateway.example.com/connect/abc",
                     *         "expires_at": "2026-11-20T09:45:00.000Z",
                     *         "connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ConnectLink"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_events: {
        parameters: {
            query?: {
                /** @description `cursor` of an earlier answer. In its place a stream takes the header `Last-Event-ID`. */
                cursor?: string;
                /** @description How many events a page holds; 20 if absent. */
                limit?: number;
                /** @description Only events about this service. */
                service?: string;
                /** @description Where to begin without a cursor: `now` or `oldest`. */
                start?: "now" | "oldest";
                /** @description Only events about this tool. */
                tool_name?: string;
                /** @description Types, groups (`tool.*`) or `*`, separated by commas; all that the caller sees if absent. */
                types?: string;
                /** @description Only events about this user. */
                user_id?: string;
                /** @description Seconds to wait for an event where there is none; 0 if absent. */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events, and where to go on. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "events": [
                     *           {
                     *             "event_id": "evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "type": "approval.resolved",
                     *             "timestamp": "2026-11-20T09:30:00.125Z",
                     *             "data": {
                     *               "approval_id": "apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *               "user_id": "ada@example.com",
                     *               "tool_name": "github_create_issue",
                     *               "status": "approved"
                     *             },
                     *             "cursor": "1042"
                     *           }
                     *         ],
                     *         "cursor": "1042",
                     *         "has_more": false,
                     *         "truncated": false
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["EventPage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_executions: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /**
                 * @description Only executions that the key with these first characters asked for.
                 * @example a1B2c3D4
                 */
                key_prefix?: string;
                /** @description `tool`, which is the default, or `connection`: what the gateway itself sent for connections. */
                kind?: components["schemas"]["ReceiptKind"];
                /** @description How many receipts a page holds; 20 if absent. */
                limit?: number;
                /**
                 * @description Only calls of the run of a script that has this receipt.
                 * @example exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBC
                 */
                parent?: string;
                /** @description Only executions that failed for this reason. */
                reason?: components["schemas"]["FailureReason"];
                /**
                 * @description Only executions of this service's tools.
                 * @example github
                 */
                service?: string;
                /**
                 * @description Only executions that began at this moment or later.
                 * @example 2026-11-20T09:30:00.125Z
                 */
                started_after?: string;
                /**
                 * @description Only executions that began before this moment.
                 * @example 2026-11-21T09:30:00.125Z
                 */
                started_before?: string;
                /** @description Only executions that ended this way. */
                status?: components["schemas"]["ExecutionStatus"];
                /**
                 * @description Only executions of this tool.
                 * @example github_create_issue
                 */
                tool_name?: string;
                /**
                 * @description Only executions of tools with this part in their name, in any case.
                 * @example issue
                 */
                tool_name_part?: string;
                /** @description Only executions for this user. */
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of receipts. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "executions": [
                     *           {
                     *             "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "kind": "tool",
                     *             "tool_name": "github_create_issue",
                     *             "user_id": "ada@example.com",
                     *             "key": {
                     *               "name": "ci",
                     *               "prefix": "a1B2c3D4"
                     *             },
                     *             "status": "success",
                     *             "started_at": "2026-11-20T09:30:00.125Z",
                     *             "duration_ms": 212,
                     *             "plugin": {
                     *               "service": "github",
                     *               "version": "1.4.0",
                     *               "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                     *             },
                     *             "requests": [
                     *               {
                     *                 "method": "POST",
                     *                 "origin": "https://api.github.com",
                     *                 "host": "api.github.com",
                     *                 "path": "/repos/ada/engine/issues",
                     *                 "status": 201,
                     *                 "bytes_out": 44,
                     *                 "body_sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
                     *                 "bytes_in": 2310,
                     *                 "duration_ms": 198,
                     *                 "credential_slot": "user"
                     *               }
                     *             ]
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ExecutionPage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_execution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that execute returned.
                 * @example exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                execution_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receipt. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "kind": "tool",
                     *         "tool_name": "github_create_issue",
                     *         "user_id": "ada@example.com",
                     *         "key": {
                     *           "name": "ci",
                     *           "prefix": "a1B2c3D4"
                     *         },
                     *         "status": "error",
                     *         "reason": "timeout",
                     *         "started_at": "2026-11-20T09:30:00.125Z",
                     *         "duration_ms": 30000,
                     *         "plugin": {
                     *           "service": "github",
                     *           "version": "1.4.0",
                     *           "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                     *         },
                     *         "requests": [
                     *           {
                     *             "method": "POST",
                     *             "origin": "https://api.github.com",
                     *             "host": "api.github.com",
                     *             "path": "/repos/ada/engine/issues",
                     *             "bytes_out": 44,
                     *             "body_sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
                     *             "bytes_in": 0,
                     *             "duration_ms": 29990,
                     *             "credential_slot": "user"
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ExecutionReceipt"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_execution_payloads: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that execute returned.
                 * @example exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                execution_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bodies. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "payloads": [
                     *           {
                     *             "number": 1,
                     *             "side": "request",
                     *             "method": "POST",
                     *             "origin": "https://api.github.com",
                     *             "path": "/repos/ada/engine/issues",
                     *             "media_type": "application/json",
                     *             "bytes_total": 23,
                     *             "truncated": false,
                     *             "encoding": "text",
                     *             "content": "{\"title\": \"It is slow\"}"
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ExecutionPayloads"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_files: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many files a page holds; 20 if absent. */
                limit?: number;
                /** @description Only files of this user; with a key that acts for one user, that user's. */
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of files. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "files": [
                     *           {
                     *             "file_id": "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "user_id": "ada@example.com",
                     *             "name": "invoice.pdf",
                     *             "media_type": "application/pdf",
                     *             "size_bytes": 48213,
                     *             "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *             "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "created_at": "2026-11-20T09:30:00.125Z",
                     *             "expires_at": "2026-11-21T09:30:00.125Z"
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["FilePage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    upload_file: {
        parameters: {
            query?: {
                /** @description How many seconds it is kept; 86,400 if absent. */
                expires_in?: number;
                /** @description The user whose file it becomes; the key's default user if absent. */
                user_id?: string;
            };
            header?: {
                /**
                 * @description The file's name (RFC 6266).
                 * @example attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf
                 */
                "Content-Disposition"?: string | null;
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
                /**
                 * @description The SHA-256 of the content (RFC 9530).
                 * @example sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:
                 */
                "Repr-Digest"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The file. */
        requestBody: {
            content: {
                "application/octet-stream": number[];
            };
        };
        responses: {
            /** @description The file. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "file_id": "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "user_id": "ada@example.com",
                     *         "name": "résumé.pdf",
                     *         "media_type": "application/pdf",
                     *         "size_bytes": 48213,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "expires_at": "2026-11-21T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description A file, without its content. */
                        data: {
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
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The handle.
                 * @example file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, without its content. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "file_id": "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "user_id": "ada@example.com",
                     *         "name": "invoice.pdf",
                     *         "media_type": "application/pdf",
                     *         "size_bytes": 48213,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "expires_at": "2026-11-21T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["StoredFile"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    delete_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The handle.
                 * @example file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "file_id": "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "deleted": true
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DeletedFile"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    download_file: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description One range of bytes.
                 * @example bytes=0-1023
                 */
                Range?: string | null;
            };
            path: {
                /**
                 * @description The handle.
                 * @example file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": number[];
                };
            };
            /** @description The part that was asked for. */
            206: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": number[];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    read_file_text: {
        parameters: {
            query?: {
                /** @description How many bytes it has at most; 65,536 if absent. */
                limit?: number;
                /** @description Where the piece begins, in bytes of the text; 0 if absent. */
                offset?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The handle.
                 * @example file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The piece. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "file": {
                     *           "file_id": "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *           "user_id": "ada@example.com",
                     *           "name": "invoice.pdf",
                     *           "media_type": "application/pdf",
                     *           "size_bytes": 48213,
                     *           "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *           "created_at": "2026-11-20T09:30:00.125Z",
                     *           "expires_at": "2026-11-21T09:30:00.125Z"
                     *         },
                     *         "text": "Invoice 2026-118\nTotal: 120 EUR",
                     *         "offset": 0,
                     *         "bytes_total": 31,
                     *         "next_offset": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["FileText"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    health_check: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The gateway answers and the key is valid. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "status": "ok",
                     *         "version": "0.1.0",
                     *         "database": "sqlite",
                     *         "plugins": {
                     *           "active": 5,
                     *           "loading": 0,
                     *           "quarantined": 0,
                     *           "pending_approval": 0
                     *         },
                     *         "tools": 74,
                     *         "runtime": "pooling",
                     *         "search": "hybrid",
                     *         "search_model": "ready"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Health"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_documents: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many documents a page holds; 20 if absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of documents. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "documents": [
                     *           {
                     *             "document_id": "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "title": "Travel policy",
                     *             "media_type": "application/pdf",
                     *             "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *             "bytes": 48213,
                     *             "chars": 9120,
                     *             "pages": 4,
                     *             "created_at": "2026-11-20T09:30:00.125Z"
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DocumentPage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    add_document: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The document. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Travel policy",
                 *       "media_type": "text/markdown",
                 *       "content": "# Travel policy\n\nTrains before planes. Hotels up to 120 EUR a night."
                 *     }
                 */
                "application/json": components["schemas"]["AddDocumentBody"];
            };
        };
        responses: {
            /** @description The document. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "document_id": "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "title": "Travel policy",
                     *         "media_type": "text/markdown",
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "bytes": 69,
                     *         "chars": 69,
                     *         "created_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ListedDocument"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_document: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that add and list return.
                 * @example doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                document_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "document_id": "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "title": "Travel policy",
                     *         "media_type": "text/markdown",
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "bytes": 69,
                     *         "chars": 69,
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "content": "# Travel policy\n\nTrains before planes. Hotels up to 120 EUR a night."
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Document"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    delete_document: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that add and list return.
                 * @example doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                document_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "document_id": "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "deleted": true
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DeletedDocument"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    search_knowledge: {
        parameters: {
            query: {
                /** @description How many passages; 5 if absent. */
                limit?: number;
                /**
                 * @description Words or a question.
                 * @example hotel price limit
                 */
                query: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The passages. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "query": "hotel price limit",
                     *         "passages": [
                     *           {
                     *             "document_id": "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "title": "Travel policy",
                     *             "text": "Trains before planes. Hotels up to 120 EUR a night.",
                     *             "position": {
                     *               "starts_at": 17,
                     *               "ends_at": 69,
                     *               "page": 1
                     *             },
                     *             "score": 1.5
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["FoundPassages"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_default_permission: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The default. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "default": "allow"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DefaultPermissionBody"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    change_default_permission: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The default. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "default": "by_effect"
                 *     }
                 */
                "application/json": components["schemas"]["DefaultPermissionBody"];
            };
        };
        responses: {
            /** @description The default as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "default": "by_effect"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DefaultPermissionBody"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_permission_services: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The services. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "services": [
                     *           {
                     *             "service": "github",
                     *             "display_name": "GitHub",
                     *             "tools": 38,
                     *             "auth_type": "oauth2"
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["PermissionServices"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_user_permissions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The user.
                 * @example ada@example.com
                 */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rules. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "user_id": "ada@example.com",
                     *         "default": "allow",
                     *         "services": {
                     *           "slack": "deny"
                     *         },
                     *         "tools": {
                     *           "github_create_issue": "ask"
                     *         }
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["UserPermissions"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    change_permissions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The user.
                 * @example ada@example.com
                 */
                user_id: string;
            };
            cookie?: never;
        };
        /** @description The rules. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "services": {
                 *         "slack": "deny"
                 *       },
                 *       "tools": {
                 *         "github_create_issue": "ask"
                 *       },
                 *       "approvers": "members"
                 *     }
                 */
                "application/json": components["schemas"]["BatchBody"];
            };
        };
        responses: {
            /** @description The user's rules. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "user_id": "ada@example.com",
                     *         "default": "allow",
                     *         "services": {
                     *           "slack": "deny"
                     *         },
                     *         "tools": {
                     *           "github_create_issue": "ask"
                     *         },
                     *         "approvers": {
                     *           "tools": {
                     *             "github_create_issue": "members"
                     *           }
                     *         }
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["UserPermissions"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    explain_permission: {
        parameters: {
            query: {
                /**
                 * @description Exact name of the tool.
                 * @example github_create_issue
                 */
                tool_name: string;
            };
            header?: never;
            path: {
                /**
                 * @description The user.
                 * @example ada@example.com
                 */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The decision. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "user_id": "ada@example.com",
                     *         "tool_name": "github_create_issue",
                     *         "service": "github",
                     *         "effect": "write",
                     *         "permission": "ask",
                     *         "decided_by": "service_rule",
                     *         "approvers": "admins"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["PermissionExplanation"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    change_service_permission: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Lowercase name of the service.
                 * @example github
                 */
                service_name: string;
                /**
                 * @description The user.
                 * @example ada@example.com
                 */
                user_id: string;
            };
            cookie?: never;
        };
        /** @description The rule. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "permission": "ask",
                 *       "approvers": "members",
                 *       "expires_at": "2027-01-01T00:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["RuleBody"];
            };
        };
        responses: {
            /** @description The user's rules. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "user_id": "ada@example.com",
                     *         "default": "allow",
                     *         "services": {
                     *           "github": "ask"
                     *         },
                     *         "tools": {},
                     *         "approvers": {
                     *           "services": {
                     *             "github": "members"
                     *           }
                     *         },
                     *         "limited": [
                     *           {
                     *             "service": "github",
                     *             "permission": "ask",
                     *             "expires_at": "2027-01-01T00:00:00.000Z"
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["UserPermissions"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    summarise_user_permissions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The user.
                 * @example ada@example.com
                 */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "user_id": "ada@example.com",
                     *         "services": {
                     *           "github": {
                     *             "allow": 37,
                     *             "deny": 1,
                     *             "ask": 0
                     *           }
                     *         },
                     *         "total": {
                     *           "allow": 37,
                     *           "deny": 1,
                     *           "ask": 0
                     *         }
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["PermissionSummary"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    change_tool_permission: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Exact name of the tool.
                 * @example github_create_issue
                 */
                tool_name: string;
                /**
                 * @description The user.
                 * @example ada@example.com
                 */
                user_id: string;
            };
            cookie?: never;
        };
        /** @description The rule. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "permission": "deny"
                 *     }
                 */
                "application/json": components["schemas"]["RuleBody"];
            };
        };
        responses: {
            /** @description The user's rules. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "user_id": "ada@example.com",
                     *         "default": "allow",
                     *         "services": {},
                     *         "tools": {
                     *           "github_create_issue": "deny"
                     *         }
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["UserPermissions"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_result: {
        parameters: {
            query?: {
                /** @description How many bytes it has at most; 65,536 if absent. */
                limit?: number;
                /** @description Where the piece begins, in bytes; 0 if absent. */
                offset?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id that execute returned.
                 * @example res_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                result_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The piece. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "result_id": "res_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "content": "\"title\":\"The mill jams on card 12\"}]",
                     *         "offset": 20000,
                     *         "bytes_total": 20036,
                     *         "next_offset": null,
                     *         "expires_at": "2026-11-20T10:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ResultPiece"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    run_script: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The script and, where wanted, its arguments, user and session. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "script": "const issues = await github.listIssues({ owner: args.owner, repo: args.repo });\nexport default issues.length;\n",
                 *       "arguments": {
                 *         "owner": "ada",
                 *         "repo": "engine"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RunScriptBody"];
            };
        };
        responses: {
            /** @description The outcome of the run. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ScriptRun"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_script_runs: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many runs a page holds; 20 if absent. */
                limit?: number;
                /** @description Only runs of this user; with a key that acts for one user, that user's. */
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of runs. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "items": [
                     *           {
                     *             "run_id": "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "status": "done",
                     *             "user_id": "ada@example.com",
                     *             "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "script_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *             "steps": 1,
                     *             "dry_run": false,
                     *             "created_at": "2026-11-20T09:30:00.125Z",
                     *             "updated_at": "2026-11-20T09:30:01.250Z",
                     *             "expires_at": "2026-11-21T09:30:00.125Z"
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ScriptRunPage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_script_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that run and list return.
                 * @example run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "run_id": "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "status": "done",
                     *         "plan": [],
                     *         "logs": [
                     *           {
                     *             "level": "info",
                     *             "text": "opened 7"
                     *           }
                     *         ],
                     *         "warnings": [],
                     *         "calls": [
                     *           {
                     *             "step": 0,
                     *             "tool": "github_create_issue",
                     *             "line": 1,
                     *             "status": "ok",
                     *             "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBE",
                     *             "started_at": "2026-11-20T09:30:00.125Z",
                     *             "duration_ms": 212
                     *           }
                     *         ],
                     *         "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "result": {
                     *           "opened": 1
                     *         }
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ScriptRun"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    cancel_script: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The id that run and list return.
                 * @example run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "run_id": "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "status": "cancelled",
                     *         "plan": [],
                     *         "logs": [
                     *           {
                     *             "level": "info",
                     *             "text": "opened 7"
                     *           }
                     *         ],
                     *         "warnings": [],
                     *         "calls": [
                     *           {
                     *             "step": 0,
                     *             "tool": "github_create_issue",
                     *             "line": 1,
                     *             "status": "ok",
                     *             "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBE",
                     *             "started_at": "2026-11-20T09:30:00.125Z",
                     *             "duration_ms": 212
                     *           }
                     *         ],
                     *         "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ScriptRun"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    resume_script: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The id that run and list return.
                 * @example run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The outcome of the run. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "run_id": "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "status": "done",
                     *         "plan": [],
                     *         "logs": [
                     *           {
                     *             "level": "info",
                     *             "text": "opened 7"
                     *           }
                     *         ],
                     *         "warnings": [],
                     *         "calls": [
                     *           {
                     *             "step": 0,
                     *             "tool": "github_create_issue",
                     *             "line": 1,
                     *             "status": "ok",
                     *             "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBE",
                     *             "started_at": "2026-11-20T09:30:00.125Z",
                     *             "duration_ms": 212
                     *           }
                     *         ],
                     *         "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "result": {
                     *           "opened": 1
                     *         }
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ScriptRun"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_sessions: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many sessions a page holds; 20 if absent. */
                limit?: number;
                /** @description Only sessions of this user. */
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of sessions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "sessions": [
                     *           {
                     *             "session_id": "ses_9f86d081884c7d659a2feaa0c55ad015",
                     *             "user_id": "ada@example.com",
                     *             "created_at": "2026-11-20T09:30:00.125Z",
                     *             "last_active_at": "2026-11-20T09:31:00.000Z",
                     *             "expires_at": "2026-11-21T09:31:00.000Z"
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["SessionPage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    create_session: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description What the user asked for. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "prompt": "Plan the week",
                 *       "user_id": "ada@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["CreateSessionBody"];
            };
        };
        responses: {
            /** @description The session. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "session_id": "ses_9f86d081884c7d659a2feaa0c55ad015",
                     *         "user_id": "ada@example.com",
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "last_active_at": "2026-11-20T09:30:00.125Z",
                     *         "expires_at": "2026-11-21T09:30:00.125Z",
                     *         "messages": [
                     *           {
                     *             "message_id": "msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "role": "user",
                     *             "content": "Plan the week",
                     *             "created_at": "2026-11-20T09:30:00.125Z"
                     *           },
                     *           {
                     *             "message_id": "msg_01KAHZ6M5V2G7Y4D0K8SZN5TQF",
                     *             "role": "assistant",
                     *             "content": "Your calendar shows four free mornings.",
                     *             "created_at": "2026-11-20T09:30:04.210Z",
                     *             "status": "completed",
                     *             "reason": "answered",
                     *             "model_configured": true,
                     *             "tokens": 1830
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Session"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that create or execute returned.
                 * @example ses_9f86d081884c7d659a2feaa0c55ad015
                 */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "session_id": "ses_9f86d081884c7d659a2feaa0c55ad015",
                     *         "user_id": "ada@example.com",
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "last_active_at": "2026-11-20T09:31:00.000Z",
                     *         "expires_at": "2026-11-21T09:31:00.000Z",
                     *         "messages": [
                     *           {
                     *             "message_id": "msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "role": "user",
                     *             "content": "Plan the week",
                     *             "created_at": "2026-11-20T09:30:00.125Z"
                     *           },
                     *           {
                     *             "message_id": "msg_01KAHZ6M5V2G7Y4D0K8SZN5TQF",
                     *             "role": "assistant",
                     *             "content": "Your calendar shows four free mornings.",
                     *             "created_at": "2026-11-20T09:30:04.210Z",
                     *             "status": "completed",
                     *             "reason": "answered",
                     *             "model_configured": true,
                     *             "tokens": 1830
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Session"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    delete_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that create or execute returned.
                 * @example ses_9f86d081884c7d659a2feaa0c55ad015
                 */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "session_id": "ses_9f86d081884c7d659a2feaa0c55ad015",
                     *         "deleted": true
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DeletedSession"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_messages: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many messages a page holds; 50 if absent. */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id that create returned.
                 * @example ses_9f86d081884c7d659a2feaa0c55ad015
                 */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of messages. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "messages": [
                     *           {
                     *             "message_id": "msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "role": "user",
                     *             "content": "Plan the week",
                     *             "created_at": "2026-11-20T09:30:00.125Z"
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["MessagePage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    send_message: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The id that create returned.
                 * @example ses_9f86d081884c7d659a2feaa0c55ad015
                 */
                session_id: string;
            };
            cookie?: never;
        };
        /** @description What the user says. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Which issues are open?"
                 *     }
                 */
                "application/json": components["schemas"]["SendMessageBody"];
            };
        };
        responses: {
            /** @description The assistant's reply. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "message_id": "msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "role": "assistant",
                     *         "content": "Connect github. Then resume the session.",
                     *         "created_at": "2026-11-20T09:30:02.000Z",
                     *         "status": "paused",
                     *         "reason": "auth_required",
                     *         "model_configured": true,
                     *         "pending": {
                     *           "tool_call_id": "call_1",
                     *           "tool_name": "github_list_issues",
                     *           "service": "github",
                     *           "message": "Connect github.",
                     *           "connect_url": "https://gateway.example.com/connect/Zk3..."
                     *         },
                     *         "tokens": 1830
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Message"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    resume_session: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The id that create returned.
                 * @example ses_9f86d081884c7d659a2feaa0c55ad015
                 */
                session_id: string;
            };
            cookie?: never;
        };
        /** @description An empty object. */
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ResumeBody"];
            };
        };
        responses: {
            /** @description The assistant's reply. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "message_id": "msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "role": "assistant",
                     *         "content": "Two issues are open.",
                     *         "created_at": "2026-11-20T09:31:02.000Z",
                     *         "status": "completed",
                     *         "reason": "answered",
                     *         "model_configured": true,
                     *         "tokens": 2210
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Message"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_skills: {
        parameters: {
            query?: {
                /** @description How many Skills a page holds; 20 if absent. */
                limit?: number;
                /** @description How many Skills to leave out at the front; 0 if absent. */
                offset?: number;
                /**
                 * @description Words to look for in name and summary; all Skills if absent.
                 * @example weekly report
                 */
                query?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of Skills. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "skills": [
                     *           {
                     *             "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
                     *             "name": "Weekly report",
                     *             "summary": "Summarises the week's issues of a repository; use on Fridays.",
                     *             "version": 2,
                     *             "created_at": "2026-11-20T09:30:00.125Z",
                     *             "updated_at": "2026-11-20T10:02:11.000Z"
                     *           }
                     *         ],
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["SkillPage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    create_skill: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The Skill's texts. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Weekly report",
                 *       "summary": "Summarises the week's issues of a repository; use on Fridays.",
                 *       "instructions": "1. List the issues closed this week.\n2. Write three sentences."
                 *     }
                 */
                "application/json": components["schemas"]["CreateSkillBody"];
            };
        };
        responses: {
            /** @description The Skill. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
                     *         "name": "Weekly report",
                     *         "summary": "Summarises the week's issues of a repository; use on Fridays.",
                     *         "instructions": "1. List the issues closed this week.\n2. Write three sentences.",
                     *         "version": 1,
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Skill"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_skill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that create and list return.
                 * @example 5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10
                 */
                skill_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Skill. */
            200: {
                headers: {
                    /** @description The version, quoted. */
                    ETag?: string;
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
                     *         "name": "Weekly report",
                     *         "summary": "Summarises the week's issues of a repository; use on Fridays.",
                     *         "instructions": "1. List the issues closed this week.\n2. Write three sentences.",
                     *         "version": 1,
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Skill"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    update_skill: {
        parameters: {
            query?: never;
            header?: {
                /** @description The entity tag of the version to change, or `*`. */
                "If-Match"?: string | null;
            };
            path: {
                /**
                 * @description The id that create and list return.
                 * @example 5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10
                 */
                skill_id: string;
            };
            cookie?: never;
        };
        /** @description What to change. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "instructions": "1. List the closed issues.\n2. Write three sentences.",
                 *       "version": 1
                 *     }
                 */
                "application/json": components["schemas"]["UpdateSkillBody"];
            };
        };
        responses: {
            /** @description The Skill as it is now. */
            200: {
                headers: {
                    /** @description The version, quoted. */
                    ETag?: string;
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
                     *         "name": "Weekly report",
                     *         "summary": "Summarises the week's issues of a repository; use on Fridays.",
                     *         "instructions": "1. List the closed issues.\n2. Write three sentences.",
                     *         "version": 2,
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T10:02:11.000Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Skill"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    delete_skill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that create and list return.
                 * @example 5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10
                 */
                skill_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
                     *         "deleted": true
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DeletedSkill"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    check_skill: {
        parameters: {
            query?: {
                /** @description The user who would follow it; the key's default user if absent. */
                user_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The id that create and list return.
                 * @example 5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10
                 */
                skill_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the Skill needs. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
                     *         "user_id": "ada@example.com",
                     *         "ready": false,
                     *         "tools": [
                     *           {
                     *             "tool_name": "github_list_issues",
                     *             "service": "github",
                     *             "permission": "allow",
                     *             "connection": "not_connected"
                     *           }
                     *         ],
                     *         "unknown_tools": []
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["SkillCheck"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_skill_versions: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many versions a page holds; 20 if absent. */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id that create and list return.
                 * @example 5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10
                 */
                skill_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of versions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
                     *         "versions": [
                     *           {
                     *             "version": 1,
                     *             "name": "Weekly report",
                     *             "summary": "Summarises the week's issues of a repository; use on Fridays.",
                     *             "instructions": "1. List the issues closed this week.\n2. Write three sentences.",
                     *             "created_at": "2026-11-20T09:30:00.125Z"
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["SkillVersions"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_status: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key is valid. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "status": "ok",
                     *         "workspace": "default",
                     *         "key": {
                     *           "name": "ci",
                     *           "prefix": "a1B2c3D4",
                     *           "scopes": [
                     *             "tools:read",
                     *             "tools:execute"
                     *           ],
                     *           "user_id": "ada@example.com"
                     *         },
                     *         "limits": {
                     *           "request_bytes_max": 1048576,
                     *           "execution_timeout_ms": 30000,
                     *           "result_bytes_max": 8388608,
                     *           "key_requests_per_minute": 60,
                     *           "key_requests_per_day": null,
                     *           "workspace_requests_per_minute": 100
                     *         }
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Status"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    execute_tool: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The exact name, as search and list return it.
                 * @example github_create_issue
                 */
                tool_name: string;
            };
            cookie?: never;
        };
        /** @description Arguments and, where wanted, session, user and connection. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "arguments": {
                 *         "owner": "ada",
                 *         "repo": "engine",
                 *         "title": "The mill jams on card 12"
                 *       },
                 *       "user_id": "ada@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["ExecuteBody"];
            };
        };
        responses: {
            /** @description The outcome of the call. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Execution"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_tool_schema: {
        parameters: {
            query?: {
                /** @description The user the tool would run for; the key's default user if absent. */
                user_id?: string;
            };
            header?: {
                /** @description Entity tags the caller already holds. */
                "If-None-Match"?: string | null;
            };
            path: {
                /**
                 * @description The exact name, as search and list return it.
                 * @example github_create_issue
                 */
                tool_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tool. */
            200: {
                headers: {
                    /** @description Strong entity tag. */
                    ETag?: string;
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "name": "github_create_issue",
                     *         "service": "github",
                     *         "description": "Opens an issue in a repository.",
                     *         "inputSchema": {
                     *           "type": "object",
                     *           "required": [
                     *             "owner",
                     *             "repo",
                     *             "title"
                     *           ],
                     *           "properties": {
                     *             "owner": {
                     *               "type": "string"
                     *             },
                     *             "repo": {
                     *               "type": "string"
                     *             },
                     *             "title": {
                     *               "type": "string"
                     *             }
                     *           }
                     *         },
                     *         "annotations": {
                     *           "readOnlyHint": false,
                     *           "destructiveHint": false,
                     *           "idempotentHint": false,
                     *           "openWorldHint": true
                     *         },
                     *         "auth": {
                     *           "type": "oauth2",
                     *           "scopes": [
                     *             "repo"
                     *           ]
                     *         },
                     *         "examples": [
                     *           {
                     *             "owner": "octocat",
                     *             "repo": "hello-world",
                     *             "title": "The build fails on Windows"
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ToolSchema"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            /** @description One of the entity tags sent is current. */
            304: {
                headers: {
                    /** @description Strong entity tag. */
                    ETag?: string;
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_tools: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many tools a page holds; 100 if absent. */
                limit?: number;
                /**
                 * @description Only tools of this service, by its lowercase name.
                 * @example github
                 */
                service?: string;
                /** @description The user the tools would run for; the key's default user if absent. */
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of tools. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "tools": [
                     *           {
                     *             "name": "github_create_issue",
                     *             "service": "github",
                     *             "description": "Opens an issue in a repository.",
                     *             "version": "1.4.0",
                     *             "annotations": {
                     *               "readOnlyHint": false,
                     *               "destructiveHint": false,
                     *               "idempotentHint": false,
                     *               "openWorldHint": true
                     *             }
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ToolPage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    search_tools: {
        parameters: {
            query: {
                /** @description How many tools to answer; 20 if absent. */
                limit?: number;
                /**
                 * @description Keywords or natural language; it may name several steps.
                 * @example open an issue
                 */
                query: string;
                /** @description For how many of the best tools the schema is included; 3 if absent. */
                schema_limit?: number;
                /**
                 * @description Only tools of this service, by its lowercase name.
                 * @example github
                 */
                service?: string;
                /** @description The user the tools would run for; the key's default user if absent. */
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The nearest tools, best first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "query": "open an issue",
                     *         "service": "github",
                     *         "total": 1,
                     *         "tools": [
                     *           {
                     *             "name": "github_create_issue",
                     *             "service": "github",
                     *             "description": "Opens an issue in a repository.",
                     *             "version": "1.4.0",
                     *             "annotations": {
                     *               "readOnlyHint": false,
                     *               "destructiveHint": false,
                     *               "idempotentHint": false,
                     *               "openWorldHint": true
                     *             },
                     *             "score": 12.5,
                     *             "confidence": "high",
                     *             "match_reasons": [
                     *               "name: issue",
                     *               "keyword: ticket"
                     *             ],
                     *             "connection": "connected",
                     *             "inputSchema": {
                     *               "type": "object",
                     *               "required": [
                     *                 "owner",
                     *                 "repo",
                     *                 "title"
                     *               ],
                     *               "properties": {
                     *                 "owner": {
                     *                   "type": "string"
                     *                 },
                     *                 "repo": {
                     *                   "type": "string"
                     *                 },
                     *                 "title": {
                     *                   "type": "string"
                     *                 }
                     *               }
                     *             }
                     *           }
                     *         ],
                     *         "confidence": "high",
                     *         "ranking": "hybrid"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["FoundTools"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_tool_types: {
        parameters: {
            query?: {
                /**
                 * @description Names of tools, parted by commas, at most 100. Needed unless services are named.
                 * @example github_create_issue,github_list_issues
                 */
                names?: string;
                /**
                 * @description Names of services, parted by commas, at most 10: all their tools that the user may use.
                 * @example github
                 */
                services?: string;
                /** @description The user the tools would run for; the key's default user if absent. */
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Declarations in TypeScript. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_toolsets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The toolsets. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "toolsets": [
                     *           {
                     *             "name": "support",
                     *             "title": "Support",
                     *             "description": "What the support team needs.",
                     *             "tools": [
                     *               "github_create_issue",
                     *               "slack_post_message"
                     *             ],
                     *             "services": [],
                     *             "skills": [
                     *               "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10"
                     *             ],
                     *             "generic_tools": false,
                     *             "mcp_url": "https://tools.example.com/mcp/t/support",
                     *             "listed": 3,
                     *             "left_out": 0,
                     *             "created_at": "2026-11-20T09:30:00.125Z",
                     *             "updated_at": "2026-11-20T09:30:00.125Z"
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ToolsetList"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    create_toolset: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description Its name and what it names. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "support",
                 *       "title": "Support",
                 *       "description": "What the support team needs.",
                 *       "tools": [
                 *         "github_create_issue",
                 *         "slack_post_message"
                 *       ],
                 *       "skills": [
                 *         "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateToolsetBody"];
            };
        };
        responses: {
            /** @description The toolset. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "name": "support",
                     *         "title": "Support",
                     *         "description": "What the support team needs.",
                     *         "tools": [
                     *           "github_create_issue",
                     *           "slack_post_message"
                     *         ],
                     *         "services": [],
                     *         "skills": [
                     *           "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10"
                     *         ],
                     *         "generic_tools": false,
                     *         "mcp_url": "https://tools.example.com/mcp/t/support",
                     *         "listed": 3,
                     *         "left_out": 0,
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ToolsetInfo"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_toolset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its name.
                 * @example support
                 */
                toolset_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The toolset. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "name": "support",
                     *         "title": "Support",
                     *         "description": "",
                     *         "tools": [
                     *           "github_create_issue",
                     *           "github_old_tool"
                     *         ],
                     *         "services": [],
                     *         "skills": [],
                     *         "generic_tools": false,
                     *         "mcp_url": "https://tools.example.com/mcp/t/support",
                     *         "listed": 1,
                     *         "left_out": 0,
                     *         "missing": [
                     *           "github_old_tool"
                     *         ],
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ToolsetInfo"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    replace_toolset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its name.
                 * @example support
                 */
                toolset_name: string;
            };
            cookie?: never;
        };
        /** @description All that it names. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Support",
                 *       "services": [
                 *         "github"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ReplaceToolsetBody"];
            };
        };
        responses: {
            /** @description The toolset as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "name": "support",
                     *         "title": "Support",
                     *         "description": "",
                     *         "tools": [],
                     *         "services": [
                     *           "github"
                     *         ],
                     *         "skills": [],
                     *         "generic_tools": false,
                     *         "mcp_url": "https://tools.example.com/mcp/t/support",
                     *         "listed": 58,
                     *         "left_out": 0,
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T10:02:11.000Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ToolsetInfo"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    delete_toolset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its name.
                 * @example support
                 */
                toolset_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "name": "support",
                     *         "deleted": true
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DeletedToolset"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    update_toolset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its name.
                 * @example support
                 */
                toolset_name: string;
            };
            cookie?: never;
        };
        /** @description What to change. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "services": [
                 *         "github"
                 *       ],
                 *       "tools": []
                 *     }
                 */
                "application/json": components["schemas"]["UpdateToolsetBody"];
            };
        };
        responses: {
            /** @description The toolset as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "name": "support",
                     *         "title": "Support",
                     *         "description": "",
                     *         "tools": [],
                     *         "services": [
                     *           "github"
                     *         ],
                     *         "skills": [],
                     *         "generic_tools": false,
                     *         "mcp_url": "https://tools.example.com/mcp/t/support",
                     *         "listed": 58,
                     *         "left_out": 0,
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T10:02:11.000Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ToolsetInfo"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_toolset_tools: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its name.
                 * @example support
                 */
                toolset_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tools. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "name": "support",
                     *         "title": "Support",
                     *         "description": "",
                     *         "generic_tools": false,
                     *         "tools": [
                     *           {
                     *             "name": "github_create_issue",
                     *             "title": "GitHub: create issue",
                     *             "description": "Creates an issue in a repository.",
                     *             "inputSchema": {
                     *               "type": "object",
                     *               "properties": {
                     *                 "title": {
                     *                   "type": "string"
                     *                 }
                     *               },
                     *               "required": [
                     *                 "title"
                     *               ]
                     *             },
                     *             "annotations": {
                     *               "readOnlyHint": false,
                     *               "destructiveHint": false,
                     *               "idempotentHint": false,
                     *               "openWorldHint": true
                     *             },
                     *             "kind": "tool",
                     *             "service": "github"
                     *           }
                     *         ],
                     *         "left_out": 0
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ToolsetTools"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_triggers: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many triggers a page holds; 20 if absent. */
                limit?: number;
                /** @description Only triggers of this user; with a key that acts for one user, that user's. */
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of triggers. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "triggers": [
                     *           {
                     *             "trigger_id": "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "user_id": "ada@example.com",
                     *             "service": "github",
                     *             "trigger": "new_issue",
                     *             "event": "trigger.github.new_issue",
                     *             "interval_s": 300,
                     *             "state": "active",
                     *             "failures": 0,
                     *             "watching_since": "2026-11-20T09:30:01.250Z",
                     *             "last_poll_at": "2026-11-20T09:30:01.250Z",
                     *             "items_found": 0,
                     *             "next_poll_at": "2026-11-20T09:35:01.250Z",
                     *             "created_at": "2026-11-20T09:30:00.125Z",
                     *             "updated_at": "2026-11-20T09:30:00.125Z"
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["TriggerList"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    create_trigger: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description Which trigger, with which arguments. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "service": "github",
                 *       "trigger": "new_issue",
                 *       "config": {
                 *         "owner": "octo-org",
                 *         "repo": "widgets"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateTriggerBody"];
            };
        };
        responses: {
            /** @description The trigger. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "trigger_id": "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "user_id": "ada@example.com",
                     *         "service": "github",
                     *         "trigger": "new_issue",
                     *         "event": "trigger.github.new_issue",
                     *         "config": {
                     *           "owner": "octo-org",
                     *           "repo": "widgets"
                     *         },
                     *         "interval_s": 300,
                     *         "state": "active",
                     *         "failures": 0,
                     *         "items_found": 0,
                     *         "next_poll_at": "2026-11-20T09:30:00.125Z",
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Trigger"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_trigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that create and list return.
                 * @example trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                trigger_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trigger. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "trigger_id": "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "user_id": "ada@example.com",
                     *         "service": "github",
                     *         "trigger": "new_issue",
                     *         "event": "trigger.github.new_issue",
                     *         "config": {
                     *           "owner": "octo-org",
                     *           "repo": "widgets"
                     *         },
                     *         "interval_s": 300,
                     *         "state": "active",
                     *         "failures": 0,
                     *         "watching_since": "2026-11-20T09:30:01.250Z",
                     *         "last_poll_at": "2026-11-20T09:30:01.250Z",
                     *         "items_found": 0,
                     *         "next_poll_at": "2026-11-20T09:35:01.250Z",
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Trigger"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    delete_trigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that create and list return.
                 * @example trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                trigger_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "trigger_id": "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "deleted": true
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DeletedTrigger"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    update_trigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that create and list return.
                 * @example trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                trigger_id: string;
            };
            cookie?: never;
        };
        /** @description What to change. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "paused": false,
                 *       "interval_s": 300
                 *     }
                 */
                "application/json": components["schemas"]["UpdateTriggerBody"];
            };
        };
        responses: {
            /** @description The trigger as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "trigger_id": "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "user_id": "ada@example.com",
                     *         "service": "github",
                     *         "trigger": "new_issue",
                     *         "event": "trigger.github.new_issue",
                     *         "config": {
                     *           "owner": "octo-org",
                     *           "repo": "widgets"
                     *         },
                     *         "interval_s": 300,
                     *         "state": "active",
                     *         "failures": 0,
                     *         "watching_since": "2026-11-20T09:30:01.250Z",
                     *         "last_poll_at": "2026-11-20T09:30:01.250Z",
                     *         "items_found": 0,
                     *         "next_poll_at": "2026-11-20T09:35:01.250Z",
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Trigger"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    test_trigger: {
        parameters: {
            query?: {
                /**
                 * @description Only items from this moment on, at most 30 days ago; those of the last day if absent. Refused where the service gives
                 *     no times of its items.
                 * @example 2026-11-20T09:30:00.125Z
                 */
                since?: string;
            };
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The id that create and list return.
                 * @example trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                trigger_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What it would have found. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "status": "found",
                     *         "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "listed": 3,
                     *         "since": "2026-11-19T09:30:00.000Z",
                     *         "found": 1,
                     *         "complete": true,
                     *         "items": [
                     *           {
                     *             "event_id": "evt_5TQ0C1Z8H5G6W2N7RXJ3VBD4MA",
                     *             "time": "2026-11-20T09:12:44.000Z",
                     *             "event": {
                     *               "id": 4711,
                     *               "title": "The printer is on fire"
                     *             }
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["TriggerTest"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_webhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhooks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "webhooks": [
                     *           {
                     *             "webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "url": "https://app.example.com/toolgate",
                     *             "description": "the application",
                     *             "events": [
                     *               "tool.*",
                     *               "connection.expired"
                     *             ],
                     *             "filters": {
                     *               "services": [
                     *                 "github"
                     *               ]
                     *             },
                     *             "enabled": true,
                     *             "created_at": "2026-11-20T09:30:00.125Z",
                     *             "updated_at": "2026-11-20T09:30:00.125Z"
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["WebhookList"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    create_webhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description Where to send which events. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://app.example.com/toolgate",
                 *       "events": [
                 *         "tool.*",
                 *         "connection.expired"
                 *       ],
                 *       "filters": {
                 *         "services": [
                 *           "github"
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateWebhookBody"];
            };
        };
        responses: {
            /** @description The webhook and its secret. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "url": "https://app.example.com/toolgate",
                     *         "description": "the application",
                     *         "events": [
                     *           "tool.*",
                     *           "connection.expired"
                     *         ],
                     *         "filters": {
                     *           "services": [
                     *             "github"
                     *           ]
                     *         },
                     *         "enabled": true,
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T09:30:00.125Z",
                     *         "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["WebhookWithSecret"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that create and list return.
                 * @example whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "url": "https://app.example.com/toolgate",
                     *         "description": "the application",
                     *         "events": [
                     *           "tool.*",
                     *           "connection.expired"
                     *         ],
                     *         "filters": {
                     *           "services": [
                     *             "github"
                     *           ]
                     *         },
                     *         "enabled": true,
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Webhook"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    delete_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that create and list return.
                 * @example whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "deleted": true
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["DeletedWebhook"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    update_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that create and list return.
                 * @example whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        /** @description What to change. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["UpdateWebhookBody"];
            };
        };
        responses: {
            /** @description The webhook as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "url": "https://app.example.com/toolgate",
                     *         "description": "the application",
                     *         "events": [
                     *           "tool.*",
                     *           "connection.expired"
                     *         ],
                     *         "filters": {
                     *           "services": [
                     *             "github"
                     *           ]
                     *         },
                     *         "enabled": true,
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Webhook"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list_webhook_deliveries: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many deliveries a page holds; 20 if absent. */
                limit?: number;
                /** @description Only deliveries in this state. */
                status?: components["schemas"]["DeliveryStatus"];
            };
            header?: never;
            path: {
                /**
                 * @description The id that create and list return.
                 * @example whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of deliveries. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "deliveries": [
                     *           {
                     *             "delivery_id": "dlv_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "event_id": "evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *             "type": "webhook.test",
                     *             "status": "pending",
                     *             "attempts": 0,
                     *             "next_attempt_at": "2026-11-20T09:30:00.125Z",
                     *             "created_at": "2026-11-20T09:30:00.125Z"
                     *           }
                     *         ],
                     *         "next_cursor": null
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["WebhookDeliveryPage"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    resend_webhook_delivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The id in the list of deliveries.
                 * @example dlv_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                delivery_id: string;
                /**
                 * @description The id that create and list return.
                 * @example whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new delivery, which waits to be sent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "delivery_id": "dlv_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "event_id": "evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "type": "webhook.test",
                     *         "status": "pending",
                     *         "attempts": 0,
                     *         "next_attempt_at": "2026-11-20T09:30:00.125Z",
                     *         "created_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    rotate_webhook_secret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The id that create and list return.
                 * @example whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        /** @description How long both secrets sign. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "overlap_hours": 24
                 *     }
                 */
                "application/json": components["schemas"]["RotateBody"];
            };
        };
        responses: {
            /** @description The webhook and its new secret. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "url": "https://app.example.com/toolgate",
                     *         "description": "the application",
                     *         "events": [
                     *           "tool.*",
                     *           "connection.expired"
                     *         ],
                     *         "filters": {
                     *           "services": [
                     *             "github"
                     *           ]
                     *         },
                     *         "enabled": true,
                     *         "created_at": "2026-11-20T09:30:00.125Z",
                     *         "updated_at": "2026-11-20T09:30:00.125Z",
                     *         "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["WebhookWithSecret"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    test_webhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. A repetition within 24 hours returns the stored response instead of running again; a response with a secret is not stored. With another body it is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The id that create and list return.
                 * @example whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery that waits to be sent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "delivery_id": "dlv_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "event_id": "evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
                     *         "type": "webhook.test",
                     *         "status": "pending",
                     *         "attempts": 0,
                     *         "next_attempt_at": "2026-11-20T09:30:00.125Z",
                     *         "created_at": "2026-11-20T09:30:00.125Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"];
                        meta: components["schemas"]["Meta"];
                        /**
                         * @description Always `true`.
                         * @example true
                         */
                        success: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
}

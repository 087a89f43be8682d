package toolgate

import (
	"context"
	"iter"
	"strings"
)

// Tools finds, describes and runs tools.
type Tools struct{ c *Client }

// Search finds tools by keywords or by a sentence that says what is to be done, best match first.
func (t *Tools) Search(ctx context.Context, params SearchToolsParams) (*FoundTools, error) {
	return call[FoundTools](ctx, t.c, "search_tools", nil, params)
}

// List is all tools that the user may use, by name. Limit is the size of a page.
func (t *Tools) List(ctx context.Context, params ListToolsParams) iter.Seq2[ListedTool, error] {
	return paged(params.Cursor, func(cursor string) ([]ListedTool, string, error) {
		params.Cursor = cursor
		page, err := t.ListPage(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return page.Tools, page.NextCursor, nil
	})
}

// ListPage is one page of List.
func (t *Tools) ListPage(ctx context.Context, params ListToolsParams) (*ToolPage, error) {
	return call[ToolPage](ctx, t.c, "list_tools", nil, params)
}

// Schema is the tool's schemas and what it needs; nil if IfNoneMatch is still current.
func (t *Tools) Schema(ctx context.Context, toolName string, params GetToolSchemaParams) (*ToolSchema, error) {
	return call[ToolSchema](ctx, t.c, "get_tool_schema", []string{toolName}, params)
}

// Execute runs a tool with the user's own connection. Switch on the outcome's type.
//
// The call carries an idempotency key, so that repeating it after a lost answer runs it once; give your own
// to keep it across restarts of your program.
func (t *Tools) Execute(ctx context.Context, toolName string, params ExecuteToolParams) (Outcome, error) {
	received, err := t.c.answer(ctx, "execute_tool", []string{toolName}, params)
	if err != nil {
		return nil, err
	}
	params.RetryUnknown = false
	return readOutcome(received, params)
}

// Skills are reusable instructions.
type Skills struct{ c *Client }

// List is all Skills, newest first. Limit is the size of a page.
func (s *Skills) List(ctx context.Context, params ListSkillsParams) iter.Seq2[ListedSkill, error] {
	return func(yield func(ListedSkill, error) bool) {
		for {
			page, err := s.ListPage(ctx, params)
			if err != nil {
				yield(ListedSkill{}, err)
				return
			}
			for _, skill := range page.Skills {
				if !yield(skill, nil) {
					return
				}
			}
			next := page.Offset + len(page.Skills)
			if len(page.Skills) == 0 || next >= page.Total {
				return
			}
			params.Offset = &next
		}
	}
}

// ListPage is one page of List.
func (s *Skills) ListPage(ctx context.Context, params ListSkillsParams) (*SkillPage, error) {
	return call[SkillPage](ctx, s.c, "list_skills", nil, params)
}

// Get reads a Skill.
func (s *Skills) Get(ctx context.Context, skillID string) (*Skill, error) {
	return call[Skill](ctx, s.c, "get_skill", []string{skillID}, nil)
}

// Create makes a Skill.
func (s *Skills) Create(ctx context.Context, params CreateSkillParams) (*Skill, error) {
	return call[Skill](ctx, s.c, "create_skill", nil, params)
}

// Update changes the given fields. With Version, only if that is the Skill's version.
func (s *Skills) Update(ctx context.Context, skillID string, params UpdateSkillParams) (*Skill, error) {
	return call[Skill](ctx, s.c, "update_skill", []string{skillID}, params)
}

// Delete removes a Skill for good.
func (s *Skills) Delete(ctx context.Context, skillID string) (*DeletedSkill, error) {
	return call[DeletedSkill](ctx, s.c, "delete_skill", []string{skillID}, nil)
}

// Versions is the Skill's history, the current version first. Limit is the size of a page.
func (s *Skills) Versions(ctx context.Context, skillID string, params ListSkillVersionsParams) iter.Seq2[SkillVersion, error] {
	return paged(params.Cursor, func(cursor string) ([]SkillVersion, string, error) {
		params.Cursor = cursor
		page, err := s.VersionsPage(ctx, skillID, params)
		if err != nil {
			return nil, "", err
		}
		return page.Versions, page.NextCursor, nil
	})
}

// VersionsPage is one page of Versions.
func (s *Skills) VersionsPage(ctx context.Context, skillID string, params ListSkillVersionsParams) (*SkillVersions, error) {
	return call[SkillVersions](ctx, s.c, "list_skill_versions", []string{skillID}, params)
}

// Check says whether the user could follow the Skill now.
func (s *Skills) Check(ctx context.Context, skillID string, params CheckSkillParams) (*SkillCheck, error) {
	return call[SkillCheck](ctx, s.c, "check_skill", []string{skillID}, params)
}

// Toolsets are named choices of tools that MCP clients list under the tools' own names.
type Toolsets struct{ c *Client }

// List is all toolsets of the workspace, by name.
func (t *Toolsets) List(ctx context.Context) ([]ToolsetInfo, error) {
	found, err := call[ToolsetList](ctx, t.c, "list_toolsets", nil, nil)
	if err != nil {
		return nil, err
	}
	return found.Toolsets, nil
}

// Get reads a toolset.
func (t *Toolsets) Get(ctx context.Context, name string) (*ToolsetInfo, error) {
	return call[ToolsetInfo](ctx, t.c, "get_toolset", []string{name}, nil)
}

// Create makes a toolset of at least one tool, service or Skill (by id).
func (t *Toolsets) Create(ctx context.Context, params CreateToolsetParams) (*ToolsetInfo, error) {
	return call[ToolsetInfo](ctx, t.c, "create_toolset", nil, params)
}

// Update changes the given fields.
func (t *Toolsets) Update(ctx context.Context, name string, params UpdateToolsetParams) (*ToolsetInfo, error) {
	return call[ToolsetInfo](ctx, t.c, "update_toolset", []string{name}, params)
}

// Replace makes the toolset what params say; what is absent is empty.
func (t *Toolsets) Replace(ctx context.Context, name string, params ReplaceToolsetParams) (*ToolsetInfo, error) {
	return call[ToolsetInfo](ctx, t.c, "replace_toolset", []string{name}, params)
}

// Delete removes a toolset; its address answers 404 from the next request on.
func (t *Toolsets) Delete(ctx context.Context, name string) (*DeletedToolset, error) {
	return call[DeletedToolset](ctx, t.c, "delete_toolset", []string{name}, nil)
}

// Tools is what an MCP client with this key lists at the toolset's address.
func (t *Toolsets) Tools(ctx context.Context, name string) (*ToolsetTools, error) {
	return call[ToolsetTools](ctx, t.c, "list_toolset_tools", []string{name}, nil)
}

// Permissions say which tools a user may use.
type Permissions struct{ c *Client }

// Services is what rules can be about.
func (p *Permissions) Services(ctx context.Context) ([]PermissionService, error) {
	found, err := call[PermissionServices](ctx, p.c, "list_permission_services", nil, nil)
	if err != nil {
		return nil, err
	}
	return found.Services, nil
}

// Get is the user's own rules.
func (p *Permissions) Get(ctx context.Context, userID string) (*UserPermissions, error) {
	return call[UserPermissions](ctx, p.c, "get_user_permissions", []string{userID}, nil)
}

// SetTool sets the rule for one tool; SettingInherit removes it.
func (p *Permissions) SetTool(ctx context.Context, userID, toolName string, params ChangeToolPermissionParams) (*UserPermissions, error) {
	return call[UserPermissions](ctx, p.c, "change_tool_permission", []string{userID, toolName}, params)
}

// SetService sets the rule for all tools of a service that have none; SettingInherit removes it.
func (p *Permissions) SetService(ctx context.Context, userID, serviceName string, params ChangeServicePermissionParams) (*UserPermissions, error) {
	return call[UserPermissions](ctx, p.c, "change_service_permission", []string{userID, serviceName}, params)
}

// Batch sets many rules, all or none.
func (p *Permissions) Batch(ctx context.Context, userID string, params ChangePermissionsParams) (*UserPermissions, error) {
	return call[UserPermissions](ctx, p.c, "change_permissions", []string{userID}, params)
}

// Summary counts the user's tools by their permission.
func (p *Permissions) Summary(ctx context.Context, userID string) (*PermissionSummary, error) {
	return call[PermissionSummary](ctx, p.c, "summarise_user_permissions", []string{userID}, nil)
}

type defaultPermission struct {
	Default DefaultRule `json:"default"`
}

// Default is the permission of a tool that no rule is about.
func (p *Permissions) Default(ctx context.Context) (DefaultRule, error) {
	found, err := call[defaultPermission](ctx, p.c, "get_default_permission", nil, nil)
	if err != nil {
		return "", err
	}
	return found.Default, nil
}

// SetDefault allows the tools that no rule is about, or allows reads and asks about the others (DefaultRuleByEffect).
func (p *Permissions) SetDefault(ctx context.Context, params ChangeDefaultPermissionParams) (DefaultRule, error) {
	found, err := call[defaultPermission](ctx, p.c, "change_default_permission", nil, params)
	if err != nil {
		return "", err
	}
	return found.Default, nil
}

// Explain is the permission that applies to one tool, and the rule that it comes from.
func (p *Permissions) Explain(ctx context.Context, userID string, params ExplainPermissionParams) (*PermissionExplanation, error) {
	return call[PermissionExplanation](ctx, p.c, "explain_permission", []string{userID}, params)
}

// Connections are what users have connected.
type Connections struct{ c *Client }

// Link makes a link at which the user connects an account: one use, 15 minutes.
func (n *Connections) Link(ctx context.Context, params LinkConnectionParams) (*ConnectLink, error) {
	return call[ConnectLink](ctx, n.c, "link_connection", nil, params)
}

// Confirm confirms that the browser that came to ConfirmURL belongs to the user.
func (n *Connections) Confirm(ctx context.Context, params ConfirmConnectionParams) (*ConnectionInfo, error) {
	return call[ConnectionInfo](ctx, n.c, "confirm_connection", nil, params)
}

// List is all connections, newest first. Limit is the size of a page. Use ListPage to wait.
func (n *Connections) List(ctx context.Context, params ListConnectionsParams) iter.Seq2[ConnectionInfo, error] {
	return paged(params.Cursor, func(cursor string) ([]ConnectionInfo, string, error) {
		params.Cursor = cursor
		page, err := n.ListPage(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return page.Connections, page.NextCursor, nil
	})
}

// ListPage is one page of connections. With Wait it comes once one of the page is active, and at the latest after so
// many seconds (30 at most).
func (n *Connections) ListPage(ctx context.Context, params ListConnectionsParams) (*ConnectionPage, error) {
	return call[ConnectionPage](ctx, n.c, "list_connections", nil, params)
}

// Get reads a connection; with Wait also one that a link names and that does not exist yet.
func (n *Connections) Get(ctx context.Context, connectionID string, params GetConnectionParams) (*ConnectionInfo, error) {
	return call[ConnectionInfo](ctx, n.c, "get_connection", []string{connectionID}, params)
}

// Delete forgets the credential and revokes it at the provider where that is possible.
func (n *Connections) Delete(ctx context.Context, connectionID string) (*DeletedConnection, error) {
	return call[DeletedConnection](ctx, n.c, "delete_connection", []string{connectionID}, nil)
}

// Hook is where the provider sends the connection's events, and how many were accepted.
func (n *Connections) Hook(ctx context.Context, connectionID string) (*Hook, error) {
	return call[Hook](ctx, n.c, "get_connection_hook", []string{connectionID}, nil)
}

// PutHook opens the address for the provider's events. Without a secret the answer has a new one.
func (n *Connections) PutHook(ctx context.Context, connectionID string, params PutConnectionHookParams) (*HookWithSecret, error) {
	return call[HookWithSecret](ctx, n.c, "put_connection_hook", []string{connectionID}, params)
}

// DeleteHook closes the address.
func (n *Connections) DeleteHook(ctx context.Context, connectionID string) (*DeletedHook, error) {
	return call[DeletedHook](ctx, n.c, "delete_connection_hook", []string{connectionID}, nil)
}

// Sessions are conversations, and state that steps share.
type Sessions struct{ c *Client }

// Create makes a session.
func (s *Sessions) Create(ctx context.Context, params CreateSessionParams) (*Session, error) {
	return call[Session](ctx, s.c, "create_session", nil, params)
}

// List is all sessions. Limit is the size of a page.
func (s *Sessions) List(ctx context.Context, params ListSessionsParams) iter.Seq2[Session, error] {
	return paged(params.Cursor, func(cursor string) ([]Session, string, error) {
		params.Cursor = cursor
		page, err := s.ListPage(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return page.Sessions, page.NextCursor, nil
	})
}

// ListPage is one page of List.
func (s *Sessions) ListPage(ctx context.Context, params ListSessionsParams) (*SessionPage, error) {
	return call[SessionPage](ctx, s.c, "list_sessions", nil, params)
}

// Get reads a session.
func (s *Sessions) Get(ctx context.Context, sessionID string) (*Session, error) {
	return call[Session](ctx, s.c, "get_session", []string{sessionID}, nil)
}

// Delete ends a session.
func (s *Sessions) Delete(ctx context.Context, sessionID string) (*DeletedSession, error) {
	return call[DeletedSession](ctx, s.c, "delete_session", []string{sessionID}, nil)
}

// Messages is every step of a session, oldest first. Limit is the size of a page.
func (s *Sessions) Messages(ctx context.Context, sessionID string, params ListMessagesParams) iter.Seq2[Message, error] {
	return paged(params.Cursor, func(cursor string) ([]Message, string, error) {
		params.Cursor = cursor
		page, err := s.MessagesPage(ctx, sessionID, params)
		if err != nil {
			return nil, "", err
		}
		return page.Messages, page.NextCursor, nil
	})
}

// MessagesPage is one page of Messages.
func (s *Sessions) MessagesPage(ctx context.Context, sessionID string, params ListMessagesParams) (*MessagePage, error) {
	return call[MessagePage](ctx, s.c, "list_messages", []string{sessionID}, params)
}

// Send is the assistant's reply to a message.
func (s *Sessions) Send(ctx context.Context, sessionID string, params SendMessageParams) (*Message, error) {
	return call[Message](ctx, s.c, "send_message", []string{sessionID}, params)
}

// Resume continues where the last turn stopped for a connection, an approval or a limit.
func (s *Sessions) Resume(ctx context.Context, sessionID string, params ResumeSessionParams) (*Message, error) {
	return call[Message](ctx, s.c, "resume_session", []string{sessionID}, params)
}

// Knowledge is documents, and the passages of them that answer a query.
type Knowledge struct{ c *Client }

// Add adds a document: its text, or its bytes in base64.
func (k *Knowledge) Add(ctx context.Context, params AddDocumentParams) (*ListedDocument, error) {
	return call[ListedDocument](ctx, k.c, "add_document", nil, params)
}

// List is all documents without their text. Limit is the size of a page.
func (k *Knowledge) List(ctx context.Context, params ListDocumentsParams) iter.Seq2[ListedDocument, error] {
	return paged(params.Cursor, func(cursor string) ([]ListedDocument, string, error) {
		params.Cursor = cursor
		page, err := k.ListPage(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return page.Documents, page.NextCursor, nil
	})
}

// ListPage is one page of List.
func (k *Knowledge) ListPage(ctx context.Context, params ListDocumentsParams) (*DocumentPage, error) {
	return call[DocumentPage](ctx, k.c, "list_documents", nil, params)
}

// Get reads a document with its text.
func (k *Knowledge) Get(ctx context.Context, documentID string) (*Document, error) {
	return call[Document](ctx, k.c, "get_document", []string{documentID}, nil)
}

// Delete removes a document; no search finds it any more.
func (k *Knowledge) Delete(ctx context.Context, documentID string) (*DeletedDocument, error) {
	return call[DeletedDocument](ctx, k.c, "delete_document", []string{documentID}, nil)
}

// Search is the passages that answer a query best.
func (k *Knowledge) Search(ctx context.Context, params SearchKnowledgeParams) (*FoundPassages, error) {
	return call[FoundPassages](ctx, k.c, "search_knowledge", nil, params)
}

// Executions are receipts: what ran, and every request that was sent.
type Executions struct{ c *Client }

// List is all receipts, newest first. Limit is the size of a page.
func (e *Executions) List(ctx context.Context, params ListExecutionsParams) iter.Seq2[ExecutionReceipt, error] {
	return paged(params.Cursor, func(cursor string) ([]ExecutionReceipt, string, error) {
		params.Cursor = cursor
		page, err := e.ListPage(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return page.Executions, page.NextCursor, nil
	})
}

// ListPage is one page of List.
func (e *Executions) ListPage(ctx context.Context, params ListExecutionsParams) (*ExecutionPage, error) {
	return call[ExecutionPage](ctx, e.c, "list_executions", nil, params)
}

// Get reads a receipt.
func (e *Executions) Get(ctx context.Context, executionID string) (*ExecutionReceipt, error) {
	return call[ExecutionReceipt](ctx, e.c, "get_execution", []string{executionID}, nil)
}

// Payloads reads the bodies that the workspace stores; needs the scope admin, and is recorded in the audit log.
func (e *Executions) Payloads(ctx context.Context, executionID string) (*ExecutionPayloads, error) {
	return call[ExecutionPayloads](ctx, e.c, "get_execution_payloads", []string{executionID}, nil)
}

// Approvals are calls that a person has to allow first.
type Approvals struct{ c *Client }

// List is all approvals, newest first. Limit is the size of a page.
func (a *Approvals) List(ctx context.Context, params ListApprovalsParams) iter.Seq2[Approval, error] {
	return paged(params.Cursor, func(cursor string) ([]Approval, string, error) {
		params.Cursor = cursor
		page, err := a.ListPage(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return page.Approvals, page.NextCursor, nil
	})
}

// ListPage is one page of List.
func (a *Approvals) ListPage(ctx context.Context, params ListApprovalsParams) (*ApprovalPage, error) {
	return call[ApprovalPage](ctx, a.c, "list_approvals", nil, params)
}

// Get reads an approval.
func (a *Approvals) Get(ctx context.Context, approvalID string) (*Approval, error) {
	return call[Approval](ctx, a.c, "get_approval", []string{approvalID}, nil)
}

// Wait reads one as soon as it is decided, and at the latest after params.Wait seconds.
func (a *Approvals) Wait(ctx context.Context, approvalID string, params GetApprovalParams) (*Approval, error) {
	return call[Approval](ctx, a.c, "get_approval", []string{approvalID}, params)
}

// Decide approves or denies a pending call, once.
func (a *Approvals) Decide(ctx context.Context, approvalID string, params DecideApprovalParams) (*Approval, error) {
	return call[Approval](ctx, a.c, "decide_approval", []string{approvalID}, params)
}

// Events are what happened in the workspace, in its order.
type Events struct{ c *Client }

// List is what happened since params.Cursor. With params.Wait an answer without events comes only after so many seconds.
// params.Types are separated by commas.
func (e *Events) List(ctx context.Context, params ListEventsParams) (*EventPage, error) {
	return call[EventPage](ctx, e.c, "list_events", nil, params)
}

// Results are results that were too large for their answer, stored for an hour.
type Results struct{ c *Client }

// Get is one piece of the result's JSON text.
func (r *Results) Get(ctx context.Context, resultID string, params GetResultParams) (*ResultPiece, error) {
	return call[ResultPiece](ctx, r.c, "get_result", []string{resultID}, params)
}

// Text is the whole JSON text, piece by piece.
func (r *Results) Text(ctx context.Context, resultID string) (string, error) {
	var whole strings.Builder
	for offset := Ptr(0); offset != nil; {
		piece, err := r.Get(ctx, resultID, GetResultParams{Offset: offset})
		if err != nil {
			return "", err
		}
		whole.WriteString(piece.Content)
		offset = piece.NextOffset
	}
	return whole.String(), nil
}

// paged yields the items of all pages, and at the end an error if there was one.
func paged[T any](cursor string, fetch func(cursor string) ([]T, string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for next := cursor; ; {
			items, after, err := fetch(next)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if after == "" {
				return
			}
			next = after
		}
	}
}

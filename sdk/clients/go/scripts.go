package toolgate

import (
	"context"
	"iter"
	"strings"
)

// Scripts call tools and run at the server, where the workspace has code mode on.
type Scripts struct{ c *Client }

// Run runs a module in JavaScript or TypeScript. A run takes up to two minutes: make the client with a Timeout of more
// than that. Where Status is paused, show Pause to the user, and resume the run afterwards.
func (s *Scripts) Run(ctx context.Context, params RunScriptParams) (*ScriptRun, error) {
	return call[ScriptRun](ctx, s.c, "run_script", nil, params)
}

// Resume goes on with a run that was paused; calls that were made are not made again.
func (s *Scripts) Resume(ctx context.Context, runID string) (*ScriptRun, error) {
	return call[ScriptRun](ctx, s.c, "resume_script", []string{runID}, nil)
}

// Cancel ends a run: no further call is made.
func (s *Scripts) Cancel(ctx context.Context, runID string) (*ScriptRun, error) {
	return call[ScriptRun](ctx, s.c, "cancel_script", []string{runID}, nil)
}

// Get reads a run.
func (s *Scripts) Get(ctx context.Context, runID string) (*ScriptRun, error) {
	return call[ScriptRun](ctx, s.c, "get_script_run", []string{runID}, nil)
}

// List is the runs, newest first. Limit is the size of a page.
func (s *Scripts) List(ctx context.Context, params ListScriptRunsParams) iter.Seq2[ScriptRunSummary, error] {
	return paged(params.Cursor, func(cursor string) ([]ScriptRunSummary, string, error) {
		params.Cursor = cursor
		page, err := s.ListPage(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return page.Items, page.NextCursor, nil
	})
}

// ListPage is one page of List.
func (s *Scripts) ListPage(ctx context.Context, params ListScriptRunsParams) (*ScriptRunPage, error) {
	return call[ScriptRunPage](ctx, s.c, "list_script_runs", nil, params)
}

// ScriptTypes names what Types declares.
type ScriptTypes struct {
	// Names of tools.
	Names []string
	// Services: all their tools.
	Services []string
	UserID   string
}

// Types is declarations in TypeScript of what a script sees.
func (s *Scripts) Types(ctx context.Context, of ScriptTypes) (string, error) {
	params := GetToolTypesParams{Names: strings.Join(of.Names, ","), Services: strings.Join(of.Services, ","), UserID: of.UserID}
	text, err := call[string](ctx, s.c, "get_tool_types", nil, params)
	if err != nil {
		return "", err
	}
	return *text, nil
}

// CodeMode is whether scripts run in the workspace.
func (s *Scripts) CodeMode(ctx context.Context) (*CodeMode, error) {
	return call[CodeMode](ctx, s.c, "get_code_mode", nil, nil)
}

// SetCodeMode switches code mode; the key needs the scope admin.
func (s *Scripts) SetCodeMode(ctx context.Context, enabled bool) (*CodeMode, error) {
	// A pointer, because what is zero is not sent.
	params := struct {
		Enabled *bool `in:"body,enabled"`
	}{&enabled}
	return call[CodeMode](ctx, s.c, "set_code_mode", nil, params)
}

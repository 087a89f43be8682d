package toolgate

import (
	"context"
	"iter"
)

// Triggers are tools that the server calls from time to time; each new item in their results becomes an event.
type Triggers struct{ c *Client }

// Create watches with a trigger, as the service's plugin names it.
func (t *Triggers) Create(ctx context.Context, params CreateTriggerParams) (*Trigger, error) {
	return call[Trigger](ctx, t.c, "create_trigger", nil, params)
}

// List is the triggers, newest first. Limit is the size of a page.
func (t *Triggers) List(ctx context.Context, params ListTriggersParams) iter.Seq2[Trigger, error] {
	return paged(params.Cursor, func(cursor string) ([]Trigger, string, error) {
		params.Cursor = cursor
		page, err := t.ListPage(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return page.Triggers, page.NextCursor, nil
	})
}

// ListPage is one page of List.
func (t *Triggers) ListPage(ctx context.Context, params ListTriggersParams) (*TriggerList, error) {
	return call[TriggerList](ctx, t.c, "list_triggers", nil, params)
}

// Get reads a trigger.
func (t *Triggers) Get(ctx context.Context, triggerID string) (*Trigger, error) {
	return call[Trigger](ctx, t.c, "get_trigger", []string{triggerID}, nil)
}

// Update changes the given fields.
func (t *Triggers) Update(ctx context.Context, triggerID string, params UpdateTriggerParams) (*Trigger, error) {
	return call[Trigger](ctx, t.c, "update_trigger", []string{triggerID}, params)
}

// Delete ends a trigger, with what it remembers.
func (t *Triggers) Delete(ctx context.Context, triggerID string) (*DeletedTrigger, error) {
	return call[DeletedTrigger](ctx, t.c, "delete_trigger", []string{triggerID}, nil)
}

// Test calls the tool and answers the items of the last day; no event is sent.
func (t *Triggers) Test(ctx context.Context, triggerID string) (*TriggerTest, error) {
	return call[TriggerTest](ctx, t.c, "test_trigger", []string{triggerID}, nil)
}

// TestSince is Test for the items from params.Since on.
func (t *Triggers) TestSince(ctx context.Context, triggerID string, params TestTriggerParams) (*TriggerTest, error) {
	return call[TriggerTest](ctx, t.c, "test_trigger", []string{triggerID}, params)
}

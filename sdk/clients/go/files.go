package toolgate

import (
	"context"
	"iter"
)

// Files are what users uploaded for tools, and what tools returned, each named by a handle.
type Files struct{ c *Client }

// List is all files that have not expired, newest first. Limit is the size of a page.
func (f *Files) List(ctx context.Context, params ListFilesParams) iter.Seq2[StoredFile, error] {
	return paged(params.Cursor, func(cursor string) ([]StoredFile, string, error) {
		params.Cursor = cursor
		page, err := f.ListPage(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return page.Files, page.NextCursor, nil
	})
}

// ListPage is one page of List.
func (f *Files) ListPage(ctx context.Context, params ListFilesParams) (*FilePage, error) {
	return call[FilePage](ctx, f.c, "list_files", nil, params)
}

// Get is a file's name, type, size and hash.
func (f *Files) Get(ctx context.Context, fileID string) (*StoredFile, error) {
	return call[StoredFile](ctx, f.c, "get_file", []string{fileID}, nil)
}

// Text is a piece of a file's text: of text, JSON, XML, HTML and PDF.
func (f *Files) Text(ctx context.Context, fileID string, params ReadFileTextParams) (*FileText, error) {
	return call[FileText](ctx, f.c, "read_file_text", []string{fileID}, params)
}

// Delete removes a file before it expires.
func (f *Files) Delete(ctx context.Context, fileID string) (*DeletedFile, error) {
	return call[DeletedFile](ctx, f.c, "delete_file", []string{fileID}, nil)
}

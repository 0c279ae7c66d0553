package refresh

import (
	"context"
	"errors"
	"fmt"
)

// MaxPages limits the number of pages of one answer, to stop an endless answer. It is many times the number that the largest region has.
const MaxPages = 2000

// PageError is an answer whose pages don't end.
type PageError struct {
	// Pages that were read.
	Pages int
	// Token that was returned twice; empty if there were only too many pages.
	Token string
}

func (e *PageError) Error() string {
	if e.Token != "" {
		return fmt.Sprintf("after %d pages the token of an earlier page was returned again: the answer does not end", e.Pages)
	}
	return fmt.Sprintf("the answer has more than %d pages, the maximum", e.Pages)
}

// Pages reads an answer page by page. It calls read(token) with the token of the page to read, nil for the first page. This call returns
// the token of the next page, nil or empty after the last page. The answer is complete unless Pages returns an error: that of read(token),
// that of the context, or a *PageError.
func Pages(ctx context.Context, read func(token *string) (next *string, err error)) error {
	if ctx == nil || read == nil {
		return errors.New("reading pages: the context or the function that reads a page is missing")
	}
	var token *string
	seen := map[string]bool{}
	for page := range MaxPages {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, err := read(token)
		if err != nil {
			return err
		}
		if next == nil || *next == "" {
			return nil
		}
		if seen[*next] {
			return &PageError{Pages: page + 1, Token: *next}
		}
		seen[*next] = true
		token = next
	}
	return &PageError{Pages: MaxPages}
}

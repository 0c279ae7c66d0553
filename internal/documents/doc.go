// Package documents checks that pages of docs/ agree with the code: its tests compute each number that a page prints and compare it with
// the page. Links, drawings and words are the business of package internal/rules.
//
//	go test ./internal/documents           # compare
//	go test ./internal/documents -update   # write the pages' numbers again
package documents

// Package documents checks that pages of docs/ agree with the code. Its tests compute each number on a page and compare the result with the
// page. Package internal/rules checks links, drawings and words.
//
//	go test ./internal/documents           # compare
//	go test ./internal/documents -update   # write the pages' numbers again
package documents

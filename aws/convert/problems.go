package convert

import (
	"fmt"
	"strings"
)

// Position is the position of an object in the input.
type Position struct {
	// Source is the name of the file or stream.
	Source string `json:"source,omitempty"`
	// Document is the number of the document in it, from 1.
	Document int `json:"document"`
	// Item is the number of the item in a list, from 1; 0 outside of lists.
	Item int `json:"item,omitempty"`
	// Line where the document begins, or where the text becomes invalid, from 1.
	Line int `json:"line"`
}

// String returns "file.yaml:12 (document 2, item 3)".
func (p Position) String() string {
	text := fmt.Sprintf("%s:%d (document %d", p.Source, p.Line, p.Document)
	if p.Item > 0 {
		text += fmt.Sprintf(", item %d", p.Item)
	}
	return text + ")"
}

// sameDocument reports whether both positions are in the same document, and in a list also in the same item.
func (p Position) sameDocument(o Position) bool {
	return p.Source == o.Source && p.Document == o.Document && p.Item == o.Item
}

// Problem is one reason why the input can't be read.
type Problem struct {
	Position
	// Object is "Kind/name" as far as known.
	Object string `json:"object,omitempty"`
	// Message says what is wrong.
	Message string `json:"message"`
}

// place returns the position of the problem, and a colon.
func (p Problem) place() string { return p.Position.String() + ": " }

// String returns the problem on one line.
func (p Problem) String() string {
	text := p.place()
	if p.Object != "" {
		text += p.Object + ": "
	}
	return text + p.Message
}

// DecodeError lists all reasons why the input can't be read.
type DecodeError struct {
	// Problems are the reasons, in the order of the input; there is at least one.
	Problems []Problem
}

// Error lists the problems, one per line.
func (e *DecodeError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

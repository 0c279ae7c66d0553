package yamledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth is how deep a document may be nested.
const maxDepth = 100

// Apply returns a document with the value want: maps with string keys, lists, strings, numbers, booleans and nil, as encoding/json decodes
// them. The text is one YAML document, with or without the line "---". If a text has anchors, or parts of it can't be edited line by line,
// the text or these parts are encoded again. The result always has the value want.
func Apply(text []byte, want any) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	if len(root.Content) != 1 {
		return nil, errors.New("the document has no value")
	}
	if err := checkDepth(&root, 0); err != nil {
		return nil, err
	}
	e := newEditor(text, root.Content[0])
	if !hasAlias(root.Content[0]) && isBlockMapping(root.Content[0]) {
		if fields, ok := want.(map[string]any); ok {
			if edited := e.document(root.Content[0], fields); hasValue(edited, want) {
				return edited, nil
			}
		}
	}
	merged, err := e.merged(&root, want)
	if err != nil {
		return nil, err
	}
	if !hasValue(merged, want) {
		return nil, errors.New("cannot write the new value into this document")
	}
	return merged, nil
}

// merged encodes the whole document again. It keeps the comments and the order of keys, unless the document has anchors or aliases.
func (e *editor) merged(root *yaml.Node, want any) ([]byte, error) {
	if hasAlias(root.Content[0]) {
		return e.encode(nodeOf(want), 0), nil
	}
	document := *root
	document.Content = []*yaml.Node{e.merge(root.Content[0], want, "")}
	text := e.encode(&document, 0)
	if bytes.HasPrefix(e.text, []byte("---")) {
		text = append([]byte("---\n"), text...)
	}
	return text, nil
}

func hasValue(text []byte, want any) bool {
	var got any
	if yaml.Unmarshal(text, &got) != nil {
		return false
	}
	return equal("", generic(got), generic(want))
}

// generic returns a value as encoding/json decodes it.
func generic(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

func checkDepth(n *yaml.Node, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("line %d: the document is nested deeper than %d", n.Line, maxDepth)
	}
	for _, c := range n.Content {
		if err := checkDepth(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || n.Anchor != "" || slices.ContainsFunc(n.Content, hasAlias)
}

func isBlock(n *yaml.Node) bool { return n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0 }

func isBlockMapping(n *yaml.Node) bool  { return n.Kind == yaml.MappingNode && isBlock(n) }
func isBlockSequence(n *yaml.Node) bool { return n.Kind == yaml.SequenceNode && isBlock(n) }

// valueOf returns the value of a node as encoding/json decodes it.
func valueOf(n *yaml.Node) any {
	var value any
	if n.Decode(&value) != nil {
		return nil
	}
	return generic(value)
}

// editor edits one document.
type editor struct {
	text []byte
	// lines are the lines of text, with their line ends.
	lines []string
	// compact is true if the items of a list are not indented relative to the key of the list.
	compact bool
	// left contains the blocks that do not stay at their old position: entries of mappings, and items of lists. Its keys are results of
	// identity.
	left map[string][]block
	// wanted contains each part of the wanted value. Its keys are results of identity.
	wanted map[string]bool
}

// block contains lines of the text: comments, and an entry or item that begins in lines[top], at column (counted from 1).
type block struct {
	lines       []string
	top, column int
}

func newEditor(text []byte, root *yaml.Node) *editor {
	e := &editor{text: text, left: map[string][]block{}, wanted: map[string]bool{}}
	for line := range strings.Lines(string(text)) {
		e.lines = append(e.lines, line)
	}
	if n := len(e.lines); n > 0 && !strings.HasSuffix(e.lines[n-1], "\n") {
		e.lines[n-1] += "\n"
	}
	e.compact = compactOf(root)
	return e
}

// compactOf looks for the first block list that is the value of a key. It reports whether the dashes of this list are in the same column as
// the key.
func compactOf(n *yaml.Node) bool {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if v := n.Content[i+1]; isBlockSequence(v) {
				return v.Column == n.Content[i].Column
			}
		}
	}
	return slices.ContainsFunc(n.Content, compactOf)
}

// document returns the text of the document with the value want.
func (e *editor) document(root *yaml.Node, want map[string]any) []byte {
	e.note(want)
	first := root.Content[0].Line - 1
	e.collect(root, want, first)
	var out strings.Builder
	for _, line := range e.lines[:first] {
		out.WriteString(line)
	}
	end := len(e.lines)
	for _, line := range e.mapping(root, want, first, end) {
		out.WriteString(line)
	}
	return []byte(out.String())
}

// identity returns the key of the maps left and wanted for the entry with this name and value; name is "" for a list item.
func identity(name string, value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return name + "\x00" + string(text)
}

// note adds all entries and items of a value to e.wanted, so that e.mapping can detect removed entries that only move to another position.
func (e *editor) note(want any) {
	switch v := want.(type) {
	case map[string]any:
		for name, value := range v {
			e.wanted[identity(name, value)] = true
			e.note(value)
		}
	case []any:
		for _, item := range v {
			e.wanted[identity("", item)] = true
			e.note(item)
		}
	}
}

// collect adds to e.left the blocks of n that want lacks or for which it has another value. If such a block only moves to another position,
// its text can be used again. Lines before line least belong to other nodes.
func (e *editor) collect(n *yaml.Node, want any, least int) {
	switch {
	case isBlockMapping(n):
		fields, _ := want.(map[string]any)
		for i, at := range e.spans(n, least, len(e.lines)) {
			key, value := n.Content[2*i], n.Content[2*i+1]
			now := valueOf(value)
			next, stays := fields[key.Value]
			if stays && equal(key.Value, now, next) {
				continue
			}
			id := identity(key.Value, now)
			e.left[id] = append(e.left[id], block{slices.Clone(e.lines[at.from:at.to]), key.Line - 1 - at.from, key.Column})
			e.collect(value, next, key.Line)
		}
	case isBlockSequence(n):
		items, _ := want.([]any)
		for i, at := range e.spans(n, least, len(e.lines)) {
			now := valueOf(n.Content[i])
			if slices.ContainsFunc(items, func(next any) bool { return equal("", now, next) }) {
				continue
			}
			id := identity("", now)
			e.left[id] = append(e.left[id], block{slices.Clone(e.lines[at.from:at.to]), e.start(n, i) - 1 - at.from, n.Column})
			e.collect(n.Content[i], nil, n.Content[i].Line-1)
		}
	}
}

// mapping returns the lines with index from to end-1, which contain the block mapping n, changed so that n has the value want.
func (e *editor) mapping(n *yaml.Node, want map[string]any, from, end int) []string {
	prefix := e.lines[n.Content[0].Line-1][:n.Column-1]
	spaces := strings.Repeat(" ", n.Column-1)
	spans := e.spans(n, from, end)
	var out []string
	known := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value, at := n.Content[i], n.Content[i+1], spans[i/2]
		lines := slices.Clone(e.lines[at.from:at.to])
		if top := key.Line - 1 - at.from; i == 0 {
			lines[top] = spaces + lines[top][n.Column-1:]
		}
		known[key.Value] = true
		next, stays := want[key.Value]
		switch {
		case !stays && e.wanted[identity(key.Value, valueOf(value))]:
			// The entry moves to another position, together with its comments.
		case !stays:
			out = append(out, e.comments(lines)...)
		case equal(key.Value, valueOf(value), next):
			out = append(out, lines...)
		default:
			out = append(out, e.entry(key, value, next, at, lines)...)
		}
	}
	var more []string
	for _, name := range order(want) {
		if !known[name] {
			more = append(more, e.render(name, want[name], n.Column)...)
		}
	}
	rest := e.lines[spans[len(spans)-1].to:end]
	out = append(append(out, more...), rest...)
	if prefix != spaces {
		for i, line := range out {
			if t := strings.TrimSpace(line); t != "" && t[0] != '#' {
				out[i] = prefix + line[n.Column-1:]
				// Comments above this line are now above the dash of the list item, and still belong to this item.
				break
			}
		}
	}
	return out
}

// comments gets the lines of a removed entry, and returns the empty lines and comments at their beginning, or nil if there is no comment.
func (e *editor) comments(lines []string) []string {
	n := 0
	for n < len(lines) {
		if t := strings.TrimSpace(lines[n]); t != "" && t[0] != '#' {
			break
		}
		n++
	}
	if !slices.ContainsFunc(lines[:n], func(line string) bool { return strings.TrimSpace(line) != "" }) {
		return nil
	}
	return lines[:n]
}

// entry returns the lines of an entry with the new value next.
func (e *editor) entry(key, value *yaml.Node, next any, at span, lines []string) []string {
	top := key.Line - 1 - at.from // the index of the key in lines
	switch fields := next.(type) {
	case map[string]any:
		if isBlockMapping(value) && value.Line > key.Line && len(fields) > 0 {
			return append(slices.Clone(lines[:top+1]), e.mapping(value, fields, key.Line, at.to)...)
		}
	case []any:
		if isBlockSequence(value) && value.Line > key.Line && len(fields) > 0 {
			return append(slices.Clone(lines[:top+1]), e.sequence(value, fields, key.Line, at.to)...)
		}
	default:
		if value.Line == key.Line && isPlainScalar(value) {
			if line, ok := e.scalar(value, next, lines[top]); ok {
				return append(append(slices.Clone(lines[:top]), line), lines[top+1:]...)
			}
		}
	}
	merged := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: key.Value, Style: key.Style}, e.merge(value, next, key.Value)}}
	e.breakLong(merged, key.Column-1)
	return append(slices.Clone(lines[:top]), e.encoded(merged, key.Column-1)...)
}

// longest is the maximum length of a line with a mapping or list in flow style ({} or []).
const longest = 120

// breakLong changes mappings and lists from flow style ({} or []) to block style if their line would be longer than longest.
func (e *editor) breakLong(n *yaml.Node, indent int) {
	if n.Style&yaml.FlowStyle != 0 && len(e.encode(n, 0))+indent > longest {
		n.Style &^= yaml.FlowStyle
	}
	if n.Style&yaml.FlowStyle == 0 {
		for i, c := range n.Content {
			if n.Kind == yaml.SequenceNode || n.Kind == yaml.MappingNode && i%2 == 1 {
				e.breakLong(c, indent+2)
			}
		}
	}
}

package yamledit

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// render returns the lines of a new entry. If e.left contains the entry, or parts of it, render uses their lines again.
func (e *editor) render(name string, value any, column int) []string {
	id := identity(name, generic(value))
	if blocks := e.left[id]; len(blocks) > 0 {
		e.left[id] = blocks[1:]
		return moved(blocks[0], column)
	}
	head := string(bytes.TrimSuffix(e.encode(nodeOf(name), 0), []byte("\n")))
	indent := strings.Repeat(" ", column-1)
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			break
		}
		out := []string{indent + head + ":\n"}
		for _, key := range order(v) {
			out = append(out, e.render(key, v[key], column+2)...)
		}
		return out
	case []any:
		if len(v) == 0 || !hasMap(v) {
			break
		}
		at := column + 2
		if e.compact {
			at = column
		}
		out := []string{indent + head + ":\n"}
		for _, item := range v {
			out = append(out, e.item(item, at)...)
		}
		return out
	}
	entry := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{nodeOf(name), nodeOf(value)}}
	return e.encoded(entry, column-1)
}

func hasMap(list []any) bool {
	return slices.ContainsFunc(list, func(item any) bool { _, ok := item.(map[string]any); return ok })
}

// item returns the lines of a new list item. If e.left contains the item, it uses those lines again.
func (e *editor) item(value any, column int) []string {
	id := identity("", generic(value))
	if blocks := e.left[id]; len(blocks) > 0 {
		e.left[id] = blocks[1:]
		return moved(blocks[0], column)
	}
	return e.encoded(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{nodeOf(value)}}, column-1)
}

// moved returns the lines of a block, indented so that it begins at column. Empty lines above line top and at the end are left out.
func moved(b block, column int) []string {
	shift := column - b.column
	var out []string
	for i, line := range b.lines {
		switch {
		case strings.TrimSpace(line) == "":
			if i < b.top {
				continue
			}
		case i == b.top && b.column-1 <= len(line) && strings.TrimSpace(line[:b.column-1]) != "":
			line = strings.Repeat(" ", column-1) + line[b.column-1:] // a dash precedes the entry: leave it out
		case shift > 0:
			line = strings.Repeat(" ", shift) + line
		case indentOf(line) >= -shift:
			line = line[-shift:]
		}
		out = append(out, line)
	}
	for len(out) > 0 && strings.TrimSpace(out[len(out)-1]) == "" {
		out = out[:len(out)-1]
	}
	return out
}

// order returns the keys: first apiVersion, kind, metadata, spec, key, name and operator, then all other keys, sorted.
func order(fields map[string]any) []string {
	first := []string{"apiVersion", "kind", "metadata", "spec", "key", "name", "operator"}
	rank := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	return slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
}

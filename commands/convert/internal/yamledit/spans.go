package yamledit

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// span is a range of lines, counted from 0. The line with index to is not included.
type span struct{ from, to int }

// spans returns the lines of each entry of a block mapping or each item of a block list. No span begins before the line of the parameter
// least. A comment belongs to the entry or item below the comment.
func (e *editor) spans(n *yaml.Node, least, end int) []span {
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	var list []span
	last := 0
	for i := 0; i < len(n.Content); i += step {
		last = e.start(n, i) - 1
		from := e.above(last, n.Column, least)
		if i > 0 {
			list[len(list)-1].to = from
		}
		list = append(list, span{from, end})
		least = last + 1
	}
	if len(list) > 0 {
		list[len(list)-1].to = e.below(last, n.Column, end, n.Kind == yaml.SequenceNode)
	}
	return list
}

// start returns the line of entry or item i, counted from 1.
func (e *editor) start(n *yaml.Node, i int) int {
	item := n.Content[i]
	if n.Kind == yaml.MappingNode || item.Line <= 0 {
		return item.Line
	}
	// A list item may begin on a line below its dash.
	for line := item.Line; line >= 1 && line <= len(e.lines); line-- {
		text := e.lines[line-1]
		if len(text) >= n.Column && text[n.Column-1] == '-' && strings.TrimSpace(text[:n.Column-1]) == "" || line == n.Line {
			return line
		}
	}
	return item.Line
}

// above returns the index of the first line in the block of empty lines and comments directly above line from, or from if there is no such
// block. The block does not extend above line least, nor to comments that are indented further than column.
func (e *editor) above(from, column, least int) int {
	for from > least {
		line := strings.TrimSpace(e.lines[from-1])
		if line != "" && (line[0] != '#' || indentOf(e.lines[from-1]) > column-1) {
			break
		}
		from--
	}
	return from
}

// below returns the index after the last line of the entry (or of the list item, if list is true) that begins in line from, at column. The
// entry ends before line end at the latest.
func (e *editor) below(from, column, end int, list bool) int {
	to := from + 1
	for line := from + 1; line < end; line++ {
		text := e.lines[line]
		trimmed := strings.TrimSpace(text)
		switch indent := indentOf(text); {
		case trimmed == "":
			continue
		case indent > column-1, indent == column-1 && !list && trimmed[0] == '-' && (len(trimmed) == 1 || trimmed[1] == ' ') && e.compact:
			to = line + 1
		default:
			return to
		}
	}
	return to
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

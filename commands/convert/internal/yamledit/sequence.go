package yamledit

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func isPlainScalar(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && !strings.Contains(n.Value, "\n")
}

// scalar returns the line with the old scalar replaced by the new value, or false if that is not possible.
func (e *editor) scalar(old *yaml.Node, next any, line string) (string, bool) {
	if old.Kind != yaml.ScalarNode || old.Column < 1 || old.Column-1 > len(line) {
		return "", false
	}
	node := nodeOf(next)
	if node.Kind != yaml.ScalarNode {
		return "", false
	}
	if node.ShortTag() == "!!str" && old.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		node.Style = old.Style
	}
	written := strings.TrimSuffix(string(e.encode(node, 0)), "\n")
	if strings.Contains(written, "\n") {
		return "", false
	}
	rest := line[old.Column-1:]
	length := -1
	for end := 0; end <= len(rest); end++ { // find the shortest text that has the old value and ends before white space or at the end of the line
		if end < len(rest) && !strings.ContainsRune(" \t\r\n", rune(rest[end])) {
			continue
		}
		var got yaml.Node
		if yaml.Unmarshal([]byte(rest[:end]), &got) == nil && len(got.Content) == 1 && got.Content[0].Value == old.Value {
			length = end
			break
		}
	}
	if length < 0 {
		return "", false
	}
	return line[:old.Column-1] + written + rest[length:], true
}

// sequence returns the lines with index from to end-1, which contain the block list n, changed so that n has the value want.
func (e *editor) sequence(n *yaml.Node, want []any, from, end int) []string {
	spans := e.spans(n, from, end)
	values := make([]any, len(n.Content))
	for i, item := range n.Content {
		values[i] = valueOf(item)
	}
	pair := pairs(values, want)
	var out []string
	for i, next := range want {
		at := pair[i]
		if at < 0 {
			out = append(out, e.item(next, n.Column)...)
			continue
		}
		lines := slices.Clone(e.lines[spans[at].from:spans[at].to])
		item := n.Content[at]
		fields, isMap := next.(map[string]any)
		switch {
		case equal("", values[at], next):
			out = append(out, lines...)
		case isMap && isBlockMapping(item) && item.Line == e.start(n, at):
			head := item.Line - 1 - spans[at].from
			out = append(append(out, lines[:head]...), e.mapping(item, fields, item.Line-1, spans[at].to)...)
		default:
			head := e.start(n, at) - 1 - spans[at].from
			list := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{e.merge(item, next, "")}}
			e.breakLong(list, n.Column-1)
			out = append(append(out, lines[:head]...), e.encoded(list, n.Column-1)...)
		}
	}
	return append(out, e.lines[spans[len(spans)-1].to:end]...)
}

// pairs returns, for each wanted item, the index of the matching old item: an equal item, or else an item with the same name, key, id,
// deviceName or metadata. The index is -1 if no old item matches.
func pairs(old, want []any) []int {
	pair := make([]int, len(want))
	taken := make([]bool, len(old))
	find := func(next any, same func(a, b any) bool) int {
		for at, value := range old {
			if !taken[at] && same(value, next) {
				taken[at] = true
				return at
			}
		}
		return -1
	}
	for i, next := range want {
		pair[i] = find(next, func(a, b any) bool { return equal("", a, b) })
	}
	for i, next := range want {
		if pair[i] < 0 {
			pair[i] = find(next, sameName)
		}
	}
	return pair
}

func sameName(a, b any) bool {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	for _, key := range []string{"name", "key", "id", "deviceName", "metadata"} {
		if x[key] != nil && y[key] != nil {
			return reflect.DeepEqual(x[key], y[key])
		}
	}
	return false
}

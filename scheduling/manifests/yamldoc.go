package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/drawknife/drawknife/scheduling/manifests/internal/doctree"
	"go.yaml.in/yaml/v3"
)

// unfoldFactor limits the JSON of a document to this multiple of the length of its YAML, if the JSON is longer than unfoldFloor. Longer
// JSON is treated as an attack by aliases. Without aliases, the JSON is at most about six times as long as the YAML, because of escapes.
const (
	unfoldFactor = 8
	unfoldFloor  = 4 << 20
)

// readYAML reads one YAML document.
func (l *loader) readYAML(o origin) {
	text := l.sources[o.source].Data[o.at.Start:o.at.End]
	if head, items, ok := splitBlockList(text); ok && l.readYAMLItems(o, head, items) {
		return
	}
	docs, err := doctree.ParseYAML(text)
	if err != nil {
		l.malformedYAML(o, err)
		return
	}
	for _, doc := range docs {
		l.readYAMLNode(o, doc)
		if len(docs) > 1 {
			// The YAML parser found several documents, because it also recognises line ends other than \n before a separator. Line numbers
			// count from the first of these documents.
			o.document++
		}
	}
}

func (l *loader) malformedYAML(o origin, err error) {
	if l.problems.full() {
		return
	}
	line := l.lineAt(o.source, o.at.Start)
	var syntax *doctree.SyntaxError
	var node *doctree.NodeError
	switch {
	case errors.As(err, &syntax) && syntax.Line > 0:
		line += syntax.Line - 1
	case errors.As(err, &node):
		line += node.Node.Line - 1
	}
	l.malformedLine(o, line, err)
}

func (l *loader) readYAMLNode(o origin, n *yaml.Node) {
	n = doctree.ResolveAlias(n)
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return
	case n.Kind != yaml.MappingNode:
		l.malformedYAML(o, &doctree.NodeError{Node: n, Cause: fmt.Errorf("%w, not %s", errNotObject, doctree.Describe(n))})
		return
	}
	h := yamlHeader(n, header{})
	items := child(n, "items")
	inherited, isList := h.list(items != nil)
	if !isList {
		l.readYAMLObject(o, n, h)
		return
	}
	l.readYAMLListMetadata(o, n, h)
	switch {
	case items == nil || items.ShortTag() == "!!null":
		return
	case items.Kind != yaml.SequenceNode:
		l.malformedYAML(o, &doctree.NodeError{Node: items, Cause: errItems})
		return
	}
	for i, item := range items.Content {
		o.item, o.steps = i+1, stepItem
		l.readYAMLItem(o, doctree.ResolveAlias(item), inherited)
	}
}

func (l *loader) readYAMLItem(o origin, n *yaml.Node, inherited header) {
	if n.Kind != yaml.MappingNode {
		l.malformedYAML(o, &doctree.NodeError{Node: n, Cause: errItem})
		return
	}
	h := yamlHeader(n, inherited)
	if _, isList := h.list(child(n, "items") != nil); isList {
		l.malformedYAML(o, &doctree.NodeError{Node: n, Cause: errNestedList})
		return
	}
	l.readYAMLObject(o, n, h)
}

func (l *loader) readYAMLObject(o origin, n *yaml.Node, h header) {
	text, err := l.toJSON(o, n)
	if err != nil {
		l.malformedYAML(o, err)
		return
	}
	l.readObject(o, h, text)
}

func yamlHeader(n *yaml.Node, h header) header {
	if v := child(n, "apiVersion"); v != nil && v.Kind == yaml.ScalarNode {
		h.apiVersion = v.Value
	}
	if v := child(n, "kind"); v != nil && v.Kind == yaml.ScalarNode {
		h.kind = v.Value
	}
	return h
}

func (l *loader) toJSON(o origin, n *yaml.Node) ([]byte, error) {
	limit := unfoldFloor + unfoldFactor*int64(o.at.End-o.at.Start)
	w := doctree.JSONWriter{Limit: int(min(limit, max(l.unfoldBudget()-l.unfolded, 0))), MaxDepth: l.limits.Depth}
	err := w.Write(n, 1)
	l.unfolded += int64(len(w.Out))
	return w.Out, err
}

// unfoldBudget returns the largest total size, in bytes, of the JSON to which all YAML documents are converted.
func (l *loader) unfoldBudget() int64 { return unfoldFactor * l.limits.Bytes }

// anchor matches possible anchors. A list with an anchor can't be split into items, because items may refer to each other.
var anchor = regexp.MustCompile(`(?m)(?:^|[\s\[{,])&[^\s&]`)

// splitBlockList splits a list in the form that kubectl writes into its items, without parsing the list. So the items can be parsed one at
// a time. In this form, "items:" and the "- " of each item have no indentation. It returns the document without the items (head), which
// contains the kind, and the positions of the items in text.
func splitBlockList(text []byte) (head []byte, items []doctree.Span, ok bool) {
	const title = "items:"
	start := 0
	if !bytes.HasPrefix(text, []byte(title)) {
		start = bytes.Index(text, []byte("\n"+title)) + 1
		if start == 0 {
			return nil, nil, false
		}
	}
	if anchor.Match(text) {
		return nil, nil, false
	}
	lineEnd := doctree.EndOfLine(text, start)
	if len(bytes.TrimSpace(text[start+len(title):lineEnd])) > 0 {
		return nil, nil, false
	}
	pos := lineEnd
	for pos < len(text) {
		end := doctree.EndOfLine(text, pos)
		line := text[pos:end]
		switch {
		case bytes.HasPrefix(line, []byte("- ")):
			items = append(items, doctree.Span{Start: pos, End: end})
		case isContinuation(line):
			if len(items) > 0 {
				items[len(items)-1].End = end
			} else if len(bytes.TrimSpace(line)) > 0 {
				return nil, nil, false // the items are indented: this function does not split them
			}
		default:
			if len(items) == 0 {
				return nil, nil, false
			}
			return append(bytes.Clone(text[:start]), text[pos:]...), items, !bytes.Contains(text[pos:], []byte("\n"+title))
		}
		pos = end
	}
	return text[:start], items, len(items) > 0
}

// isContinuation reports whether a line belongs to the item above it.
func isContinuation(line []byte) bool {
	return strings.IndexByte(" \t\r\n#", line[0]) >= 0
}

// readYAMLItems reads a list that splitBlockList has split. If splitBlockList could not split the text, readYAMLItems does nothing and
// returns false.
func (l *loader) readYAMLItems(o origin, head []byte, items []doctree.Span) bool {
	docs, err := doctree.ParseYAML(head)
	if err != nil || len(docs) != 1 || docs[0].Kind != yaml.MappingNode {
		return false
	}
	h := yamlHeader(docs[0], header{})
	inherited, isList := h.list(true)
	if !isList {
		return false
	}
	l.readYAMLListMetadata(o, docs[0], h)
	start := o.at.Start
	for i, at := range items {
		item := o
		item.item, item.steps, item.at = i+1, stepElement, doctree.Span{Start: start + at.Start, End: start + at.End}
		docs, err := doctree.ParseYAML(l.sources[o.source].Data[item.at.Start:item.at.End])
		switch {
		case err != nil:
			l.malformedYAML(item, err)
		case len(docs) != 1 || docs[0].Kind != yaml.SequenceNode || len(docs[0].Content) != 1:
			l.malformedYAML(item, errItem)
		default:
			l.readYAMLItem(item, doctree.ResolveAlias(docs[0].Content[0]), inherited)
		}
	}
	return true
}

func (l *loader) readYAMLListMetadata(o origin, list *yaml.Node, h header) {
	metadata := child(list, "metadata")
	if metadata == nil {
		return
	}
	text, err := l.toJSON(o, metadata)
	if err != nil {
		l.malformedYAML(o, err)
		return
	}
	l.checkListMetadata(o, h, text)
}

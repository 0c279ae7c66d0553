package manifests

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// origin is where an object was found. Line numbers are computed only for messages, so that loading a hundred thousand objects does not
// count a hundred million line ends.
type origin struct {
	source, document, item int
	// at is the text the object was cut from: the object itself, one item of a list, or the whole document.
	at span
	// json says how the text is written.
	json bool
	// steps leads from the top of the text to the object.
	steps originSteps
}

// originSteps is how deep in its text an object lies.
type originSteps uint8

const (
	_ originSteps = iota // the text is the object
	// stepElement: the text is a list with the object as only element.
	stepElement
	// stepItem: the text is a List; the object is its item number origin.item.
	stepItem
)

// parsedOrigin is a text that was parsed into a tree.
type parsedOrigin struct {
	source int
	at     span
	root   *yaml.Node
}

// position turns an origin and a field path into a place a person can go to.
func (l *loader) position(o origin, path string) Position {
	p := Position{Source: l.sources[o.source].Name, Document: o.document, Item: o.item}
	root, offset := l.tree(o)
	if root == nil {
		p.Line = l.lineAt(o.source, o.at.start)
		return p
	}
	p.Line = offset + lineOf(root, path)
	return p
}

// tree parses the object at o again. Lines in the tree are too small by offset. It is nil if the text is no document.
func (l *loader) tree(o origin) (root *yaml.Node, offset int) {
	offset = l.lineAt(o.source, o.at.start) - 1
	if l.parsed.root == nil || l.parsed.source != o.source || l.parsed.at != o.at {
		data := l.sources[o.source].Data
		if o.json {
			root = jsonTree(data, o.at, 1, l.limits.Depth)
		} else if docs, err := parseYAML(data[o.at.start:o.at.end]); err == nil && len(docs) > 0 {
			root = docs[0]
		}
		l.parsed = parsedOrigin{o.source, o.at, root}
	}
	root = l.parsed.root
	switch {
	case root == nil:
	case o.steps == stepElement && len(root.Content) > 0:
		root = root.Content[0]
	case o.steps == stepItem:
		if items := child(root, "items"); items != nil && o.item <= len(items.Content) {
			root = items.Content[o.item-1]
		}
	}
	return root, offset
}

func (l *loader) lineAt(source, offset int) int {
	data := l.sources[source].Data
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte{'\n'})
}

// child returns the value of a field of a mapping, or nil.
func child(n *yaml.Node, name string) *yaml.Node {
	n = resolveAlias(n)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return resolveAlias(n.Content[i+1])
		}
	}
	return nil
}

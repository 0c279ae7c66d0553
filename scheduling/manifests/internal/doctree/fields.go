package doctree

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsjson "sigs.k8s.io/json"

	"github.com/drawknife/drawknife/internal/fieldtypes"
	"github.com/drawknife/drawknife/internal/quantities"
)

// splitPath cuts "spec.containers[0].requests[cpu]" into spec, containers, 0, requests, cpu. A key in brackets may contain dots.
func splitPath(path string) []string {
	var steps []string
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case path[0] == '[':
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return append(steps, path[1:])
			}
			steps = append(steps, path[1:end])
			path = path[end+1:]
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				return append(steps, path)
			}
			steps = append(steps, path[:end])
			path = path[end:]
		}
	}
	return steps
}

// LineOf returns the line of the field at path. If the field does not exist, it returns the line of the innermost value on the path that
// exists.
func LineOf(root *yaml.Node, path string) int {
	line := root.Line
	node := ResolveAlias(root)
	for _, step := range splitPath(path) {
		var next *yaml.Node
		switch node.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(node.Content); i += 2 {
				// If two keys are equal, the last one is used, as when decoding.
				if key, ok := keyText(node.Content[i]); ok && key == step {
					next, line = node.Content[i+1], node.Content[i].Line
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
				next = node.Content[i]
				line = next.Line
			}
		}
		if next == nil {
			return line
		}
		node = ResolveAlias(next)
	}
	return line
}

// WrongField is a field whose value has a wrong type.
type WrongField struct {
	Path    string
	Line    int
	Message string
}

// WrongFields compares a document with the type into which it could not be decoded, and returns every field with a wrong type. A decoder
// stops at the first such field. For quantities and durations, it does not name the field.
func WrongFields(root *yaml.Node, into reflect.Type) []WrongField {
	var d typeDiagnosis
	d.visit(root, into, "", root.Line, 0)
	return d.found
}

// mostDepth and mostBytes limit a diagnosis in the same way as the default Limits limit reading.
const (
	mostDepth = 128
	mostBytes = 512 << 20
)

type typeDiagnosis struct {
	found  []WrongField
	steps  int
	merges mergeBudget
}

// maxDiagnosisSteps is the largest number of steps of a diagnosis. The limit is needed for documents with many YAML aliases.
const maxDiagnosisSteps = 200_000

func (d *typeDiagnosis) visit(n *yaml.Node, t reflect.Type, path string, line, depth int) {
	d.steps++
	if d.steps > maxDiagnosisSteps || depth > mostDepth {
		return
	}
	n = ResolveAlias(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case fieldtypes.DecodesItself(t):
		d.leaf(n, t, path, line)
	case t.Kind() == reflect.Struct:
		d.fields(n, t, path, line, depth)
	case t.Kind() == reflect.Map:
		if d.expect(n, yaml.MappingNode, "an object", path, line) {
			d.eachPair(n, func(key string, keyLine int, value *yaml.Node) {
				d.visit(value, t.Elem(), path+"["+key+"]", keyLine, depth+1)
			})
		}
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		if d.expect(n, yaml.SequenceNode, "a list", path, line) {
			for i, item := range n.Content {
				d.visit(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i), item.Line, depth+1)
			}
		}
	default:
		d.leaf(n, t, path, line)
	}
}

func (d *typeDiagnosis) fields(n *yaml.Node, t reflect.Type, path string, line, depth int) {
	if !d.expect(n, yaml.MappingNode, "an object", path, line) {
		return
	}
	d.eachPair(n, func(key string, keyLine int, value *yaml.Node) {
		field, ok := fieldtypes.Member(t, key)
		if !ok {
			return
		}
		child := key
		if path != "" {
			child = path + "." + key
		}
		d.visit(value, field, child, keyLine, depth+1)
	})
}

func (d *typeDiagnosis) eachPair(n *yaml.Node, visit func(key string, line int, value *yaml.Node)) {
	pairs, err := d.merges.flatten(n, 0, mostDepth)
	if err != nil {
		return // such a mapping was already refused because of its form
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if key, ok := keyText(pairs[i]); ok {
			visit(key, pairs[i].Line, pairs[i+1])
		}
	}
}

func (d *typeDiagnosis) expect(n *yaml.Node, kind yaml.Kind, want, path string, line int) bool {
	if n.Kind != kind {
		d.add(path, line, fmt.Sprintf("must be %s, not %s", want, Describe(n)))
		return false
	}
	return true
}

func (d *typeDiagnosis) add(path string, line int, message string) {
	d.found = append(d.found, WrongField{path, line, message})
}

// leaf decodes one value without the rest of the document, and records the error if the decoding fails.
func (d *typeDiagnosis) leaf(n *yaml.Node, t reflect.Type, path string, line int) {
	w := JSONWriter{Limit: mostBytes, MaxDepth: mostDepth}
	if err := w.Write(n, 0); err != nil {
		return
	}
	if err := quantities.CheckJSON(w.Out, t); err != nil {
		d.add(path, line, "must be "+fieldtypes.Wanted(t)+": "+err.Error())
		return
	}
	err := sigsjson.UnmarshalCaseSensitivePreserveInts(w.Out, reflect.New(t).Interface())
	if err == nil {
		return
	}
	message := fmt.Sprintf("must be %s, not %s", fieldtypes.Wanted(t), Describe(n))
	switch {
	case t.Kind() == reflect.String && n.Kind == yaml.ScalarNode:
		message += "; put it in quotes"
	case fieldtypes.DecodesItself(t) && n.Kind == yaml.ScalarNode:
		message += ": " + err.Error()
	}
	d.add(path, line, message)
}

// Describe names the value in the document.
func Describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	}
	value := n.Value
	if runes := []rune(value); len(runes) > 40 {
		value = string(runes[:40]) + "…"
	}
	if _, ok := boolean(n); ok {
		return fmt.Sprintf("the boolean %s", value)
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return fmt.Sprintf("the number %s", value)
	case "!!null":
		return "null"
	}
	return strconv.Quote(value)
}

package yamledit

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

// merge returns a node with the value want. If old and want are of the same kind (mapping, list or scalar), the node has the comments of
// old. For mappings and lists it also has the styles and the order of keys of old.
func (e *editor) merge(old *yaml.Node, want any, name string) *yaml.Node {
	if equal(name, valueOf(old), want) {
		return old
	}
	switch next := want.(type) {
	case map[string]any:
		if old.Kind == yaml.MappingNode {
			return e.mergeMapping(old, next)
		}
	case []any:
		if old.Kind == yaml.SequenceNode {
			return e.mergeSequence(old, next)
		}
	default:
		if old.Kind == yaml.ScalarNode {
			node := nodeOf(want)
			node.HeadComment, node.LineComment, node.FootComment = old.HeadComment, old.LineComment, old.FootComment
			return node
		}
	}
	return nodeOf(want)
}

func (e *editor) mergeMapping(old *yaml.Node, want map[string]any) *yaml.Node {
	node := *old
	node.Content = nil
	known := map[string]bool{}
	for i := 0; i+1 < len(old.Content); i += 2 {
		key := old.Content[i]
		known[key.Value] = true
		if next, ok := want[key.Value]; ok {
			node.Content = append(node.Content, key, e.merge(old.Content[i+1], next, key.Value))
		}
	}
	for _, name := range order(want) {
		if !known[name] {
			node.Content = append(node.Content, nodeOf(name), nodeOf(want[name]))
		}
	}
	return &node
}

func (e *editor) mergeSequence(old *yaml.Node, want []any) *yaml.Node {
	node := *old
	node.Content = nil
	values := make([]any, len(old.Content))
	for i, item := range old.Content {
		values[i] = valueOf(item)
	}
	for i, at := range pairs(values, want) {
		if at < 0 {
			node.Content = append(node.Content, nodeOf(want[i]))
			continue
		}
		node.Content = append(node.Content, e.merge(old.Content[at], want[i], ""))
	}
	return &node
}

// nodeOf returns a new node with a value.
func nodeOf(value any) *yaml.Node {
	switch v := value.(type) {
	case map[string]any:
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, name := range order(v) {
			node.Content = append(node.Content, nodeOf(name), nodeOf(v[name]))
		}
		return node
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v {
			node.Content = append(node.Content, nodeOf(item))
		}
		return node
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			value = int64(v)
		}
	case json.Number:
		value = v.String()
	}
	node := &yaml.Node{}
	if node.Encode(value) != nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	return node
}

// encode returns a node as YAML, with two spaces for each level and indent spaces before each line.
func (e *editor) encode(n *yaml.Node, indent int) []byte {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if e.compact {
		encoder.CompactSeqIndent()
	}
	if encoder.Encode(n) != nil || encoder.Close() != nil {
		return nil
	}
	if indent == 0 {
		return out.Bytes()
	}
	var shifted bytes.Buffer
	for line := range bytes.Lines(out.Bytes()) {
		if len(bytes.TrimSpace(line)) > 0 {
			shifted.WriteString(strings.Repeat(" ", indent))
		}
		shifted.Write(line)
	}
	return shifted.Bytes()
}

func (e *editor) encoded(n *yaml.Node, indent int) []string {
	return slices.Collect(strings.Lines(string(e.encode(n, indent))))
}

// equal reports whether two values mean the same. name is the key of both values, or "" for list items. It decides whether the values are
// quantities or durations, which can be spelled in several ways.
func equal(name string, a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for key, value := range x {
			other, known := y[key]
			if !known || !equal(key, value, other) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal("", x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b) || sameAmount(name, a, b)
}

// sameAmount reports whether a and b are spellings of the same quantity or duration, such as 1000 and 1k, or 720h and 720h0m0s. The name of
// the field determines whether it contains a quantity or a duration.
func sameAmount(name string, a, b any) bool {
	amounts := []string{"cpu", "memory", "ephemeral-storage", "pods", "volumeSize"}
	durations := []string{"expireAfter", "consolidateAfter", "terminationGracePeriod", "duration"}
	x, okX := scalarText(a)
	y, okY := scalarText(b)
	if !okX || !okY || len(x) > 40 || len(y) > 40 {
		return false
	}
	switch {
	case slices.Contains(durations, name):
		left, err := time.ParseDuration(x)
		right, otherErr := time.ParseDuration(y)
		return err == nil && otherErr == nil && left == right
	case slices.Contains(amounts, name) && !strings.ContainsAny(x+y, "eE"):
		left, err := resource.ParseQuantity(x)
		right, otherErr := resource.ParseQuantity(y)
		return err == nil && otherErr == nil && left.Cmp(right) == 0
	}
	return false
}

func scalarText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case float64:
		text, err := json.Marshal(v)
		return string(text), err == nil
	}
	return "", false
}

package gate

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// Index records where objects are declared. The zero value and nil are empty indexes.
type Index struct{ at map[declared]Location }

type declared struct{ kind, namespace, name string }

// Add reads the names of the objects of a file: documents of YAML or JSON, and lists of objects. It skips what it cannot read.
func (x *Index) Add(file string, data []byte) {
	if x.at == nil {
		x.at = map[declared]Location{}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		if decoder.Decode(&document) != nil {
			return
		}
		if len(document.Content) == 1 {
			x.add(file, document.Content[0], 0)
		}
	}
}

// maxNested is the maximum depth of nested lists that are read.
const maxNested = 8

func (x *Index) add(file string, n *yaml.Node, depth int) {
	if items := value(n, "items"); items != nil && items.Kind == yaml.SequenceNode && depth < maxNested {
		for _, item := range items.Content {
			x.add(file, item, depth+1)
		}
		return
	}
	metadata := value(n, "metadata")
	kind, name := scalar(value(n, "kind")), scalar(value(metadata, "name"))
	if kind == "" || name == "" {
		return
	}
	namespace := scalar(value(metadata, "namespace"))
	if namespace == "" {
		namespace = "default"
	}
	key := declared{kind, namespace, name}
	if _, known := x.at[key]; !known {
		x.at[key] = Location{file, max(n.Line, 1)}
	}
}

// Locate returns where a workload is declared.
func (x *Index) Locate(o Object) (Location, bool) {
	if x == nil {
		return Location{}, false
	}
	kind := o.Kind
	if kind == "" {
		kind = "Pod"
	}
	at, ok := x.at[declared{kind, o.Namespace, o.Name}]
	return at, ok
}

// value returns the value of a key of a mapping, or nil.
func value(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

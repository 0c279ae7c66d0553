//go:build ignore

// Command generate makes the CustomResourceDefinitions of this package from the markers on the Go types. controller-gen does most
// of the work; this command adds what markers cannot express.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// chart is the folder of the definitions in their Helm chart. They are copied there, because Helm reads no files outside of a chart.
const chart = "../../examples/controller/charts/drawknife-crd/files"

// generation is one run of the generator: it writes the definitions of some packages into a folder.
type generation struct {
	paths, folder string
	// nextTo is the folder of the definitions to which this version is added. The version is not served until there is a conversion
	// webhook.
	nextTo, version string
}

func generations() []generation {
	return []generation{
		{paths: "../v1/...;../autoscaling/...;../../aws/api/v1/...", folder: "."},
		{paths: "../v1beta1/...;../../aws/api/v1beta1/...", folder: "v1beta1", nextTo: ".", version: "v1beta1"},
		{paths: "../v1alpha5/...;../../aws/api/v1alpha1/...", folder: "alpha"},
	}
}

func run() error {
	for _, g := range generations() {
		if err := g.make(); err != nil {
			return err
		}
	}
	return nil
}

func (g generation) make() error {
	dir, err := os.MkdirTemp("", "crds")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	command := exec.Command("go", "tool", "-modfile=../../internal/tools/go.mod", "controller-gen", "crd",
		"paths="+g.paths, "output:crd:dir="+dir)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("controller-gen: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if g.nextTo != "" {
			text, err = g.join(filepath.Base(file), text)
		} else {
			text, err = complete(text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		for _, to := range []string{".", chart} {
			folder := filepath.Join(to, g.folder)
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(folder, filepath.Base(file)), text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// join adds an old version to the beginning of an existing definition. The old version is neither stored nor served.
func (g generation) join(name string, text []byte) ([]byte, error) {
	present, err := os.ReadFile(filepath.Join(g.nextTo, name))
	if err != nil {
		return nil, err
	}
	var crd, old object
	if err := errors.Join(yaml.Unmarshal(present, &crd), yaml.Unmarshal(text, &old)); err != nil {
		return nil, err
	}
	for _, v := range old["spec"].(object)["versions"].([]any) {
		version := v.(object)
		if version["name"] != g.version {
			continue // the generator also prints the kinds of imported packages
		}
		schema := version["schema"].(object)["openAPIV3Schema"].(object)
		if err := errors.Join(constrain(schema["properties"].(object)["spec"].(object)), bound(schema)); err != nil {
			return nil, err
		}
		conditions(schema)
		version["served"], version["storage"] = false, false
		spec := crd["spec"].(object)
		spec["versions"] = append([]any{version}, spec["versions"].([]any)...)
		return written(crd)
	}
	return nil, fmt.Errorf("the definition has no version %s", g.version)
}

// object is a YAML mapping.
type object = map[string]any

// complete adds what markers can't express to a definition.
func complete(text []byte) ([]byte, error) {
	var crd object
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return nil, err
	}
	spec := crd["spec"].(object)
	for _, v := range spec["versions"].([]any) {
		version := v.(object)
		// controller-gen names versions after packages, but NodeOverlay has version v1alpha1 and is in package v1.
		if spec["names"].(object)["kind"] == "NodeOverlay" {
			version["name"] = "v1alpha1"
		}
		schema := version["schema"].(object)["openAPIV3Schema"].(object)
		if err := errors.Join(constrain(schema["properties"].(object)["spec"].(object)), bound(schema)); err != nil {
			return nil, err
		}
		if version["name"] == "v1alpha5" {
			everyEffect(schema["properties"].(object)["spec"].(object))
			continue
		}
		conditions(schema)
	}
	slices.SortStableFunc(spec["versions"].([]any), func(a, b any) int {
		return cmp.Compare(stored(a), stored(b))
	})
	return written(crd)
}

// stored is a sort key: 1 for the stored version, which comes last.
func stored(version any) int {
	if version.(object)["storage"] == true {
		return 1
	}
	return 0
}

// conditions makes reason and message of conditions optional. Karpenter up to 0.36 wrote conditions without a reason and a message. If
// these fields were required, an object with such a condition could not be written at all, not even to remove its finalizer. The list
// becomes a map with the condition type as key, so that two writers don't overwrite each other's conditions, and an API server can see
// which conditions a write does not change.
func conditions(schema object) {
	status, _ := schema["properties"].(object)["status"].(object)
	properties, _ := status["properties"].(object)
	list, found := properties["conditions"].(object)
	if !found {
		return
	}
	list["x-kubernetes-list-type"], list["x-kubernetes-list-map-keys"] = "map", []any{"type"}
	item := list["items"].(object)
	item["required"] = slices.DeleteFunc(item["required"].([]any), func(field any) bool { return field == "reason" || field == "message" })
	reason := item["properties"].(object)["reason"].(object)
	delete(reason, "minLength")
	reason["pattern"] = `^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?)?$`
}

// everyEffect makes the effect of v1alpha5's taints optional, because its webhook accepted taints without one. So stored objects with such
// taints can still be written, and the conversion reports the error.
func everyEffect(spec object) {
	for _, name := range []string{"taints", "startupTaints"} {
		if list, found := spec["properties"].(object)[name].(object); found {
			item := list["items"].(object)
			item["required"] = []any{"key"}
			item["properties"].(object)["effect"].(object)["enum"] = []any{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}
		}
	}
}

func written(crd object) ([]byte, error) {
	out, err := yaml.Marshal(crd)
	if err != nil {
		return nil, err
	}
	return append([]byte("# Code generated from the Go types; DO NOT EDIT.\n"), bytes.TrimPrefix(out, []byte("---\n"))...), nil
}

const (
	qualifiedName = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	// maxQualifiedName is the maximum length of a domain, a slash and a name.
	maxQualifiedName = 253 + 1 + 63
	// unbounded is the end of controller-gen's pattern for quantities, which allows an exponent of any size.
	unbounded = `([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`
	// bounded allows exponents up to 30. Decoding a quantity writes out all digits that its exponent represents.
	bounded = `([eE](\+|-)?0*([12]?[0-9]|30)))?$`
	// quantity is the pattern of quantities without their sign.
	quantity = `([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|` + bounded
	// maxQuantity is the maximum length of a quantity, as in package internal/quantities.
	maxQuantity = 64
)

// constrain completes the schemas of Kubernetes' own types in a spec, to which we can't add markers: taints, and quantities, which must
// not be negative.
func constrain(schema object) error {
	properties, _ := schema["properties"].(object)
	for name, p := range properties {
		property := p.(object)
		if property["x-kubernetes-preserve-unknown-fields"] == true {
			continue // somebody else's object
		}
		if name == "taints" || name == "startupTaints" {
			taint(property["items"].(object))
			continue
		}
		if name == "volumeSize" {
			// CEL rules parse this text as a quantity, and the API server estimates their cost from its maximum length.
			property["maxLength"] = 32
			property["pattern"] = `^\+?[0-9]{1,18}(\.[0-9]{1,9})?([KMGT]i|[mkMGT])?$`
		}
		if name == "template" {
			labelValues(property)
		}
		if err := constrain(property); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		below, ok := schema[key].(object)
		if !ok {
			continue
		}
		if below["x-kubernetes-int-or-string"] == true {
			if below["type"] == "string" { // a type of this project, which also accepts numbers
				delete(below, "type")
				below["anyOf"] = []any{object{"type": "integer"}, object{"type": "string"}}
				below["pattern"] = `^(\+|-)?(` + quantity
			}
			pattern, _ := below["pattern"].(string)
			positive, found := strings.CutPrefix(pattern, `^(\+|-)?(`)
			if !found {
				return fmt.Errorf("quantities have an unexpected pattern: %q", pattern)
			}
			below["pattern"] = `^\+?(` + positive
			below["minimum"] = 0
			continue
		}
		if err := constrain(below); err != nil {
			return err
		}
	}
	return nil
}

// bound gives every quantity in the schema, of spec and status, a pattern without large exponents and a maximum length.
func bound(schema object) error {
	if pattern, _ := schema["pattern"].(string); schema["x-kubernetes-int-or-string"] == true && strings.Contains(pattern, "numkMGTPE") {
		start, found := strings.CutSuffix(pattern, unbounded)
		if !found && !strings.HasSuffix(pattern, bounded) {
			return fmt.Errorf("quantities have an unexpected pattern: %q", pattern)
		}
		if found {
			schema["pattern"] = start + bounded
		}
		if _, bounded := schema["maxLength"]; !bounded {
			schema["maxLength"] = maxQuantity
		}
	}
	for _, below := range schema {
		if below, ok := below.(object); ok {
			if err := bound(below); err != nil {
				return err
			}
		}
	}
	return nil
}

// labelValues restricts the labels of a pool's nodes to values that Kubernetes accepts.
func labelValues(template object) {
	properties, _ := template["properties"].(object)
	metadata, _ := properties["metadata"].(object)
	inner, _ := metadata["properties"].(object)
	labels, _ := inner["labels"].(object)
	values, found := labels["additionalProperties"].(object)
	if found {
		values["maxLength"], values["pattern"] = 63, `^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
	}
}

func taint(schema object) {
	properties := schema["properties"].(object)
	key, value, effect := properties["key"].(object), properties["value"].(object), properties["effect"].(object)
	key["minLength"], key["maxLength"], key["pattern"] = 1, maxQualifiedName, qualifiedName
	value["maxLength"], value["pattern"] = maxQualifiedName, strings.Replace(strings.TrimSuffix(qualifiedName, "$"), "^", "^(", 1)+")?$"
	effect["enum"] = []any{"NoSchedule", "PreferNoSchedule", "NoExecute"}
	schema["required"] = []any{"effect", "key"}
}

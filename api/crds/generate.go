//go:build ignore

// Command generate makes the CustomResourceDefinitions of this package from the markers on the Go types: controller-gen
// does most, and what its markers can't say is put in here.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// chart is where the chart of the definitions has them: Helm takes no files from outside of a chart.
const chart = "../../examples/controller/charts/drawknife-crd/files"

// generation is a run of the generator: what its packages define goes into a folder.
type generation struct {
	paths, folder string
	// next to is the folder whose definitions these versions are added to, not served until somebody converts them.
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

// join is the definition that is there with one more version in front: an old one, which is neither stored nor served.
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
			continue // the generator shows what the packages import too
		}
		schema := version["schema"].(object)["openAPIV3Schema"].(object)
		if err := constrain(schema["properties"].(object)["spec"].(object)); err != nil {
			return nil, err
		}
		version["served"], version["storage"] = false, false
		spec := crd["spec"].(object)
		spec["versions"] = append([]any{version}, spec["versions"].([]any)...)
		return written(crd)
	}
	return nil, fmt.Errorf("no version %s", g.version)
}

// object is a mapping of YAML.
type object = map[string]any

// complete puts into a definition what markers can't say.
func complete(text []byte) ([]byte, error) {
	var crd object
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return nil, err
	}
	spec := crd["spec"].(object)
	for _, v := range spec["versions"].([]any) {
		version := v.(object)
		// Package v1 holds this kind beside those of v1, and controller-gen names versions after packages.
		if spec["names"].(object)["kind"] == "NodeOverlay" {
			version["name"] = "v1alpha1"
		}
		schema := version["schema"].(object)["openAPIV3Schema"].(object)
		if err := constrain(schema["properties"].(object)["spec"].(object)); err != nil {
			return nil, err
		}
	}
	return written(crd)
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
	// maxQualifiedName is that of a domain, the slash and a name.
	maxQualifiedName = 253 + 1 + 63
	// quantity is the pattern that controller-gen gives quantities, without their sign.
	quantity = `([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`
)

// constrain goes through the schema of a spec and completes those of Kubernetes' own types, which have no markers of ours:
// taints, and quantities, none of which may be negative.
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
			// Its rules read it as a quantity, and what that may cost is reckoned from the longest text.
			property["maxLength"] = 32
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
			if below["type"] == "string" { // a type of ours that reads numbers too
				delete(below, "type")
				below["anyOf"] = []any{object{"type": "integer"}, object{"type": "string"}}
				below["pattern"] = `^(\+|-)?(` + quantity
			}
			pattern, _ := below["pattern"].(string)
			positive, found := strings.CutPrefix(pattern, `^(\+|-)?(`)
			if !found {
				return fmt.Errorf("quantities have another pattern than known: %q", pattern)
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

func taint(schema object) {
	properties := schema["properties"].(object)
	key, value, effect := properties["key"].(object), properties["value"].(object), properties["effect"].(object)
	key["minLength"], key["maxLength"], key["pattern"] = 1, maxQualifiedName, qualifiedName
	value["maxLength"], value["pattern"] = maxQualifiedName, strings.Replace(strings.TrimSuffix(qualifiedName, "$"), "^", "^(", 1)+")?$"
	effect["enum"] = []any{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}
	schema["required"] = []any{"key"}
}

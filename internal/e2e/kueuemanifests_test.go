package e2e_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// Names that Kueue's released manifests are installed under: kustomize puts the prefix before every name, and "system" is the place of
// the namespace.
const (
	kueueNamespace = "kueue-system"
	kueuePrefix    = "kueue-"
)

// kueueManifests are the objects of a release of Kueue but those of its Deployment: definitions, rights, the secret for certificates and
// the webhooks, read from the release's own folder. The API server reaches the webhooks at a port of this machine.
func kueueManifests(release string, webhookPort int64) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, component := range []string{"crd", "rbac", "internalcert", "webhook"} {
		objects, err := kustomized(filepath.Join(release, "config", "components", component))
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if object["kind"] != "CustomResourceDefinition" {
				prefix(object["metadata"])
			}
			adopt(object, webhookPort)
			if object["kind"] == "Service" {
				object["spec"] = map[string]any{"type": "ExternalName", "externalName": "localhost"}
			}
			out = append(out, &unstructured.Unstructured{Object: object})
		}
	}
	return out, nil
}

// kustomized are the objects of a folder with its patches, which is all that Kueue asks of kustomize there.
func kustomized(dir string) ([]map[string]any, error) {
	content, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		return nil, err
	}
	var k struct {
		Resources []string
		Patches   []struct{ Path, Patch string }
	}
	if err := sigsyaml.Unmarshal(content, &k); err != nil {
		return nil, err
	}
	var objects []map[string]any
	for _, name := range k.Resources {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		list, err := documents(content)
		if err != nil {
			return nil, err
		}
		objects = append(objects, list...)
	}
	for _, p := range k.Patches {
		content := []byte(p.Patch)
		if p.Path != "" {
			if content, err = os.ReadFile(filepath.Join(dir, p.Path)); err != nil {
				return nil, err
			}
		}
		patches, err := documents(content)
		if err != nil {
			return nil, err
		}
		for _, patch := range patches {
			i := slices.IndexFunc(objects, func(o map[string]any) bool {
				return o["kind"] == patch["kind"] && named(o["metadata"]) == named(patch["metadata"])
			})
			if i < 0 {
				return nil, errors.New(dir + ": a patch of an object that is not there: " + named(patch["metadata"]))
			}
			merge(objects[i], patch)
		}
	}
	return objects, nil
}

// documents are the objects of a file.
func documents(content []byte) ([]map[string]any, error) {
	var out []map[string]any
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var object map[string]any
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if len(object) > 0 {
			out = append(out, object)
		}
	}
}

// named is the name in a map; empty if there is none.
func named(v any) string {
	m, _ := v.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// merge puts a patch into an object. Elements of lists are merged by their names.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		switch value := value.(type) {
		case map[string]any:
			if old, ok := into[key].(map[string]any); ok {
				merge(old, value)
				continue
			}
		case []any:
			if old, ok := into[key].([]any); ok && !slices.ContainsFunc(value, func(v any) bool { return named(v) == "" }) {
				into[key] = mergeLists(old, value)
				continue
			}
		}
		into[key] = value
	}
}

func mergeLists(old, patch []any) []any {
	for _, element := range patch {
		i := slices.IndexFunc(old, func(v any) bool { return named(v) == named(element) })
		if i < 0 {
			old = append(old, element)
			continue
		}
		merge(old[i].(map[string]any), element.(map[string]any))
	}
	return old
}

// prefix puts Kueue's prefix before a name.
func prefix(v any) {
	if m, ok := v.(map[string]any); ok {
		m["name"] = kueuePrefix + named(m)
	}
}

// adopt puts what an object refers to under the names of the installation.
func adopt(v any, webhookPort int64) {
	switch v := v.(type) {
	case map[string]any:
		if v["namespace"] == "system" {
			v["namespace"] = kueueNamespace
		}
		for key, value := range v {
			switch key {
			case "roleRef":
				prefix(value)
			case "subjects":
				for _, subject := range value.([]any) {
					prefix(subject)
				}
			case "service": // of a webhook
				if service, ok := value.(map[string]any); ok && named(service) == "webhook-service" {
					prefix(service)
					service["port"] = webhookPort
				}
			}
			adopt(value, webhookPort)
		}
	case []any:
		for _, element := range v {
			adopt(element, webhookPort)
		}
	}
}

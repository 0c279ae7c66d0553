package frozen

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/aws/convert"
)

// originals are the full manifests of all kinds and generations, from which random ones are cut.
func originals(t *testing.T) [][]byte {
	t.Helper()
	var out [][]byte
	for _, folder := range []string{"api/v1alpha5", "api/v1beta1", "api/v1", "aws/api/v1alpha1", "aws/api/v1beta1", "aws/api/v1"} {
		files, err := filepath.Glob(filepath.Join("../..", folder, "testdata/*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no manifests in %s: %v", folder, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, data)
		}
	}
	return out
}

// cut is a manifest without some of its fields, by another name.
func cut(t *rapid.T, original []byte) []byte {
	var object map[string]any
	if err := yaml.Unmarshal(original, &object); err != nil {
		t.Fatal(err)
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		metadata["name"] = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
	}
	delete(object, "status")
	if spec, ok := object["spec"].(map[string]any); ok {
		drop(t, spec, 2)
	}
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// drop takes about one field in five away, and of what is in them, so many levels deep.
func drop(t *rapid.T, fields map[string]any, levels int) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if rapid.IntRange(0, 4).Draw(t, key) == 4 {
			delete(fields, key)
		} else if deeper, ok := fields[key].(map[string]any); ok && levels > 0 {
			drop(t, deeper, levels-1)
		}
	}
}

func drawnOptions(t *rapid.T) convert.Options {
	flip := func(name string) bool { return rapid.Bool().Draw(t, name) }
	o := convert.Options{
		Target:         rapid.SampledFrom([]convert.Version{convert.V1, convert.V1Beta1}).Draw(t, "target"),
		IgnoreDefaults: flip("ignoreDefaults"), KeepInstanceProfile: flip("keepInstanceProfile"),
		ReferenceCompat: flip("referenceCompat"), Force: flip("force"),
	}
	if flip("legacy") {
		o.Legacy = &convert.LegacySettings{DefaultInstanceProfile: "profile", Tags: map[string]string{"team": "a"}}
	}
	return o
}

// Manifests of all generations in any mixture, with some of their fields, are rewritten and read as recorded, with the same
// warnings.
func TestFrozenConversions(t *testing.T) {
	all := originals(t)
	answer := func(rt *rapid.T) []byte {
		var in, out bytes.Buffer
		for range rapid.IntRange(1, 4).Draw(rt, "documents") {
			in.WriteString("---\n")
			in.Write(cut(rt, rapid.SampledFrom(all).Draw(rt, "original")))
		}
		options := drawnOptions(rt)
		documents, err := convert.Decode(convert.DecodeOptions{}, convert.Source{Name: "in.yaml", Data: in.Bytes()})
		if err != nil {
			return []byte(err.Error())
		}
		for _, r := range []convert.Result{convert.Rewrite(documents, options), convert.Read(documents, convert.Options{Legacy: options.Legacy})} {
			if err := convert.WriteYAML(&out, r.Objects); err != nil {
				rt.Fatal(err)
			}
			fmt.Fprintln(&out, r.Warnings)
		}
		return out.Bytes()
	}
	Check(t, Recording{File: "testdata/conversions.txt", Count: 2000, Short: 150, Update: *update, Answer: func(_ *testing.T, i int) (string, []byte) {
		return fmt.Sprint(i), Drawn(answer, i)
	}})
}

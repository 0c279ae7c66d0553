// Package manifesttest contains the checks that the tests of every kind of the API use. They check that a manifest can be read and written
// again without a change, directly and through a scheme.
package manifesttest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Object is a kind of the API.
type Object interface {
	runtime.Object
	// Validate returns nil for a valid object.
	Validate() field.ErrorList
}

// RoundTrip reads testdata/file strictly into o, an empty object. It fails t if Validate returns errors, or if the object differs after it
// is written again, copied, or decoded through a scheme to which add adds its kind. If update is set, it writes o to the file, checks only
// Validate, and returns false. If update is not set, it returns true, and the test can continue with o.
func RoundTrip(t *testing.T, file string, o Object, add func(*runtime.Scheme) error, update bool) bool {
	t.Helper()
	path := filepath.Join("testdata", file)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(want, o); err != nil {
		t.Fatal(err)
	}
	if errs := o.Validate(); len(errs) > 0 {
		t.Errorf("refused: %v", errs.ToAggregate())
	}
	got, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return false
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("read and written again (-file +written):\n%s", diff)
	}
	if diff := cmp.Diff(runtime.Object(o), o.DeepCopyObject()); diff != "" {
		t.Errorf("deep copy differs:\n%s", diff)
	}
	scheme := runtime.NewScheme()
	if err := add(scheme); err != nil {
		t.Fatal(err)
	}
	decoded, kind, err := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer().Decode(want, nil, nil)
	if err != nil {
		t.Fatalf("a serialiser built on the scheme: %v", err)
	}
	if diff := cmp.Diff(runtime.Object(o), decoded, cmp.Comparer(sameJSON)); diff != "" || *kind != o.GetObjectKind().GroupVersionKind() {
		t.Errorf("decoded through the scheme as %s:\n%s", kind, diff)
	}
	return true
}

// sameJSON compares blocks that are kept as they were written, regardless of their spaces and the order of their keys.
func sameJSON(a, b runtime.RawExtension) bool {
	var x, y any
	return json.Unmarshal(a.Raw, &x) == nil && json.Unmarshal(b.Raw, &y) == nil && cmp.Equal(x, y)
}

// Seed adds the manifests in testdata to the seeds of a fuzz test.
func Seed(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		seed, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
}

// Reread reads any bytes strictly into o. If it can read them, it writes o, reads the result into the empty object again, and writes this
// object too. It fails t if one of these steps fails or if the two results differ. It reports whether it could read the bytes into o.
func Reread(t *testing.T, manifest []byte, o, again runtime.Object) bool {
	t.Helper()
	if yaml.UnmarshalStrict(manifest, o) != nil {
		return false
	}
	first, err := yaml.Marshal(o)
	if err != nil {
		t.Fatalf("read but can't be written: %v", err)
	}
	if err := yaml.UnmarshalStrict(first, again); err != nil {
		t.Fatalf("what was written can't be read: %v\n%s", err, first)
	}
	if second, err := yaml.Marshal(again); err != nil || !bytes.Equal(first, second) {
		t.Fatalf("written as\n%s\nthen as\n%s (%v)", first, second, err)
	}
	return true
}

// DefaultTwice fills in the defaults of o twice, and fails t if the second time changes anything.
func DefaultTwice(t *testing.T, o interface {
	runtime.Object
	Default()
},
) {
	t.Helper()
	o.Default()
	once, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Default()
	if twice, err := yaml.Marshal(o); err != nil || !bytes.Equal(once, twice) {
		t.Fatalf("defaults are not idempotent:\n%s\nthen\n%s (%v)", once, twice, err)
	}
}

package v1

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/internal/manifesttest"
	"github.com/drawknife/drawknife/internal/seeded"
)

var update = flag.Bool("update", false, "rewrite the golden files in their canonical form")

func read(t testing.TB, file string) *EC2NodeClass {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	class := &EC2NodeClass{}
	if err := yaml.UnmarshalStrict(text, class); err != nil {
		t.Fatal(err)
	}
	return class
}

// AWN-001, AWN-009, AWN-018 to AWN-021, AWN-071 to AWN-075, API-200 to API-215: every field is read, and written as it
// was.
func TestManifestsRoundTrip(t *testing.T) {
	for _, file := range []string{"full.yaml", "alias.yaml"} {
		t.Run(file, func(t *testing.T) {
			manifesttest.RoundTrip(t, file, &EC2NodeClass{}, AddToScheme, *update)
		})
	}
}

// The golden file is only as good as it is complete: a field that it lacks would not be tested by any test that uses it.
func TestFullManifestHasEveryField(t *testing.T) {
	class := read(t, "full.yaml")
	var check func(path string, v reflect.Value)
	check = func(path string, v reflect.Value) {
		for i := range v.NumField() {
			f, name := v.Field(i), path+"."+v.Type().Field(i).Name
			if f.IsZero() && !slices.Contains([]string{"spec.InstanceProfile"}, name) {
				t.Errorf("%s is not set in full.yaml", name)
			}
			if f.Kind() == reflect.Pointer && f.Elem().Kind() == reflect.Struct && strings.HasSuffix(f.Elem().Type().PkgPath(), "/aws/api/v1") {
				switch f.Elem().Type().Name() {
				case "PlacementGroupSelector", "Placement": // either or
				default:
					check(name, f.Elem())
				}
			}
		}
	}
	check("spec", reflect.ValueOf(class.Spec))
	check("status", reflect.ValueOf(class.Status))
	check("ebs", reflect.ValueOf(*class.Spec.BlockDeviceMappings[0].EBS))
	check("reservation", reflect.ValueOf(class.Status.CapacityReservations[0]))
}

// AWN-048, AWN-049: keys without a field survive, whatever their value.
func TestKubeletKeepsOtherKeys(t *testing.T) {
	const text = `{"MaxPods":3,"clusterDNS":[],"deep":{"a":[1,null,"x"]},"kubeReserved":{},"maxPods":"default_enis * 2","nothing":null}`
	var k KubeletConfiguration
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		t.Fatal(err)
	}
	if k.MaxPods == nil || k.MaxPods.StrVal != "default_enis * 2" || len(k.Other) != 3 || k.ClusterDNS == nil || k.KubeReserved == nil {
		t.Errorf("read as %+v", k)
	}
	got, err := json.Marshal(k)
	if err != nil || string(got) != text {
		t.Errorf("written as\n%s (%v), want\n%s", got, err, text)
	}
	copied := k.DeepCopy()
	copied.Other["deep"][0] = '!'
	if k.Other["deep"][0] == '!' {
		t.Error("the deep copy shares the other keys")
	}
}

func TestKubeletOtherNeverOverridesAField(t *testing.T) {
	pods := int32(4)
	got, err := json.Marshal(KubeletConfiguration{PodsPerCore: &pods, Other: map[string]RawJSON{"podsPerCore": RawJSON("9"), "maxPods": RawJSON("8")}})
	if err != nil || string(got) != `{"podsPerCore":4}` {
		t.Errorf("written as %s (%v)", got, err)
	}
}

func TestKubeletManagedKeysAreItsFields(t *testing.T) {
	var tags []string
	kubelet := reflect.TypeFor[KubeletConfiguration]()
	for i := range kubelet.NumField() {
		if tag, _, _ := strings.Cut(kubelet.Field(i).Tag.Get("json"), ","); tag != "-" {
			tags = append(tags, tag)
		}
	}
	managed := ManagedKubeletKeys()
	slices.Sort(tags)
	slices.Sort(managed)
	if diff := cmp.Diff(tags, managed); diff != "" {
		t.Error(diff)
	}
}

// AWN-051: a value of the wrong type is refused when it is read.
func TestKubeletWrongTypes(t *testing.T) {
	for text, want := range map[string]string{
		`{"podsPerCore":"four"}`:       "kubelet.podsPerCore: is a string, must be int32",
		`{"maxPods":1.5}`:              "",
		`{"kubeReserved":{"cpu":1}}`:   "kubeReserved",
		`{"clusterDNS":"10.0.0.10"}`:   "clusterDNS",
		`[]`:                           "must be an object",
		`{"cpuCFSQuota":"yes"}`:        "cpuCFSQuota",
		`{"evictionSoft":{"a":["b"]}}`: "evictionSoft",
	} {
		var k KubeletConfiguration
		if err := json.Unmarshal([]byte(text), &k); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not name %q", text, err, want)
		}
	}
}

func TestRandomClassesRoundTrip(t *testing.T) {
	full, err := json.Marshal(read(t, "full.yaml").Spec)
	if err != nil {
		t.Fatal(err)
	}
	seeded.Check(t, func(t *rapid.T) {
		// Any subset of the fields, at every depth.
		var spec map[string]any
		if err := json.Unmarshal(full, &spec); err != nil {
			t.Fatal(err)
		}
		prune(t, spec)
		text, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": "a"}, "spec": spec})
		if err != nil {
			t.Fatal(err)
		}
		var class, again EC2NodeClass
		if err := json.Unmarshal(text, &class); err != nil {
			t.Fatal(err)
		}
		first, err := json.Marshal(&class)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&class, &again); diff != "" {
			t.Fatal(diff)
		}
		if class.Hash("ca") != again.Hash("ca") {
			t.Fatal("hash changed by writing and reading")
		}
		copied := class.DeepCopy()
		copied.Default()
		copied.Default()
		once := class.DeepCopy()
		once.Default()
		if diff := cmp.Diff(once, copied); diff != "" {
			t.Fatalf("defaults are not idempotent: %s", diff)
		}
		if second, _ := json.Marshal(&class); !bytes.Equal(first, second) {
			t.Fatal("defaulting a deep copy changed the original")
		}
	})
}

func prune(t *rapid.T, object map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch {
		case rapid.Bool().Draw(t, "drop "+key):
			delete(object, key)
		default:
			if inner, ok := object[key].(map[string]any); ok {
				prune(t, inner)
			}
		}
	}
}

func FuzzManifest(f *testing.F) {
	manifesttest.Seed(f)
	f.Fuzz(func(t *testing.T, manifest []byte) {
		class := &EC2NodeClass{}
		if !manifesttest.Reread(t, manifest, class, &EC2NodeClass{}) {
			return
		}
		class.Validate()
		if class.Hash("") == "" {
			t.Fatal("no hash")
		}
		class.Default()
	})
}

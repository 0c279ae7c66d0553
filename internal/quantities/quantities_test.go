package quantities_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/quantities"
)

// Every form of a quantity that is too long or too small to be written out is refused, and no other.
func TestParse(t *testing.T) {
	for _, text := range []string{"0", "1", "-1", "1.5", "100m", "2Gi", "1E", "1e3", "1E3", "1e30", "1e-30", "1e+30", "1e0000000000000030", "12e6", strings.Repeat("9", 64)} {
		if _, err := quantities.Parse(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{
		"1e31", "1e-31", "1e-999999999", "1E-999999999", "1e+999999999", "1e-99999999999999999999999", " 1e-999999999", "1e-999999999\n",
		".5e-999999999", strings.Repeat("9", 65), "0." + strings.Repeat("0", 70) + "1",
	} {
		var out *quantities.Error
		if _, err := quantities.Parse(text); !errors.As(err, &out) {
			t.Errorf("%.40q: %v is no *Error", text, err)
		}
	}
	for _, text := range []string{"", "x", "lots", "1e", "1ee5", "0x10", "1e1.5"} {
		var out *quantities.Error
		if _, err := quantities.Parse(text); text != "1e" && err == nil || errors.As(err, &out) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

type kinds struct {
	metav1.TypeMeta `json:",inline"`
	*Embedded
	Meta   metav1.ObjectMeta   `json:"metadata"`
	Spec   corev1.PodSpec      `json:"spec"`
	Limits corev1.ResourceList `json:"limits,omitempty"`
	Size   *resource.Quantity  `json:"size"`
	Any    any                 `json:"any"`
	Raw    json.RawMessage     `json:"raw"`
	Plain  resource.Quantity
}

// Embedded has a quantity that the type around it has as well.
type Embedded struct {
	Inner []resource.Quantity `json:"inner"`
}

// A value is found wherever the type has a quantity, whatever its case, and nowhere else.
func TestFind(t *testing.T) {
	const bad = "1e-999999999"
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"none", `{"size": "1Gi"}`, nil},
		{"elsewhere", `{"metadata": {"labels": {"commit": "7e45921"}, "annotations": {"a": "1e-999999999"}}, "any": {"x": 1e-999999999}, "raw": "1e-999999999", "unknown": [1e-999999999]}`, nil},
		{"text", `{"size": "` + bad + `"}`, []string{"size"}},
		{"number", `{"size":` + bad + `}`, []string{"size"}},
		{"with spaces", `{"size": "  ` + bad + `\t"}`, nil}, // the decoder takes no escapes
		{"with a space", `{"size": " ` + bad + ` "}`, []string{"size"}},
		{"another case", `{"SIZE": "` + bad + `", "plain": ` + bad + `}`, []string{"SIZE", "plain"}},
		{"escaped name", `{"\u0073ize": "` + bad + `"}`, []string{"size"}},
		{"map", `{"limits": {"cpu": 1, "memory": "` + bad + `", "a\"b": "` + bad + `"}}`, []string{"limits[memory]", `limits[a"b]`}},
		{"embedded", `{"inner": [1, "` + bad + `"]}`, []string{"inner[1]"}},
		{"deep", `{"spec": {"containers": [{}, {"resources": {"requests": {"cpu": "` + bad + `"}}}]}}`, []string{"spec.containers[1].resources.requests[cpu]"}},
		{"twice", `{"size": 1, "size": "` + bad + `"}`, []string{"size"}},
		{"long", `{"size": "` + strings.Repeat("1", 100) + `"}`, []string{"size"}},
		{"broken", `{"size" "` + bad + `"}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range quantities.Find([]byte(c.in), reflect.TypeFor[kinds]()) {
				got = append(got, f.Path)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			bound, _ := quantities.Bound([]byte(c.in), reflect.TypeFor[kinds]())
			if json.Valid([]byte(c.in)) && (!json.Valid(bound) || quantities.Find(bound, reflect.TypeFor[kinds]()) != nil) {
				t.Errorf("replaced: %s", bound)
			}
		})
	}
}

// Bound replaces all of them, however many there are, and nothing else.
func TestBound(t *testing.T) {
	in := `{"inner": [` + strings.Repeat(`"1e-999999999", `, 250) + `"5"], "metadata": {"name": "1e999"}}`
	out, found := quantities.Bound([]byte(in), reflect.TypeFor[kinds]())
	if len(found) != 250 || string(out) != strings.ReplaceAll(in, "1e-999999999", "0") {
		t.Errorf("%d found: %.60s", len(found), out)
	}
}

// FuzzFind: whatever is decoded after the check has passed, is decoded quickly.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{
		`{"size": "1e-999999999"}`, `{"Size": 1e-99999999}`, `{"inner": [" 1e-99999999"], "x": {"y": []}}`, `{"\u0073ize":"1e99999999"}`,
		`{"limits":{"cpu":"1e-9999999"}} {`, `[{"size"`, `{"size": "1E-9999999`, `{"metadata":{"a":"\"1e-99999999"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		if quantities.CheckJSON(document, reflect.TypeFor[kinds]()) != nil {
			return
		}
		start := time.Now()
		var into kinds
		_ = json.Unmarshal(document, &into) // only the time counts
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("decoding takes %s", took)
		}
	})
}

// Quantities that did not come through Parse may have more digits than anybody can compute with.
func TestComputable(t *testing.T) {
	for text, want := range map[string]bool{"0": true, "100m": true, "16Ei": true, "1e30": true, "1e31": false, "1e99999": false} {
		if got := quantities.Computable(resource.MustParse(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

package quantities

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// manyOutOfBounds is an object with n quantities that are out of bounds.
func manyOutOfBounds(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"a": "1"`)
	for i := range n {
		b.WriteString(`, "` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + `": "1e-999999999"`)
	}
	b.WriteString("}")
	return b.Bytes()
}

// Every quantity is bounded, also where there are more than Find reports.
func TestBoundReplacesAll(t *testing.T) {
	document, replaced := Bound(manyOutOfBounds(1000), reflect.TypeFor[corev1.ResourceList]())
	if len(replaced) != 1000 || bytes.Contains(document, []byte("1e-")) {
		t.Errorf("%d replaced: %.200s", len(replaced), document)
	}
}

// Both grow in proportion to the document.
func BenchmarkBound(b *testing.B) {
	for name, document := range map[string][]byte{
		"quantities=20000": manyOutOfBounds(20_000),
		"escapes=200000":   []byte(`{"a": "` + strings.Repeat(`\\`, 200_000) + `"}`),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Bound(document, reflect.TypeFor[corev1.ResourceList]())
			}
		})
	}
}

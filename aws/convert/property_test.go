package convert

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/internal/seeded"
)

// validates is what every kind can do.
type validates interface{ Validate() field.ErrorList }

// API-005, API-257, API-263, API-264, API-269, API-468: whatever mixture of generations is valid gives objects that their own rules
// take, or an error; no two of one kind and name, in the order of the input, and the same every time.
func TestRandomBundles(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		kubelet := rapid.SampledFrom([]string{"null", "{maxPods: 1}", "{maxPods: 2, systemReserved: {cpu: '1'}}"})
		var in strings.Builder
		for range rapid.IntRange(1, 7).Draw(t, "objects") {
			n, class := name.Draw(t, "name"), name.Draw(t, "class")
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				fmt.Fprintf(&in, "---\n{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: %s}, spec: {providerRef: {name: %s}, kubeletConfiguration: %s, consolidation: {enabled: %t}}}\n", n, class, kubelet.Draw(t, "kubelet"), rapid.Bool().Draw(t, "consolidates"))
			case 1:
				fmt.Fprintf(&in, "---\n{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: %s}, spec: {provider: {subnetSelector: {a: 'b,c'}, securityGroupSelector: {a: b}}}}\n", n)
			case 2:
				in.WriteString(strings.ReplaceAll(pool(n, kubelet.Draw(t, "kubelet")), "name: default", "name: "+class))
			case 3:
				in.WriteString(strings.ReplaceAll(betaClass, "name: default", "name: "+n))
			case 4:
				in.WriteString(strings.ReplaceAll(template, "name: default", "name: "+n))
			case 5:
				in.WriteString(strings.NewReplacer("name: default", "name: "+n, "KUBELET", kubelet.Draw(t, "kubelet")).Replace(v1Class))
			}
		}
		documents, err := Decode(DecodeOptions{}, Source{Name: "in", Data: []byte(in.String())})
		if err != nil {
			t.Fatal(err)
		}
		options := Options{Target: rapid.SampledFrom([]Version{V1, V1Beta1}).Draw(t, "target"), ReferenceCompat: rapid.Bool().Draw(t, "compat")}
		r := Rewrite(documents, options)
		seen, last := make(map[string]bool), 0
		for _, o := range r.Objects {
			if errs := o.Object.(validates).Validate(); len(errs) > 0 {
				t.Fatalf("%s: %v\n%s", o.name(), errs.ToAggregate(), in.String())
			}
			if seen[o.name()] {
				t.Fatalf("%s is there twice\n%s", o.name(), in.String())
			}
			seen[o.name()] = true
			if version := o.Object.GetObjectKind().GroupVersionKind().Version; version != string(options.Target) {
				t.Fatalf("%s is of %s, not %s\n%s", o.name(), version, options.Target, in.String())
			}
			if o.Position.Document < last {
				t.Fatalf("%s stands before its place\n%s", o.name(), in.String())
			}
			last = o.Position.Document
		}
		if len(r.Objects) < len(documents) && r.Warnings.Err() == nil && !equalTwice(r, documents) {
			t.Fatalf("something is missing, and nobody says why: %v\n%s", r.Warnings, in.String())
		}
		again := Rewrite(documents, options)
		if fmt.Sprint(again.Warnings) != fmt.Sprint(r.Warnings) || len(again.Objects) != len(r.Objects) {
			t.Fatalf("a second time gives another result\n%s", in.String())
		}
		if live := Read(documents, Options{}); live.Warnings.Has(conversion.CodeNameClash) {
			t.Fatalf("live objects clash: %v", live.Warnings)
		}
	})
}

// equalTwice reports whether some documents say the same, of which one is written.
func equalTwice(r Result, documents []Document) bool {
	names := make(map[string]int)
	for _, d := range documents {
		names[d.Object.GetName()]++
	}
	return len(names) < len(documents) && !r.Warnings.Has(conversion.CodeNameClash)
}

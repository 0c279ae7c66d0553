package workload

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// The digests were recorded from the generator in Python that the clusters were first drawn with: figures measured with its
// output are figures of these clusters.
func TestOrdinaryDigests(t *testing.T) {
	data, err := os.ReadFile("testdata/ordinary.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]string
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) < 100 {
		t.Fatalf("only %d digests", len(want))
	}
	for name, digest := range want {
		o, err := ParseOrdinary(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := Digest(o.types(), o.pods(), nil); got != digest {
			t.Errorf("%s: digest %s, want %s", name, got, digest)
		}
		if o.Name() != name {
			t.Errorf("%s calls itself %s", name, o.Name())
		}
	}
}

// The snapshot has what was drawn, and a pool that takes every type.
func TestOrdinarySnapshot(t *testing.T) {
	s, err := Ordinary{Families: []string{"m5", "c5"}, Rules: "both", Zones: 6, Seed: 3, Pods: 500}.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	types := s.Catalogs[s.NodePools[0].Catalog]
	if len(s.Pods) != 500 || len(types) != 16 || len(types[0].Offerings) != 6 || s.NodePools[0].Object.Spec.Template.Spec.Requirements == nil {
		t.Errorf("%d pods, %d types", len(s.Pods), len(types))
	}
	var spread, apart int
	for _, p := range s.Pods {
		if len(p.Spec.TopologySpreadConstraints) > 0 {
			spread++
		}
		if p.Spec.Affinity != nil {
			apart++
		}
	}
	if spread == 0 || apart == 0 || spread+apart > 400 {
		t.Errorf("%d pods spread, %d keep apart", spread, apart)
	}
}

func TestParseOrdinary(t *testing.T) {
	o, err := ParseOrdinary("c5+m5+r5-anti-3z-18446744073709551615-40p")
	if err != nil || !slices.Equal(o.Families, []string{"c5", "m5", "r5"}) || o.Rules != "anti" || o.Zones != 3 || o.Seed != 1<<64-1 || o.Pods != 40 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, name := range []string{
		"", "m5", "m5-none-3z", "m5-none-3-1", "m5-none-0z-1", "m5-none-7z-1", "m4-none-3z-1", "m5-some-3z-1", "m5-none-3z-x", "m5-none-3z-1-5",
		"m5-none-3z-1-2000000p", "-none-3z-1", "m5-none-3z--1", "m5-none-3z-1-5p-6",
	} {
		if o, err := ParseOrdinary(name); err == nil {
			t.Errorf("%q is taken: %+v", name, o)
		}
	}
	if _, err := (Ordinary{Families: []string{"m5"}, Rules: "none"}).Snapshot(); err == nil {
		t.Error("no zones are taken")
	}
}

package dra_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/dra"
	"github.com/drawknife/drawknife/scheduling/manifests"
	"github.com/drawknife/drawknife/scheduling/redact"
)

// A snapshot with claims, templates, classes and slices is planned as before once what planning does not read is left out of it, and once its names are others.
func TestRedactedSnapshotsArePlannedAlike(t *testing.T) {
	facts, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	types, err := instancetype.Resolve(facts, nil, instancetype.Options{DeviceDrivers: map[string]string{instancetype.DevicesNVIDIA: instancetype.NVIDIADriver}})
	if err != nil {
		t.Fatal(err)
	}
	sources, err := manifests.Files("simulate/testdata/inference/nodepool.yaml", "simulate/testdata/inference/deployments.yaml", "simulate/testdata/fleet/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := manifests.Load(sources, manifests.Options{Kinds: convert.Kinds()})
	if err != nil {
		t.Fatal(err)
	}
	s := loaded.Snapshot
	s.Catalogs = map[string][]*cloudprovider.InstanceType{"ec2": types}
	for i := range s.NodePools {
		s.NodePools[i].Catalog = "ec2"
	}
	if len(s.ResourceClaims) == 0 || len(s.ResourceClaimTemplates) == 0 || len(s.DeviceClasses) == 0 || len(s.ResourceSlices) == 0 {
		t.Fatal("the example lacks a kind")
	}
	plan := func(s *scheduling.Snapshot) string {
		m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(dra.New()))
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Solve(context.Background(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		existing := 0
		for i := range p.Existing {
			existing += len(p.Existing[i].Pods)
		}
		return fmt.Sprintf("%d new nodes for %.4f, %d pods on nodes, %d without a place", len(p.NewNodes), p.HourlyCost, existing, len(p.Unschedulable))
	}
	want := plan(s)
	if !strings.HasPrefix(want, "4 new nodes") || !strings.HasSuffix(want, " 2 pods on nodes, 1 without a place") {
		t.Errorf("the plan is %s", want)
	}
	if got := plan(redact.Strip(s)); got != want {
		t.Errorf("stripped: %s, want %s", got, want)
	}
	if got := plan(redact.Anonymize(s, []byte("key"))); got != want {
		t.Errorf("anonymized: %s, want %s", got, want)
	}
}

package oracle

import (
	"slices"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
)

// TestEveryFilterOfTheDefaultProfileIsAsked keeps the list of plugins true when the Kubernetes version moves.
func TestEveryFilterOfTheDefaultProfileIsAsked(t *testing.T) {
	config, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	j, err := newJudge(t.Context(), newCluster(), nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, p := range j.plugins {
		asked[p.Name()] = true
		if _, ok := p.(fwk.FilterPlugin); !ok {
			t.Errorf("%s is no filter plugin", p.Name())
		}
	}
	// What snapshots can't hold: devices, features that nodes declare, gates, groups of pods. The rest filters nothing.
	ignored := []string{
		"DynamicResources", "NodeDeclaredFeatures", "SchedulingGates", "GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount", "DeferredPodScheduling",
		"PrioritySort", "DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality", "DefaultBinder",
	}
	registry := plugins.NewInTreeRegistry()
	for _, p := range config.Profiles[0].Plugins.MultiPoint.Enabled {
		if _, known := registry[p.Name]; !known {
			t.Errorf("plugin %s of the default profile is unknown", p.Name)
		}
		if !asked[p.Name] && !slices.Contains(ignored, p.Name) {
			t.Errorf("plugin %s of the default profile is neither asked nor known to be of no matter", p.Name)
		}
	}
}

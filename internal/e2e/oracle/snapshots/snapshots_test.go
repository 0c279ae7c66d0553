package snapshots_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/e2e/oracle/snapshots"
	"github.com/drawknife/drawknife/scheduling"
)

const examples = 300

// shows says of each feature how a snapshot with it is told.
var shows = map[snapshots.Feature]func(*scheduling.Snapshot) bool{
	snapshots.Extended: anyPod(func(p *corev1.Pod) bool { return len(p.Spec.InitContainers) > 0 }),
	snapshots.Pools:    func(s *scheduling.Snapshot) bool { return len(s.NodePools) > 1 },
	snapshots.Selectors: anyPod(func(p *corev1.Pod) bool {
		return p.Spec.NodeSelector != nil || p.Spec.Affinity != nil && p.Spec.Affinity.NodeAffinity != nil && p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
	}),
	snapshots.Preferences: anyPod(func(p *corev1.Pod) bool {
		return p.Spec.Affinity != nil && p.Spec.Affinity.NodeAffinity != nil && p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution != nil
	}),
	snapshots.CustomLabels: anyPool(func(p *scheduling.NodePool) bool { return len(p.Object.Spec.Template.Labels) > 0 }),
	snapshots.Taints:       anyPool(func(p *scheduling.NodePool) bool { return len(p.Object.Spec.Template.Spec.Taints) > 0 }),
	snapshots.Limits:       anyPool(func(p *scheduling.NodePool) bool { return len(p.Object.Spec.Limits) > 0 }),
	snapshots.Daemons:      func(s *scheduling.Snapshot) bool { return len(s.DaemonSets) > 0 },
	snapshots.Nodes:        func(s *scheduling.Snapshot) bool { return len(s.Nodes) > 0 },
	snapshots.Offerings: func(s *scheduling.Snapshot) bool {
		for _, types := range s.Catalogs {
			for _, t := range types {
				for i := range t.Offerings {
					if o := &t.Offerings[i]; !o.Reserved() && (!o.Available || o.OverridesResources()) {
						return true
					}
				}
			}
		}
		return false
	},
	snapshots.Priorities:   anyPod(func(p *corev1.Pod) bool { return p.Spec.Priority != nil }),
	snapshots.Spread:       anyPod(func(p *corev1.Pod) bool { return len(p.Spec.TopologySpreadConstraints) > 0 }),
	snapshots.Affinity:     anyPod(func(p *corev1.Pod) bool { return p.Spec.Affinity != nil && p.Spec.Affinity.PodAffinity != nil }),
	snapshots.AntiAffinity: anyPod(func(p *corev1.Pod) bool { return p.Spec.Affinity != nil && p.Spec.Affinity.PodAntiAffinity != nil }),
	snapshots.Namespaces:   anyPod(func(p *corev1.Pod) bool { return p.Namespace != "default" }),
	snapshots.Ports:        anyPod(func(p *corev1.Pod) bool { return len(p.Spec.Containers[0].Ports) > 0 }),
	snapshots.Volumes:      func(s *scheduling.Snapshot) bool { return len(s.PersistentVolumeClaims) > 0 },
	snapshots.SharedClaims: func(s *scheduling.Snapshot) bool {
		users := map[string]int{}
		for _, p := range s.Pods {
			for _, v := range p.Spec.Volumes {
				if v.PersistentVolumeClaim != nil {
					users[p.Namespace+"/"+v.PersistentVolumeClaim.ClaimName]++
				}
			}
		}
		for _, n := range users {
			if n > 1 {
				return true
			}
		}
		return false
	},
	snapshots.AttachLimits: func(s *scheduling.Snapshot) bool { return len(s.CSINodes) > 0 },
	snapshots.HandMade: func(s *scheduling.Snapshot) bool {
		return slices.ContainsFunc(s.PersistentVolumes, func(v *corev1.PersistentVolume) bool { return v.Spec.ClaimRef == nil }) ||
			slices.ContainsFunc(s.PersistentVolumeClaims, func(c *corev1.PersistentVolumeClaim) bool { return *c.Spec.StorageClassName == "immediate" })
	},
	snapshots.Overlays: func(s *scheduling.Snapshot) bool { return len(s.NodeOverlays) > 0 },
	snapshots.Reservations: anyType(func(t *cloudprovider.InstanceType) bool {
		return slices.ContainsFunc(t.Offerings, func(o cloudprovider.Offering) bool { return o.Reserved() })
	}),
	snapshots.MinValues: anyPool(func(p *scheduling.NodePool) bool {
		return slices.ContainsFunc(p.Object.Spec.Template.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.MinValues != nil })
	}),
	snapshots.StaticPools: anyPool(func(p *scheduling.NodePool) bool { return p.Object.IsStatic() }),
	snapshots.Buffers:     func(s *scheduling.Snapshot) bool { return len(s.Placeholders) > 0 },
	snapshots.OddCapacities: anyType(func(t *cloudprovider.InstanceType) bool {
		cores, memory, pods := t.Capacity[corev1.ResourceCPU], t.Capacity[corev1.ResourceMemory], t.Capacity[corev1.ResourcePods]
		_, disk := t.Capacity[corev1.ResourceEphemeralStorage]
		return cores.MilliValue()%1000 != 0 || memory.Value()%1024 != 0 || pods.Value() < 5 || !disk || t.Overhead.SystemReserved != nil || t.Overhead.EvictionThreshold != nil
	}),
	snapshots.NodeStates: func(s *scheduling.Snapshot) bool {
		return slices.ContainsFunc(s.Nodes, func(n scheduling.Node) bool { return n.Object != nil && n.Object.Spec.Unschedulable })
	},
	snapshots.InlineDisks: anyPod(func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "inline" })
	}),
	snapshots.NodeNames: anyPod(func(p *corev1.Pod) bool {
		return p.Spec.Affinity != nil && p.Spec.Affinity.NodeAffinity != nil && p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil &&
			slices.ContainsFunc(p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms,
				func(t corev1.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 })
	}),
	snapshots.Attachments:   func(s *scheduling.Snapshot) bool { return len(s.VolumeAttachments) > 0 },
	snapshots.DefaultSpread: func(s *scheduling.Snapshot) bool { return len(s.DefaultTopologySpread) > 0 },
}

func anyType(has func(*cloudprovider.InstanceType) bool) func(*scheduling.Snapshot) bool {
	return func(s *scheduling.Snapshot) bool {
		for _, types := range s.Catalogs {
			if slices.ContainsFunc(types, has) {
				return true
			}
		}
		return false
	}
}

func anyPod(has func(*corev1.Pod) bool) func(*scheduling.Snapshot) bool {
	return func(s *scheduling.Snapshot) bool { return slices.ContainsFunc(s.Pods, has) }
}

func anyPool(has func(*scheduling.NodePool) bool) func(*scheduling.Snapshot) bool {
	return func(s *scheduling.Snapshot) bool {
		return slices.ContainsFunc(s.NodePools, func(p scheduling.NodePool) bool { return has(&p) })
	}
}

// needs are features that show only together with others.
func needs(f snapshots.Feature) []snapshots.Feature {
	switch f {
	case snapshots.SharedClaims, snapshots.HandMade:
		return []snapshots.Feature{snapshots.Volumes}
	case snapshots.StaticPools:
		return []snapshots.Feature{snapshots.Pools}
	case snapshots.Attachments:
		return []snapshots.Feature{snapshots.AttachLimits, snapshots.Volumes, snapshots.Nodes}
	case snapshots.NodeNames:
		return []snapshots.Feature{snapshots.Nodes, snapshots.Selectors}
	case snapshots.NodeStates:
		return []snapshots.Feature{snapshots.Nodes}
	case snapshots.AttachLimits:
		return []snapshots.Feature{snapshots.Volumes, snapshots.Nodes}
	}
	return nil
}

// TestEachFeatureShowsAndCanBeLeftOut keeps the generator from losing a constraint without anybody noticing.
func TestEachFeatureShowsAndCanBeLeftOut(t *testing.T) {
	for _, f := range snapshots.All() {
		t.Run(string(f), func(t *testing.T) {
			shown := shows[f]
			if shown == nil {
				t.Fatal("the test does not know how the feature shows")
			}
			with := snapshots.Of(append(needs(f), f))
			without := snapshots.Of(slices.DeleteFunc(snapshots.All(), func(o snapshots.Feature) bool { return o == f }))
			seen := 0
			for i := range examples {
				if shown(with.Example(i)) {
					seen++
				}
				if shown(without.Example(i)) {
					t.Fatalf("example %d shows the feature that was left out", i)
				}
			}
			if seen < examples/50 {
				t.Errorf("only %d of %d snapshots show it", seen, examples)
			}
		})
	}
}

func TestSnapshotsAreLegal(t *testing.T) {
	generator := snapshots.Of(snapshots.All())
	for i := range examples {
		s := generator.Example(i)
		lookup := s.Vocabulary.Compile()
		for _, p := range s.NodePools {
			if errs := append(p.Object.Validate(), requirements.ValidateNodePool(p.Object, lookup)...); len(errs) > 0 {
				t.Errorf("example %d: nodepool %s: %v", i, p.Object.Name, errs.ToAggregate())
			}
		}
		if _, err := scheduling.Compile(s); err != nil {
			t.Errorf("example %d: %v", i, err)
		}
	}
}

// TestSnapshotsSurviveYAML: a snapshot that is saved as a counter-example is the same snapshot.
func TestSnapshotsSurviveYAML(t *testing.T) {
	generator := snapshots.Of(snapshots.All())
	for i := range examples / 10 {
		var first, second bytes.Buffer
		if err := generator.Example(i).Encode(&first); err != nil {
			t.Fatal(err)
		}
		text := first.String()
		s, err := scheduling.DecodeSnapshot(&first)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Encode(&second); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, second.String()); diff != "" {
			t.Fatalf("example %d (-written +read and written):\n%s", i, diff)
		}
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		text string
		want []snapshots.Feature
		bad  bool
	}{
		{text: "taints", want: []snapshots.Feature{snapshots.Taints}},
		{text: "taints, spread", want: []snapshots.Feature{snapshots.Taints, snapshots.Spread}},
		{text: "-taints", want: slices.DeleteFunc(snapshots.All(), func(f snapshots.Feature) bool { return f == snapshots.Taints })},
		{text: "gravity", bad: true},
		{text: "-gravity", bad: true},
		{text: "", bad: true},
	}
	for _, tt := range tests {
		got, err := snapshots.Parse(tt.text)
		if (err != nil) != tt.bad {
			t.Errorf("Parse(%q): error %v", tt.text, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

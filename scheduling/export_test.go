package scheduling

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/updating"
	"github.com/drawknife/drawknife/internal/engine/volumes"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// DaemonOf is the UID of the DaemonSet that owns the pod.
func DaemonOf(pod *corev1.Pod) (types.UID, bool) { return match.DaemonOwner(pod) }

// ClassesAndGroups counts the model's classes of pods and groups of nodes.
func ClassesAndGroups(m *Model) (classes, groups int) { return len(m.c.Classes), len(m.c.Groups) }

// UpdateInPlace is the model that an Update makes without compiling; nil if it has to compile.
func UpdateInPlace(m *Model, s *Snapshot) *Model {
	if next := updating.Updated(m.c, s); next != nil {
		return &Model{next}
	}
	return nil
}

// ModelDifferences names the parts in which two models differ that would plan alike if they did not.
func ModelDifferences(a, b *Model) []string {
	parts := func(m *Model) map[string]any {
		out := map[string]any{
			"snapshot": m.c.Snapshot, "resources": m.c.Resources, "poolCatalog": m.c.PoolCatalog, "notes": m.c.Notes,
			"poolIndex": m.c.PoolIndex, "classes": m.c.Classes, "shapes": m.c.Shapes, "stages": m.c.Stages, "podClass": m.c.PodClass,
			"daemonSets": m.c.DaemonSets, "nodes": m.c.Nodes, "nodeIndex": m.c.NodeIndex, "groups": m.c.Groups, "askedKeys": m.c.AskedKeys,
			"topology": m.c.Topology, "topologyKeys": m.c.TopologyKeys, "pinnedKeys": m.c.PinnedKeys, "hostDomains": m.c.HostDomains,
			"volumesBound": m.c.VolumesBound, "reach": m.c.Reach, "pods": m.c.Pods, "free": m.c.Free, "standings": m.c.Standings, "gangs": m.c.Gangs,
			"sizes": []int{m.c.Fits.Len(), len(m.c.Tables), len(m.c.Catalogs), len(m.c.ShapeIndex)},
		}
		pools := make([]*nodepool.Pool, len(m.c.Pools))
		for i, p := range m.c.Pools {
			own := *p
			if own.Table != nil {
				table := *own.Table
				// Shared between models, with what it has remembered for others.
				table.Catalog, table.InOrder = nil, nil
				own.Table = &table
			}
			pools[i] = &own
		}
		out["pools"] = pools
		if m.c.Base != nil {
			base := *m.c.Base
			base.Reach = nil
			out["base"] = &base
		}
		return out
	}
	x, y := parts(a), parts(b)
	var out []string
	for name := range x {
		if !reflect.DeepEqual(x[name], y[name]) {
			out = append(out, name)
		}
	}
	if (a.c.Base == nil) != (b.c.Base == nil) {
		out = append(out, "base")
	}
	slices.Sort(out)
	return out
}

// UnlikePods names the pods of the snapshot that the roster says are like others although they are of another class, or
// name other resources.
func UnlikePods(s *Snapshot) ([]string, error) {
	vocabulary := s.Vocabulary
	m := &model.Model{Snapshot: s, Vocab: vocabulary.Compile(), Terms: match.Terms{Vocabulary: vocabulary.Compile(), Pods: vocabulary.Compile()}, Resources: resources.NewTable(), AskedKeys: map[string]bool{}}
	r, err := model.CheckObjects(s, nil, &model.Options{})
	if err != nil {
		return nil, err
	}
	m.Volumes = volumes.New(model.VolumesOf(s, r.Claimants), m.Vocab)
	m.CollectResources(s, r)
	m.Pods = slices.Concat(s.Pods, s.Placeholders)
	m.CollectTopology(s, r)
	w := likeness.NewWriter(m.Resources, m.Volumes)
	classText := func(pod *corev1.Pod, placeholder bool) string {
		text, _, _ := podclass.Text(m.TopologyIndex, nil, &likeness.Pattern{First: pod, Rules: m.TopologyIndex.Remember(pod), Placeholder: placeholder}, w)
		return string(text)
	}
	names := func(pod *corev1.Pod) map[corev1.ResourceName]struct{} {
		out := map[corev1.ResourceName]struct{}{}
		likeness.ResourceNames(pod, out)
		return out
	}
	var out []string
	for i, pod := range r.Pods {
		p := r.Patterns[r.Like[i]]
		placeholder := i >= len(s.Pods) && i < len(m.Pods)
		if classText(pod, placeholder) != classText(p.First, p.Placeholder) || !reflect.DeepEqual(names(pod), names(p.First)) {
			out = append(out, planning.KeyOf(pod).String())
		}
		if likeness.Compare(pod, p.First) < 0 {
			out = append(out, planning.KeyOf(pod).String()+" is before the first")
		}
	}
	return out, nil
}

// Patterns counts what the pods of a snapshot are compiled as.
func Patterns(s *Snapshot) int {
	r, err := model.CheckObjects(s, nil, &model.Options{})
	if err != nil {
		return -1
	}
	return len(r.Patterns)
}

// GangChoices counts the domains in which the model's gangs could be placed, and those to which they could be moved.
func GangChoices(m *Model) (options, moves int) {
	if m.c.Gangs == nil {
		return 0, 0
	}
	for i := range m.c.Gangs.List {
		g := &m.c.Gangs.List[i]
		moves += len(g.Moves)
		for o := range g.Options {
			if len(o.Domains) > 0 {
				options++
			}
		}
	}
	return options, moves
}

package scheduling

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// DaemonOf is the UID of the DaemonSet that owns the pod.
func DaemonOf(pod *corev1.Pod) (types.UID, bool) { return match.DaemonOwner(pod) }

// ClassesAndGroups counts the model's classes of pods and groups of nodes.
func ClassesAndGroups(m *Model) (classes, groups int) { return len(m.classes), len(m.groups) }

// UpdateInPlace is the model that an Update makes without compiling; nil if it has to compile.
func UpdateInPlace(m *Model, s *Snapshot) *Model { return m.updated(s) }

// ModelDifferences names the parts in which two models differ that would plan alike if they did not.
func ModelDifferences(a, b *Model) []string {
	parts := func(m *Model) map[string]any {
		out := map[string]any{
			"snapshot": m.snapshot, "resources": m.resources, "poolCatalog": m.poolCatalog, "notes": m.notes,
			"poolIndex": m.poolIndex, "classes": m.classes, "shapes": m.shapes, "stages": m.stages, "podClass": m.podClass,
			"daemonSets": m.daemonSets, "nodes": m.nodes, "nodeIndex": m.nodeIndex, "groups": m.groups, "askedKeys": m.askedKeys,
			"topology": m.topology, "topologyKeys": m.topologyKeys, "pinnedKeys": m.pinnedKeys, "hostDomains": m.hostDomains,
			"volumesBound": m.volumesBound, "reach": m.reach, "pods": m.pods, "free": m.free, "standings": m.standings,
			"sizes": []int{m.fits.Len(), len(m.tables), len(m.catalogs), len(m.shapeIndex)},
		}
		pools := make([]*nodepool.Pool, len(m.pools))
		for i, p := range m.pools {
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
		if m.base != nil {
			base := *m.base
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
	if (a.base == nil) != (b.base == nil) {
		out = append(out, "base")
	}
	slices.Sort(out)
	return out
}

// UnlikePods names the pods of the snapshot that the roster says are like others although they are of another class, or
// name other resources.
func UnlikePods(s *Snapshot) ([]string, error) {
	vocabulary := s.Vocabulary
	m := &Model{snapshot: s, vocab: vocabulary.Compile(), terms: match.Terms{Vocabulary: vocabulary.Compile(), Pods: vocabulary.Compile()}, resources: resources.NewTable(), askedKeys: map[string]bool{}}
	r, err := checkObjects(s, nil, &compileOptions{})
	if err != nil {
		return nil, err
	}
	m.volumes = volumes.New(volumesOf(s, r.Claimants), m.vocab)
	m.collectResources(s, r)
	m.pods = slices.Concat(s.Pods, s.Placeholders)
	m.collectTopology(s, r)
	w := likeness.NewWriter(m.resources, m.volumes)
	classText := func(pod *corev1.Pod, placeholder bool) string {
		text, _, _ := podclass.Text(m.topologyIndex, nil, pod, w, placeholder, m.topologyIndex.Remember(pod))
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
		placeholder := i >= len(s.Pods) && i < len(m.pods)
		if classText(pod, placeholder) != classText(p.First, p.Placeholder) || !reflect.DeepEqual(names(pod), names(p.First)) {
			out = append(out, podKey(pod).String())
		}
		if likeness.Compare(pod, p.First) < 0 {
			out = append(out, podKey(pod).String()+" is before the first")
		}
	}
	return out, nil
}

// Patterns counts what the pods of a snapshot are compiled as.
func Patterns(s *Snapshot) int {
	r, err := checkObjects(s, nil, &compileOptions{})
	if err != nil {
		return -1
	}
	return len(r.Patterns)
}

// AllowedTypesAgree compares what the trial remembers of which nodes would do in place of new ones with what it finds; it reports how many
// new nodes were looked up, and the number of the first that differs, -1 for none.
func AllowedTypesAgree(t *Trial) (known, differs int) {
	for i, load := range t.s.Loads(0) {
		mc := &t.s.Planned[i]
		if len(load) == 0 {
			continue
		}
		if t.types.byText[string(t.allowedText(t.m.pools[mc.Pool], [3]int32{mc.Pool, mc.Row, mc.Slot}, load))].rows != nil {
			known++
		}
		rows, slots, claim := t.allowed(mc, load)
		wantRows, wantSlots, wantClaim := t.leeway(mc, load)
		if !slices.Equal(rows, wantRows) || !slices.Equal(slots, wantSlots) || !claim.Equal(wantClaim) || claim.String() != wantClaim.String() {
			return known, i
		}
	}
	return known, -1
}

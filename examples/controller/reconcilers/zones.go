package reconcilers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/scheduling"
)

// These are values of the label zone, in addition to the names of zones.
const (
	zoneFlexible = "flexible" // the pods can run in several zones
	zoneNone     = "none"     // the pods can run in no zone
)

// effectiveZones counts the pending pods by the zone where they can run. The zone is determined by the pods and their bound volumes. Only
// zones with offerings or nodes are counted, which bounds the number of counts.
func effectiveZones(snapshot *scheduling.Snapshot, lookup *requirements.Lookup) map[string]int {
	z := zoneFinder{lookup: lookup, claims: map[types.NamespacedName]string{}, volumes: map[string]*corev1.PersistentVolume{}}
	for _, list := range snapshot.Catalogs {
		for _, t := range list {
			for i := range t.Offerings {
				z.add(t.Offerings[i].Zone())
			}
		}
	}
	for i := range snapshot.Nodes {
		if node := snapshot.Nodes[i].Object; node != nil {
			z.add(node.Labels[corev1.LabelTopologyZone])
		}
	}
	for _, claim := range snapshot.PersistentVolumeClaims {
		z.claims[types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}] = claim.Spec.VolumeName
	}
	for _, volume := range snapshot.PersistentVolumes {
		z.volumes[volume.Name] = volume
	}
	counts := map[string]int{zoneFlexible: 0, zoneNone: 0}
	for _, zone := range z.zones {
		counts[zone] = 0
	}
	for _, pod := range snapshot.Pods {
		switch allowed := z.of(pod); len(allowed) {
		case 0:
			counts[zoneNone]++
		case 1:
			counts[allowed[0]]++
		default:
			counts[zoneFlexible]++
		}
	}
	return counts
}

type zoneFinder struct {
	lookup  *requirements.Lookup
	zones   []string
	claims  map[types.NamespacedName]string // by claim: the volume that the claim is bound to
	volumes map[string]*corev1.PersistentVolume
}

func (z *zoneFinder) add(zone string) {
	if zone != "" && !slices.Contains(z.zones, zone) {
		z.zones = append(z.zones, zone)
	}
}

// of returns the zones where the pod can run.
func (z *zoneFinder) of(pod *corev1.Pod) []string {
	selector := z.lookup.FromLabels(pod.Spec.NodeSelector).Get(corev1.LabelTopologyZone)
	var terms []corev1.NodeSelectorTerm
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	var allowed []string
	for _, zone := range z.zones {
		if selector.Has(zone) && z.anyTerm(terms, zone) {
			allowed = append(allowed, zone)
		}
	}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		name := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = pod.Name + "-" + v.Name
		default:
			continue
		}
		volume := z.volumes[z.claims[types.NamespacedName{Namespace: pod.Namespace, Name: name}]]
		if volume == nil || volume.Spec.NodeAffinity == nil || volume.Spec.NodeAffinity.Required == nil {
			continue
		}
		allowed = slices.DeleteFunc(allowed, func(zone string) bool { return !z.anyTerm(volume.Spec.NodeAffinity.Required.NodeSelectorTerms, zone) })
	}
	return allowed
}

// anyTerm reports whether one of the terms allows the zone. An empty list allows every zone.
func (z *zoneFinder) anyTerm(terms []corev1.NodeSelectorTerm, zone string) bool {
	return len(terms) == 0 || slices.ContainsFunc(terms, func(term corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(term.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
			r, err := z.lookup.ParseNodeSelectorRequirement(e)
			return err != nil || r.Key() == corev1.LabelTopologyZone && !r.Has(zone)
		})
	})
}

package simulate

import (
	"cmp"
	"errors"
	"strings"

	"github.com/drawknife/drawknife/scheduling/manifests"
)

// loadManifests is manifests.Load with additional remarks for AWS users.
func loadManifests(sources []manifests.Source, options manifests.Options) (*manifests.Result, error) {
	loaded, err := manifests.Load(sources, options)
	var refused *manifests.LoadError
	if errors.As(err, &refused) {
		for _, p := range refused.Problems {
			if p.Code == manifests.ProblemUnknownField && isMovedKubelet(p.Object, p.Path) {
				p.Message = movedKubelet
			}
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	for i := range loaded.Warnings {
		if w := &loaded.Warnings[i]; w.Code == manifests.WarningUnknownField && isMovedKubelet(w.Object, w.Path) {
			w.Message = movedKubelet + "; here it is ignored"
		}
	}
	return loaded, nil
}

// movedKubelet is advice for a v1 NodePool that still has the kubelet block of a v1beta1 NodePool.
const movedKubelet = "in v1 this belongs in spec.kubelet of the pool's EC2NodeClass; convert moves it there if the class is in the same input"

// isMovedKubelet reports whether a field is a kubelet block of a NodePool, or inside one.
func isMovedKubelet(object, path string) bool {
	const block = "spec.template.spec.kubelet"
	return strings.HasPrefix(object, "NodePool ") && (path == block || strings.HasPrefix(path, block+"."))
}

// withoutReplicas lists workloads and static pools with 0 replicas in an input without pods, or "" if there are none.
func withoutReplicas(loaded *manifests.Result) string {
	var first string
	all := 0
	for i := range loaded.Warnings {
		if w := &loaded.Warnings[i]; w.Code == manifests.WarningNoReplicas {
			first = cmp.Or(first, w.Object)
			all += 1 + w.More
		}
	}
	for i := range loaded.Snapshot.NodePools {
		if p := &loaded.Snapshot.NodePools[i]; p.Object.Spec.Replicas != nil && *p.Object.Spec.Replicas == 0 {
			first = cmp.Or(first, "NodePool "+p.Key.String())
			all++
		}
	}
	switch all {
	case 0:
		return ""
	case 1:
		return first + " has 0 replicas"
	}
	return first + " and " + counted(all-1, "other object") + " have 0 replicas"
}

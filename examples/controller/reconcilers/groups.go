package reconcilers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// groupKind is a kind of objects that define groups of pods to place together.
type groupKind struct {
	kind cluster.Kind
	of   schema.GroupKind
	// version is the version to read; empty means the version that the API server prefers.
	version string
}

func groupKinds() []groupKind {
	return []groupKind{
		{cluster.KindPodGroup, schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PodGroup"}, ""},
		// Later versions of Workload are not read: they only describe PodGroups, which exist as separate objects.
		{cluster.KindWorkload, schema.GroupKind{Group: "scheduling.k8s.io", Kind: "Workload"}, "v1alpha1"},
		{cluster.KindCompositePodGroup, schema.GroupKind{Group: "scheduling.k8s.io", Kind: "CompositePodGroup"}, ""},
		{cluster.KindCoschedulingPodGroup, schema.GroupKind{Group: "scheduling.x-k8s.io", Kind: "PodGroup"}, ""},
		{cluster.KindVolcanoPodGroup, schema.GroupKind{Group: "scheduling.volcano.sh", Kind: "PodGroup"}, ""},
	}
}

// findGroups finds out which kinds of pod groups the API server serves, because a watch of a kind that is not served would never begin. The
// other kinds are checked again later.
func (o *Options) findGroups(mapper meta.RESTMapper) error {
	o.groups, o.notServed = nil, nil
	if !o.Features.Gangs {
		return nil
	}
	for _, k := range groupKinds() {
		object, err := k.served(mapper)
		switch {
		case err != nil:
			return err
		case object == nil:
			o.notServed = append(o.notServed, k)
			continue
		}
		o.groups = append(o.groups, watched{k.kind, object})
		k.announce(o.Logger, object)
	}
	return nil
}

// served returns an object of the kind, in the version that is read, or nil if the API server does not serve it.
func (k groupKind) served(mapper meta.RESTMapper) (*unstructured.Unstructured, error) {
	var versions []string
	if k.version != "" {
		versions = []string{k.version}
	}
	mapping, err := mapper.RESTMapping(k.of, versions...)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("asking whether the API server serves %s: %w", k.of, err)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(mapping.GroupVersionKind)
	return object, nil
}

func (k groupKind) announce(log *slog.Logger, object *unstructured.Unstructured) {
	log.Info("found API for pod groups, planning the pods of each group together",
		"groupVersion", object.GetAPIVersion(), "kind", k.of.Kind)
}

// heldRetry is the time until the next plan if a gang waits for nodes that were launched for it earlier.
const heldRetry = 10 * time.Second

// groupOf returns the claims of the same launch group, or nil for a claim without a group.
func (r *claimReconciler) groupOf(ctx context.Context, claim *v1.NodeClaim) ([]*v1.NodeClaim, error) {
	group, ok := v1.LaunchGroupOf(claim)
	if !ok {
		return nil, nil
	}
	var list v1.NodeClaimList
	if err := r.client.List(ctx, &list, client.MatchingFields{claimByGroup: group.Name}); err != nil {
		return nil, fmt.Errorf("listing the NodeClaims of launch group %s: %w", group.Name, err)
	}
	return pointers(list.Items), nil
}

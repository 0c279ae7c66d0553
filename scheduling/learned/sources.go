package learned

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// sources has the inputs on which Devices depends, in a form that is quick to compare. Objects are compared by their pointers.
type sources struct {
	day      time.Time
	slices   []*resourcev1.ResourceSlice
	nodes    []source
	pools    []poolSource
	catalogs map[string][]*cloudprovider.InstanceType
}

// source is a node for which there may be ResourceSlices.
type source struct {
	name         string
	pool         v1.PoolKey
	instanceType string
	created      time.Time
}

// poolSource is a NodePool with the learned devices in its annotation.
type poolSource struct {
	key              v1.PoolKey
	catalog, learned string
}

func sourcesOf(s *scheduling.Snapshot) *sources {
	out := &sources{day: s.Time.UTC().Truncate(day), slices: s.ResourceSlices, catalogs: maps.Clone(s.Catalogs)}
	for i := range s.NodePools {
		pool := &s.NodePools[i]
		from := poolSource{key: pool.Identity(), catalog: pool.Catalog}
		if pool.Object != nil {
			from.learned = pool.Object.Annotations[v1.LearnedDevicesAnnotationKey]
		}
		out.pools = append(out.pools, from)
	}
	if len(s.ResourceSlices) == 0 {
		return out
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; speaks(n) {
			out.nodes = append(out.nodes, source{n.Name, n.Pool, n.Object.Labels[corev1.LabelInstanceTypeStable], n.Object.CreationTimestamp.Time})
		}
	}
	return out
}

func (s *sources) equal(other *sources) bool {
	return s.day.Equal(other.day) && slices.Equal(s.slices, other.slices) && slices.Equal(s.nodes, other.nodes) && slices.Equal(s.pools, other.pools) &&
		maps.EqualFunc(s.catalogs, other.catalogs, slices.Equal[[]*cloudprovider.InstanceType])
}

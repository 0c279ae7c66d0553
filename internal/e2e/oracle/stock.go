package oracle

import (
	"cmp"
	"fmt"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/scheduling"
)

// stock has the instance types that the provider offers to each pool: those of the snapshot's catalogs, with NodeOverlays applied.
type stock struct {
	snapshot *scheduling.Snapshot
	overlaid *overlay.Result
}

func newStock(snapshot *scheduling.Snapshot) *stock {
	s := &stock{snapshot: snapshot}
	if len(snapshot.NodeOverlays) == 0 {
		return s
	}
	in := overlay.Input{Overlays: snapshot.NodeOverlays, Lookup: snapshot.Vocabulary.Compile()}
	for i := range snapshot.NodePools {
		p := &snapshot.NodePools[i]
		in.Pools = append(in.Pools, overlay.Pool{Key: keyOf(p), Object: p.Object, Types: snapshot.Catalogs[p.Catalog]})
	}
	s.overlaid = overlay.Apply(in)
	return s
}

// of returns a node's pool, and the instance types that the pool may launch.
func (s *stock) of(node *scheduling.NewNode) (*scheduling.NodePool, []*cloudprovider.InstanceType, error) {
	for i := range s.snapshot.NodePools {
		p := &s.snapshot.NodePools[i]
		key := keyOf(p)
		if key.Name != node.Pool.Name || cmp.Or(key.Generation, node.Pool.Generation) != node.Pool.Generation {
			continue
		}
		if s.overlaid == nil {
			return p, s.snapshot.Catalogs[p.Catalog], nil
		}
		types, err := s.overlaid.InstanceTypes(key)
		return p, types, err
	}
	return nil, nil, fmt.Errorf("node %s: the snapshot has no pool %s", node.Name, node.Pool)
}

// keyOf returns the pool's key. A zero key stands for the key of a v1 pool.
func keyOf(p *scheduling.NodePool) v1.PoolKey {
	if p.Key.IsZero() {
		return v1.NewPoolKey(p.Object.Name)
	}
	return p.Key
}

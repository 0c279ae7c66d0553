package market

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

const (
	// scoresEvery is how often scores are requested; a score is used for a day.
	scoresEvery = 12 * time.Hour
	// scoresRetry is the wait after a failure, and while there is no group to request scores for.
	scoresRetry = 15 * time.Minute
	// leastPeers is the minimum number of types in a group: EC2 always gives low scores for fewer types.
	leastPeers = 3
)

// Scores requests spot placement scores for the instance types of the cluster's spot nodes, together with their peers: types with as many
// vCPUs and as much memory. Each type of such a group gets the score of the group. Scores of the groups with the most nodes are requested
// first. Scores of groups beyond the limit Configurations are not requested.
type Scores struct {
	// Ask returns the scores of zones for spot capacity of any of the types, for example aws.Provider.SpotPlacementScores. Required.
	Ask func(ctx context.Context, types []string) (map[string]int, error)
	// Peers returns groups of types, for example Costs.Peers. Required.
	Peers func() [][]string
	// Market receives the scores. Required.
	Market *spotrisk.Market
	// Configurations is the largest number of groups of instance types for which scores are requested.
	Configurations int
	// Metrics counts requests; nil means no metrics.
	Metrics *Metrics
	// Logger receives errors; nil discards them.
	Logger *slog.Logger
	// Clock is the clock; nil means the real clock. Waiting always uses real time.
	Clock option.Clock
}

// NeedLeaderElection returns true: only one process requests scores.
func (s *Scores) NeedLeaderElection() bool { return true }

// Start requests scores until ctx ends.
func (s *Scores) Start(ctx context.Context) error {
	for {
		pause := scoresEvery
		if asked, err := s.Refresh(ctx); err != nil || asked == 0 {
			pause = scoresRetry
			if err != nil && ctx.Err() == nil && s.Logger != nil {
				s.Logger.Warn("cannot read spot placement scores, retrying", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// Refresh makes one request for each group, and returns the number of requests. It stops at the first error.
func (s *Scores) Refresh(ctx context.Context) (asked int, err error) {
	for _, types := range s.Peers() {
		if asked >= s.Configurations {
			break
		}
		scores, err := s.Ask(ctx, types)
		if err != nil {
			return asked, err
		}
		asked++
		s.Metrics.scored()
		now := option.Time(s.Clock, time.Now)
		for _, name := range types {
			for zone, score := range scores {
				s.Market.ObserveScore(spotrisk.Key{InstanceType: name, Zone: zone}, now, score)
			}
		}
	}
	return asked, nil
}

// shape contains the properties that instance types in a group have in common.
type shape struct{ milliCPU, memory int64 }

// Peers returns groups of at least three instance types with equal numbers of vCPUs and equal memory. There is one group for each such size
// among the spot nodes of the last observed snapshot; groups with the most nodes come first. The groups must not be changed.
func (c *Costs) Peers() [][]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peers
}

// peersOf returns the groups of at least leastPeers similar spot instance types for which the snapshot has nodes; groups with the most
// nodes come first.
func peersOf(s *scheduling.Snapshot) [][]string {
	shapes, names := map[string]shape{}, map[shape]map[string]bool{}
	for _, types := range s.Catalogs {
		for _, t := range types {
			if !slices.ContainsFunc(t.Offerings, func(o cloudprovider.Offering) bool { return o.CapacityType() == v1.CapacityTypeSpot }) {
				continue
			}
			is := shape{t.Capacity.Cpu().MilliValue(), gibibytes(t.Capacity)}
			shapes[t.Name] = is
			if names[is] == nil {
				names[is] = map[string]bool{}
			}
			names[is][t.Name] = true
		}
	}
	nodes := map[shape]int{}
	for i := range s.Nodes {
		if key, ok := spotOf(&s.Nodes[i]); ok {
			if is, known := shapes[key.InstanceType]; known && len(names[is]) >= leastPeers {
				nodes[is]++
			}
		}
	}
	order := slices.SortedFunc(maps.Keys(nodes), func(a, b shape) int {
		return cmp.Or(cmp.Compare(nodes[b], nodes[a]), cmp.Compare(a.milliCPU, b.milliCPU), cmp.Compare(a.memory, b.memory))
	})
	var out [][]string
	for _, is := range order {
		out = append(out, slices.Sorted(maps.Keys(names[is])))
	}
	return out
}

// gibibytes returns the memory in GiB, rounded, because the memory that the hypervisor uses differs a little between types of one size.
func gibibytes(capacity corev1.ResourceList) int64 {
	const gib = 1 << 30
	return (capacity.Memory().Value() + gib/2) / gib
}

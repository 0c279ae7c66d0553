package simulate

import "github.com/drawknife/drawknife/scheduling/planning"

// spotSplit divides the pending pods of a workload so that the workload's limits on spot nodes are kept.
type spotSplit struct {
	Workload string `json:"workload"`
	Limits   string `json:"limits"`
	// Pods, MostOnSpot and MostOnPool also count running pods.
	Pods       int `json:"pods"`
	MostOnSpot int `json:"mostOnSpot"`
	MostOnPool int `json:"mostOnPool"`
	// OffSpot are the pending pods that must not be on spot nodes; Parts contains the other pending pods.
	OffSpot []string   `json:"offSpot,omitempty"`
	Parts   []spotPart `json:"parts,omitempty"`
}

// spotPart is a group of pending pods with the spot pools that they may use: those of Pools, or all if Any is true.
type spotPart struct {
	Pods  []string    `json:"pods"`
	Pools []spotPools `json:"pools,omitempty"`
	Any   bool        `json:"any,omitempty"`
}

type spotPools struct {
	Zone          string   `json:"zone"`
	InstanceTypes []string `json:"instanceTypes"`
}

func newSpotSplits(splits []planning.SpotSplit) []spotSplit {
	var out []spotSplit
	for i := range splits {
		from := &splits[i]
		split := spotSplit{
			Workload: from.Workload, Limits: from.Limits, Pods: from.Pods, MostOnSpot: from.MostOnSpot, MostOnPool: from.MostOnPool,
			OffSpot: podNames(from.OffSpot),
		}
		for _, p := range from.Parts {
			part := spotPart{Pods: podNames(p.Pods), Any: p.Any}
			for _, pools := range p.Pools {
				part.Pools = append(part.Pools, spotPools(pools))
			}
			split.Parts = append(split.Parts, part)
		}
		out = append(out, split)
	}
	return out
}

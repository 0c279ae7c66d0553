package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
)

//go:embed recorded.json
var recordedJSON []byte

// records contains the records of scenarios, by name.
type records map[string]*record

// record contains what is known about one scenario. Unknown values are left out. Costs are in USD per hour.
type record struct {
	Pods int `json:"pods"`
	// Cost is the cost of drawknife's plan when it was recorded last. The following fields are the plan's bound, its CPU time and other
	// results. If the plan leaves out pods, its bound holds only for the other pods.
	Cost          float64 `json:"cost,omitempty"`
	Bound         float64 `json:"bound,omitempty"`
	CPUSeconds    float64 `json:"cpuSeconds,omitempty"`
	Nodes         int     `json:"nodes,omitempty"`
	Unschedulable int     `json:"unschedulable,omitempty"`
	// Karpenter is the result of Karpenter's plan, or nil if Karpenter did not plan the scenario.
	Karpenter *karpenterRecord `json:"karpenter,omitempty"`
	// ProvenBound is the highest lower bound that was proven for the scenario. ProvenBy says how it was proven.
	ProvenBound float64 `json:"provenBound,omitempty"`
	ProvenBy    string  `json:"provenBy,omitempty"`
	// Best is the cost of the cheapest valid packing that is known. BestBy is the method that found this packing.
	Best   float64 `json:"best,omitempty"`
	BestBy string  `json:"bestBy,omitempty"`
}

type karpenterRecord struct {
	Version       string  `json:"version"`
	Cost          float64 `json:"cost"`
	CPUSeconds    float64 `json:"cpuSeconds"`
	Nodes         int     `json:"nodes"`
	Unschedulable int     `json:"unschedulable,omitempty"`
	Refused       int     `json:"refused,omitempty"`
}

// whole reports whether the plan places every pod, each on a node that accepts it.
func (k *karpenterRecord) whole() bool { return k.Unschedulable == 0 && k.Refused == 0 }

func readRecords() (records, error) {
	r := records{}
	if err := json.Unmarshal(recordedJSON, &r); err != nil {
		return nil, fmt.Errorf("recorded.json: %w", err)
	}
	return r, nil
}

func (r records) names() []string { return slices.Sorted(maps.Keys(r)) }

// of returns the record of a scenario. It adds an empty record if r has none.
func (r records) of(name string) *record {
	if r[name] == nil {
		r[name] = &record{}
	}
	return r[name]
}

// found stores the cost of a packing if it is lower than Best by more than rounding errors.
func (r *record) found(cost float64, by string) {
	if cost > 0 && !math.IsInf(cost, 1) && (r.Best == 0 || cost < r.Best*(1-1e-6)) {
		r.Best, r.BestBy = rounded(cost), by
	}
}

// proved stores a bound if it is higher than ProvenBound by more than rounding errors.
func (r *record) proved(bound float64, by string) {
	if bound > r.ProvenBound*(1+1e-6) {
		r.ProvenBound, r.ProvenBy = rounded(bound), by
	}
}

// rounded rounds a price to six decimals. No price has more decimals.
func rounded(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// write stores the records in recorded.json in the folder of this program. It finds the folder from the working directory.
func (r records) write() error {
	for _, folder := range []string{"corpus", ".", filepath.Join("internal", "bench", "corpus")} {
		name := filepath.Join(folder, "recorded.json")
		if _, err := os.Stat(filepath.Join(folder, "recorded.go")); err != nil {
			continue
		}
		data, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			return err
		}
		return os.WriteFile(name, append(data, '\n'), 0o644)
	}
	return fmt.Errorf("there is no folder corpus with recorded.go here: run from internal/bench")
}

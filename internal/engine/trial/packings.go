package trial

import (
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/pricing"
)

// Packings caches how pods were packed onto new nodes, for callers that pack equal sets of pods repeatedly. The cached data depend only on
// the model and the options.
type Packings struct {
	// Choices has the new nodes to choose from. The key describes the places of the pods (see pricing.Place).
	Choices map[string]*offers.Choice
	// Packed has the cached packings. The key describes the pods.
	Packed map[string]*Packed
}

// Packed is a packing of pods onto new nodes. Choice has one option for each of its nodes.
type Packed struct {
	Choice *offers.Choice
	// Loads has the pods on each node. Left has, for each item, the number of pods without a node.
	Loads [][]pricing.Load
	Left  []int
}

// mostPackings is the maximum number of cached packings.
const mostPackings = 10_000

// NewPackings returns an empty cache.
func NewPackings() *Packings {
	return &Packings{Choices: map[string]*offers.Choice{}, Packed: map[string]*Packed{}}
}

// Remember caches a packing under the key. options has, for each node of the packing, the index of its option in p.
func (k *Packings) Remember(key string, p *offers.Choice, options []int32, loads [][]pricing.Load, left []int) {
	if len(k.Packed) >= mostPackings {
		return
	}
	bought := &offers.Choice{Problem: pricing.Problem{Dims: p.Dims, Resources: p.Resources, Items: p.Items}, Assigned: p.Assigned, Alike: p.Alike}
	for _, o := range options {
		option := p.Options[o]
		option.Open = nil
		bought.Options = append(bought.Options, option)
	}
	k.Packed[key] = &Packed{Choice: bought, Loads: loads, Left: left}
}

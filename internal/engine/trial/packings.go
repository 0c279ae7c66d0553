package trial

import (
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/pricing"
)

// Packings caches how pods were packed onto new nodes, for callers that pack equal pods repeatedly. All of it follows from the model and
// the options alone.
type Packings struct {
	// Choices are the nodes to choose from, by the places of the pods.
	Choices map[string]*offers.Choice
	// Packed are packings, by their pods.
	Packed map[string]*Packed
}

// Packed is a packing with one option for each node.
type Packed struct {
	Choice *offers.Choice
	// Loads are the pods on each of the nodes, Left those without a node, by item.
	Loads [][]pricing.Load
	Left  []int
}

// mostPackings bounds how many packings are remembered.
const mostPackings = 10_000

// NewPackings returns an empty cache.
func NewPackings() *Packings {
	return &Packings{Choices: map[string]*offers.Choice{}, Packed: map[string]*Packed{}}
}

// Remember caches a packing under the key, with the options that it uses.
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

package packing

import (
	"context"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// enlarged multiplies all amounts, so that the largest is as large as an amount can be.
func enlarged(p *Problem) *Problem {
	most := int64(1)
	for i := range p.Options {
		for _, a := range p.Options[i].Alloc {
			most = max(most, a)
		}
	}
	for i := range p.Items {
		for _, n := range p.Items[i].Need {
			most = max(most, n)
		}
	}
	factor := math.MaxInt64 / most
	for i := range p.Options {
		for d := range p.Options[i].Alloc {
			p.Options[i].Alloc[d] *= factor
		}
	}
	for i := range p.Items {
		for d := range p.Items[i].Need {
			p.Items[i].Need[d] *= factor
		}
	}
	return p
}

// overfull finds a node that holds more than it has, in numbers without bounds.
func overfull(p *Problem, nodes []Node) bool {
	for _, n := range nodes {
		for d := range p.Dims {
			used := new(big.Int)
			for _, l := range n.Load {
				used.Add(used, new(big.Int).Mul(big.NewInt(p.Items[l.Item].Need[d]), big.NewInt(int64(l.Count))))
			}
			if used.Cmp(big.NewInt(p.Options[n.Option].Alloc[d])) > 0 {
				return true
			}
		}
	}
	return false
}

// Amounts near 2^63 are packed as all others: no sum of them runs over.
func TestHugeAmounts(t *testing.T) {
	for name, e := range efforts {
		t.Run(name, func(t *testing.T) {
			packed := 0
			seeded.Check(t, func(t *rapid.T) {
				p := enlarged(drawn(t))
				nodes := Pack(context.Background(), p, nil, 0, e)
				if nodes == nil {
					return
				}
				packed++
				if overfull(p, nodes) {
					t.Fatal("a node holds more than it has")
				}
				if fault := faultOf(p, nodes); fault != "" {
					t.Fatal(fault)
				}
			})
			if packed == 0 {
				t.Fatal("nothing was packed")
			}
		})
	}
}

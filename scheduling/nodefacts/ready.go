package nodefacts

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// ReadyTerm is the name of the terms of Ready.
const ReadyTerm = "time to ready"

// perMinute is the amount, in USD per hour, that each minute until a node is ready adds to the node's price. It decides between nodes with
// equal prices, and it is too small to have other effects.
const perMinute = 1e-6

// Ready returns how long nodes of the type and class take until they are ready. It returns false if no such node was seen.
func (b *Book) Ready(instanceType, class string) (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.newest()[classKey{instanceType, class}]
	if f == nil || f.ReadySeconds == 0 {
		return 0, false
	}
	return seconds(f.ReadySeconds), true
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Timeout returns how long the claim may take until its node is registered. The argument otherwise is the configured timeout. The result is
// ten times the time that nodes of the claim's type and class take until they are ready, but at least a third and at most four times the
// configured timeout. For several types, the longest of their times is used. If the time of a type is not known, or if fewer than three
// nodes of it were seen, the result is the configured timeout.
func (b *Book) Timeout(claim *v1.NodeClaim, otherwise time.Duration) time.Duration {
	if claim == nil {
		return otherwise
	}
	names := typesOf(claim)
	if len(names) == 0 {
		return otherwise
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	newest, class := b.newest(), classOf(claim.Spec.NodeClassRef)
	longest := time.Duration(0)
	for _, name := range names {
		f := newest[classKey{name, class}]
		if f == nil || f.ReadySeconds == 0 || f.Nodes < leastNodes {
			return otherwise
		}
		longest = max(longest, seconds(f.ReadySeconds))
	}
	return min(max(10*longest, otherwise/3), 4*otherwise)
}

// leastNodes is the number of counted nodes that a fact needs before Timeout uses the fact's time to readiness.
const leastNodes = 3

// typesOf returns the instance types of a claim: the type of its instance, or the types that it allows.
func typesOf(claim *v1.NodeClaim) []string {
	if name := claim.Labels["node.kubernetes.io/instance-type"]; name != "" {
		return []string{name}
	}
	for _, r := range claim.Spec.Requirements {
		if r.Key == "node.kubernetes.io/instance-type" && r.Operator == "In" {
			return r.Values
		}
	}
	return nil
}

// ReadyTerms returns terms of the cost model that prefer, at equal price, types whose nodes are ready sooner: a millionth of a dollar per
// hour for each minute. Types of which no node was seen get the average of the other types. There is one term for each catalog whose pools
// share one class. Put these terms last.
func (b *Book) ReadyTerms(s *scheduling.Snapshot) []planning.CostTerm {
	if s == nil {
		return nil
	}
	b.mu.Lock()
	newest := b.newest()
	sum, n := 0.0, 0
	minutes := map[classKey]float64{}
	for key, f := range newest {
		if f.ReadySeconds > 0 {
			minutes[key] = f.ReadySeconds / 60
		}
	}
	b.mu.Unlock()
	for _, m := range minutes {
		sum, n = sum+m, n+1
	}
	if n == 0 {
		return nil
	}
	var out []planning.CostTerm
	for i := range s.NodePools {
		pool := &s.NodePools[i]
		if pool.Object == nil {
			continue
		}
		class := classOf(pool.Object.Spec.Template.Spec.NodeClassRef)
		name := pool.Identity().String()
		term := planning.Tabulate(ReadyTerm+" of "+name, "nodes that joined: $0.000001 an hour for each minute", s.Catalogs[pool.Catalog],
			func(t *cloudprovider.InstanceType, _ *cloudprovider.Offering) float64 {
				if m, known := minutes[classKey{t.Name, class}]; known {
					return perMinute * m
				}
				return perMinute * sum / float64(n)
			})
		if term.Where.NodePools = []string{name}; len(term.Offerings) > 0 && len(out) < maxTerms {
			out = append(out, term)
		}
	}
	return out
}

// maxTerms is the largest number of cost terms that ReadyTerms returns. A cost model may have at most 256 terms.
const maxTerms = 32

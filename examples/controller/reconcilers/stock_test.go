package reconcilers

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/nodefacts"
)

// marketLog records what a MarketObserver is told.
type marketLog struct {
	mu                             sync.Mutex
	launched, refused, interrupted []cloudprovider.OfferingKey
}

func (m *marketLog) Launched(key cloudprovider.OfferingKey, _ time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.launched = append(m.launched, key)
}

func (m *marketLog) Refused(keys []cloudprovider.OfferingKey, _ time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = append(m.refused, keys...)
}

func (m *marketLog) Interrupted(key cloudprovider.OfferingKey, _ time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.interrupted = append(m.interrupted, key)
}

// onSale are the offerings that a snapshot's pools may buy.
func onSale(s *scheduling.Snapshot) map[cloudprovider.OfferingKey]bool {
	out := map[cloudprovider.OfferingKey]bool{}
	for i := range s.NodePools {
		for _, t := range s.Catalogs[s.NodePools[i].Catalog] {
			for j := range t.Offerings {
				if t.Offerings[j].Available {
					out[cloudprovider.KeyOf(t, &t.Offerings[j])] = true
				}
			}
		}
	}
	return out
}

// All who plan share one estimate of stock: what was refused a minute ago is counted on by neither planning nor disruption, and what is due
// for a probe is tried by one pass, also if another replica takes over.
func TestOneStockEstimate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stock, err := provisioning.NewStockEstimate(provisioning.DefaultStockEstimateOptions())
		if err != nil {
			t.Fatal(err)
		}
		seen := &marketLog{}
		w := newWorld(t, func(o *Options) { o.Stock, o.Market = stock, seen })
		w.create(newPod("a"))
		w.plan()
		var bought cloudprovider.OfferingKey
		for range 60 {
			w.live(1)
			if len(seen.launched) > 0 {
				bought = seen.launched[0]
				break
			}
		}
		if bought.InstanceType == "" {
			t.Fatal("the observer was told of no launch")
		}
		for range 3 { // more than one success is outweighed
			stock.Exhausted([]cloudprovider.OfferingKey{bought}, w.planner.now())
		}
		isOpen := func() (planning, disruption bool) {
			snapshot, _, err := w.planner.look(t.Context(), w.planner.now())
			if err != nil {
				t.Fatal(err)
			}
			view, err := w.planner.view(t.Context(), w.planner.now())
			if err != nil {
				t.Fatal(err)
			}
			return onSale(snapshot)[bought], onSale(view.Snapshot)[bought]
		}
		time.Sleep(time.Minute)
		if planning, disruption := isOpen(); planning || disruption {
			t.Errorf("a minute after a refusal: planning counts on it %t, disruption %t", planning, disruption)
		}
		time.Sleep(4 * time.Minute)
		if planning, disruption := isOpen(); !planning || !disruption {
			t.Errorf("when a probe is due: planning may try it %t, disruption %t", planning, disruption)
		}
		w.planner.probes([]provisioning.Launched{{Launch: provisioning.Launch{Offering: bought}}}, w.planner.now())
		time.Sleep(time.Second)
		if planning, disruption := isOpen(); planning || disruption {
			t.Errorf("while it is tried: planning counts on it %t, disruption %t", planning, disruption)
		}
		text, err := stock.Export()
		if err != nil {
			t.Fatal(err)
		}
		next, err := provisioning.NewStockEstimate(provisioning.DefaultStockEstimateOptions())
		if err != nil {
			t.Fatal(err)
		}
		if err := next.Import(text, w.planner.now()); err != nil {
			t.Fatal(err)
		}
		w.start(func(o *Options) { o.Stock = next })
		if planning, disruption := isOpen(); planning || disruption {
			t.Errorf("after a takeover: planning counts on it %t, disruption %t", planning, disruption)
		}
	})
}

// The observer is told of refused launches with the offerings that the error names.
func TestObserverOfRefusals(t *testing.T) {
	key := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "a", CapacityType: "spot"}
	seen := &marketLog{}
	w := newWorld(t, func(o *Options) { o.Market = seen })
	err := cloudprovider.NewInsufficientCapacityError(nil, key)
	if !w.nodes.refused(err, time.Now()) || len(seen.refused) != 1 || seen.refused[0] != key {
		t.Errorf("told of %v", seen.refused)
	}
}

// What nodes report is planned with when NodeFacts is set.
func TestNodeFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, err := nodefacts.New(nodefacts.Options{Lifetime: time.Hour, MinShare: 0.5, MaxShare: 1.1})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, func(o *Options) { o.NodeFacts = book })
		node, claim := w.node(newPod("a"))
		node.Status.Capacity[corev1.ResourcePods] = *node.Status.Capacity.Cpu()
		if err := w.client.Status().Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		w.live(2)
		snapshot, _, err := w.planner.look(t.Context(), w.planner.now())
		if err != nil {
			t.Fatal(err)
		}
		if facts := book.Facts(); len(facts) != 1 || facts[0].ReadySeconds <= 0 || len(snapshot.Assumptions) != 1 {
			t.Errorf("facts %+v, says %q", facts, snapshot.Assumptions)
		}
		if got := book.Timeout(claim, 15*time.Minute); got != 15*time.Minute {
			t.Errorf("one node decides on the time-out: %s", got)
		}
	})
}

package removing

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
)

// launch opens one or several new nodes for the waiting pods. Their total price is below the parameter most. It returns a block if no such
// nodes are possible, or if the parameter where is OnlyRoom.
func (t *Trier) launch(ctx context.Context, where Places, most int64, waiting int) (*decision.Block, error) {
	if where == OnlyRoom {
		return &decision.Block{Code: decision.BlockUnschedulable, Pods: t.Trial.Waiting(min(waiting, reference.MaxNamed))}, nil
	}
	committed := t.unusedCommitments()
	if least := money.NanoUSD(t.Worth.Waiting(t.Trial.Trial)); least >= most && !committed {
		return &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most), Floor: money.USD(least)}, nil
	}
	if where == LikeProvisioning {
		return t.launchFully(ctx, most)
	}
	if t.Few && (where == OnlyNew || t.Accepting) || committed {
		return t.launchBest(ctx, most)
	}
	below, mark := money.USD(most), t.Trial.Mark()
	one, joint := t.Trial.Launch(t.Query, below)
	if joint && where != OnlyNew && !t.Subsets {
		return nil, nil
	}
	if joint {
		below = one
		if err := t.Trial.Rollback(mark); err != nil {
			return nil, err
		}
	}
	if _, some := t.launchSome(below); some {
		return nil, nil
	}
	if joint {
		t.Trial.Launch(t.Query, money.USD(most))
		return nil, nil
	}
	if most < money.Unlimited && (!t.Few || t.Subsets) && t.Trial.Plain(t.Query) {
		return &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most)}, nil
	}
	return t.launchFully(ctx, most)
}

// unusedCommitments reports whether there are commitments that are not fully used, so that new nodes could use them. Only a full placement
// (PlaceNew) takes the savings of commitments into account. Launch, LaunchSome and the values of pods use the prices of nodes that no
// commitment covers.
func (t *Trier) unusedCommitments() bool {
	return slices.ContainsFunc(newnodes.Of(t.Trial.Trial).CommitmentsLeft(), func(left int64) bool { return left > 0 })
}

// launchSome opens several new nodes. It looks for the cheapest set of new nodes if there are few candidates (Few), and also either Subsets
// or Accepting is true.
func (t *Trier) launchSome(below float64) (price float64, ok bool) {
	if t.Few && (t.Subsets || t.Accepting) {
		return t.Trial.LaunchLeast(t.Query, t.Worth, t.launched(), launchTries, below)
	}
	return t.Trial.LaunchSome(t.Query, t.Worth, t.launched(), below)
}

// launchTries is the number of sets of new nodes that LaunchLeast tries for one group of pods.
const launchTries = 128

// launchBest tries each method of launching new nodes, undoes all these launches, and then repeats the cheapest launch.
func (t *Trier) launchBest(ctx context.Context, most int64) (*decision.Block, error) {
	mark, best, cheapest := t.Trial.Mark(), -1, most
	options := []func() (int64, *decision.Block, error){
		func() (int64, *decision.Block, error) {
			if price, ok := t.Trial.Launch(t.Query, money.USD(most)); ok {
				return money.NanoUSD(price), nil, nil
			}
			return 0, &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most)}, nil
		},
		func() (int64, *decision.Block, error) {
			if price, ok := t.launchSome(money.USD(most)); ok {
				return money.NanoUSD(price), nil, nil
			}
			return 0, &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most)}, nil
		},
		func() (int64, *decision.Block, error) {
			why, err := t.launchFully(ctx, most)
			return t.fullCost, why, err
		},
	}
	var first *decision.Block
	for i, try := range options {
		price, why, err := try()
		if err != nil {
			return nil, err
		}
		if why == nil && price < cheapest {
			best, cheapest = i, price
		}
		if first == nil {
			first = why
		}
		if err := t.Trial.Rollback(mark); err != nil {
			return nil, err
		}
	}
	if best < 0 {
		return cmp.Or(first, &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most)}), nil
	}
	_, why, err := options[best]()
	return why, err
}

// launchFully finds new nodes with a full placement, as provisioning does. A full placement takes long.
func (t *Trier) launchFully(ctx context.Context, most int64) (*decision.Block, error) {
	t.Work += placeWork
	out, err := t.Trial.PlaceNew(ctx, t.Query)
	t.fullCost = money.NanoUSD(out.NewCost)
	switch {
	case err != nil:
		return nil, err
	case out.Unplaced > 0:
		return &decision.Block{Code: decision.BlockUnschedulable, Pods: t.Trial.Waiting(min(out.Unplaced, reference.MaxNamed))}, nil
	case money.NanoUSD(out.NewCost) >= most:
		return &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most), Floor: out.NewCost}, nil
	}
	return nil, nil
}

// placeWork is the number of what-ifs that Effort.Work adds for one full placement.
const placeWork = 50

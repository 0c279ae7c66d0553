package global

import (
	"cmp"
	"context"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/engine/launching"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// whatIf is the trial of a search, with what opens new nodes on it. What puts pods on nodes that are there is in package placing.
type whatIf struct {
	*launching.Launching
	// written says what the trial has come to.
	written *answering.Answering
}

// newWhatIf is a trial of the model, which remembers no answers.
func newWhatIf(m *model.Model) *whatIf {
	t := trial.New(m)
	return &whatIf{launching.On(t), answering.On(t)}
}

// clone is a trial of its own that is as this one is now. What was remembered to save time is not taken along, but for answers, which both
// share.
func (t *whatIf) clone() *whatIf {
	out := t.Launching.Clone()
	return &whatIf{out, answering.On(out.Trial)}
}

// unlimited is more than anything costs.
const unlimited = int64(1) << 60

// launch finds new nodes for so many pods that wait: one for all of them, or several.
func (s *search) launch(ctx context.Context, where places, most int64, waiting int) (*decision.Block, error) {
	if where == onlyRoom {
		return &decision.Block{Code: decision.BlockUnschedulable, Pods: s.trial.Waiting(min(waiting, reference.MaxNamed))}, nil
	}
	if floor := money.NanoUSD(s.worth.Waiting(s.trial.Trial)); floor >= most {
		return &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most), Floor: money.USD(floor)}, nil
	}
	if where == afresh {
		return s.launchAny(ctx, most)
	}
	if s.few() && (where == onlyNew || s.accepting) {
		return s.launchBest(ctx, most)
	}
	below, mark := money.USD(most), s.trial.Mark()
	one, joint := s.trial.Launch(s.Query, below)
	if joint && where != onlyNew && !s.way.subsets {
		return nil, nil
	}
	if joint {
		below = one
		if err := s.trial.Rollback(mark); err != nil {
			return nil, err
		}
	}
	if _, some := s.launchSome(below); some {
		return nil, nil
	}
	if joint {
		s.trial.Launch(s.Query, money.USD(most))
		return nil, nil
	}
	if most < unlimited && (!s.few() || s.way.subsets) && s.trial.Plain(s.Query) {
		return &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most)}, nil
	}
	return s.launchAny(ctx, most)
}

// launchSome opens several new nodes, where nodes are few after a search for the cheapest.
func (s *search) launchSome(below float64) (price float64, ok bool) {
	if s.few() && (s.way.subsets || s.accepting) {
		return s.trial.LaunchLeast(s.Query, s.worth, s.launched(), launchTries, below)
	}
	return s.trial.LaunchSome(s.Query, s.worth, s.launched(), below)
}

// launchTries is how many new nodes are opened, where nodes are few, to find the cheapest for one group of pods.
const launchTries = 128

// launchBest goes all ways to launch new nodes, and then the cheapest once more.
func (s *search) launchBest(ctx context.Context, most int64) (*decision.Block, error) {
	mark, best, cheapest := s.trial.Mark(), -1, most
	ways := []func() (int64, *decision.Block, error){
		func() (int64, *decision.Block, error) {
			if price, ok := s.trial.Launch(s.Query, money.USD(most)); ok {
				return money.NanoUSD(price), nil, nil
			}
			return 0, &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most)}, nil
		},
		func() (int64, *decision.Block, error) {
			if price, ok := s.launchSome(money.USD(most)); ok {
				return money.NanoUSD(price), nil, nil
			}
			return 0, &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most)}, nil
		},
		func() (int64, *decision.Block, error) {
			why, err := s.launchAny(ctx, most)
			return s.anyCost, why, err
		},
	}
	var first *decision.Block
	for i, try := range ways {
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
		if err := s.trial.Rollback(mark); err != nil {
			return nil, err
		}
	}
	if best < 0 {
		return cmp.Or(first, &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most)}), nil
	}
	_, why, err := ways[best]()
	return why, err
}

// smallFleet is how many candidates are few enough to go all ways for each.
const smallFleet = 12

// few says that the search looks at so few; not where it is about a part of a fleet.
func (s *search) few() bool { return !s.partly && len(s.live) <= smallFleet }

// launchAny finds new nodes in all ways there are, which takes long.
func (s *search) launchAny(ctx context.Context, most int64) (*decision.Block, error) {
	s.work += placeWork
	out, err := s.trial.PlaceNew(ctx, s.Query)
	s.anyCost = money.NanoUSD(out.NewCost)
	switch {
	case err != nil:
		return nil, err
	case out.Unplaced > 0:
		return &decision.Block{Code: decision.BlockUnschedulable, Pods: s.trial.Waiting(min(out.Unplaced, reference.MaxNamed))}, nil
	case money.NanoUSD(out.NewCost) >= most:
		return &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(most), Floor: out.NewCost}, nil
	}
	return nil, nil
}

// placeWork is how many what-ifs a full placement counts for.
const placeWork = 50

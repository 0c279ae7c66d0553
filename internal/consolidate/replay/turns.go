package replay

import (
	"context"
	"errors"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// putInTurns puts pods on the command's nodes in rounds: in each round, each node takes as many of its pods as it can take now. For
// example, if two new nodes are in different zones, a spread constraint can forbid putting all pods of the first node before any pod of the
// second node. As in the cluster, all new nodes exist before the first pod is moved. The method returns the order in which pods were put on
// nodes, or nil if some pods get no place.
func (r *Replay) putInTurns(ctx context.Context, cmd *decision.Command) ([]planning.PodKey, error) {
	turns, ok := r.turns(cmd)
	if !ok {
		return nil, nil
	}
	var order []planning.PodKey
	for progress, left := true, true; left; {
		if !progress {
			return nil, nil
		}
		progress, left = false, false
		for i := range turns {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			put, err := turns[i].take()
			if err != nil {
				return nil, nil
			}
			order, progress, left = append(order, put...), progress || len(put) > 0, left || len(turns[i].pods) > 0
		}
	}
	return order, nil
}

// turn is a node of the command, with those of its planned pods that are not on it yet.
type turn struct {
	pods []planning.PodKey
	put  func([]planning.PodKey) error
}

// turns opens the command's new nodes, and returns a turn for each of the command's existing and new nodes. It returns false if a new node
// can't be opened.
func (r *Replay) turns(cmd *decision.Command) ([]turn, bool) {
	var out []turn
	for i := range cmd.Receivers {
		e := &cmd.Receivers[i]
		out = append(out, turn{slices.Clone(e.Pods), func(pods []planning.PodKey) error { return placing.Of(r.Trial).Put(e.Name, pods) }})
	}
	for i := range cmd.Replacements {
		node := cmd.Replacements[i].Node
		if node == nil {
			continue
		}
		number, empty := r.Trial.NewNodes(), *node
		empty.Pods = nil
		if placing.Of(r.Trial).PutNew(&empty) != nil {
			return nil, false
		}
		out = append(out, turn{slices.Clone(node.Pods), func(pods []planning.PodKey) error { return placing.Of(r.Trial).PutMore(number, pods) }})
	}
	return out, true
}

// take puts pods of t.pods on the node, as many as the node can take now. It removes these pods from t.pods. It returns an error if a pod
// can't be placed for a reason other than placing.ErrNoPlace.
func (t *turn) take() (put []planning.PodKey, err error) {
	left := t.pods[:0]
	for i, key := range t.pods {
		switch err := t.put(t.pods[i : i+1]); {
		case err == nil:
			put = append(put, key)
		case errors.Is(err, placing.ErrNoPlace):
			left = append(left, key)
		default:
			return nil, err
		}
	}
	t.pods = left
	return put, nil
}

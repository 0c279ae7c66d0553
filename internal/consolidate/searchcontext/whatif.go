package searchcontext

import (
	"context"
	"strings"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/engine/launching"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// WhatIf is the trial of a search, with the code that opens new nodes on it. Package placing puts pods on existing nodes.
type WhatIf struct {
	*launching.Launching
	// Written describes the present state of the trial.
	Written *answering.Answering
}

// newWhatIf returns a trial of the model, without a cache of the new nodes that were found for pods.
func newWhatIf(m *model.Model) *WhatIf {
	t := trial.New(m)
	return &WhatIf{launching.On(t), answering.On(t)}
}

// Clone returns an independent trial in the same state. The clone gets no cached data, with one exception: both trials share the cache of
// new nodes that were found for pods.
func (t *WhatIf) Clone() *WhatIf {
	out := t.Launching.Clone()
	return &WhatIf{out, answering.On(out.Trial)}
}

// Begin makes a new trial. In this trial, pending pods have their places, and closed nodes accept no other pods.
func (x *Context) Begin(ctx context.Context) (*WhatIf, error) {
	t := newWhatIf(x.Model)
	t.Recall(x.answers)
	if _, err := solving.Of(t.Trial).Place(ctx, planning.PlaceOptions{Query: x.Query, ExistingOnly: true}); err != nil {
		return nil, err
	}
	for _, name := range x.closed {
		if err := t.Close(name); err != nil {
			return nil, err
		}
	}
	if err := t.Rank(x.order); err != nil {
		return nil, err
	}
	t.Commit()
	return t, nil
}

// Awaited returns a block if pending pods of the trial would have a place on nodes that are not ready yet, and otherwise nil. A plan that
// launched nodes for such pods would launch too many nodes. Each restart of the process would launch even more.
func (x *Context) Awaited(t *WhatIf) *decision.Block {
	if len(x.initializing) == 0 {
		return nil
	}
	names := placing.Of(t.Trial).TakersAmong(x.Query, x.initializing, reference.MaxNamed)
	if len(names) == 0 {
		return nil
	}
	return &decision.Block{Code: decision.BlockDependsOnUninitialized, Detail: strings.Join(names, ", ")}
}

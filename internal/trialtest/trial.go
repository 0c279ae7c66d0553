// Package trialtest has a trial for tests, with the methods of all packages of the engine that work on a trial.
package trialtest

import (
	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/engine/launching"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/internal/engine/valuing"
)

// Trial is a trial with the methods of all packages of the engine that work on trials.
type Trial struct {
	*trial.Trial
	*launching.Launching
	*answering.Answering
	placing.Placing
	solving.Solving
	valuing.Valuing
}

// Mark is a state of a trial to which Rollback can return.
type Mark = trial.Mark

// New starts a trial, which is a what-if on the model.
func New(m *model.Model) *Trial {
	return on(launching.On(trial.New(m)))
}

// Clone returns an independent trial in the same state. The methods of the copy return the same results as the methods of the original.
func (t *Trial) Clone() *Trial {
	return on(t.Launching.Clone())
}

func on(l *launching.Launching) *Trial {
	t := l.Trial
	return &Trial{
		Trial: t, Launching: l, Answering: answering.On(t), Placing: placing.Of(t), Solving: solving.Of(t), Valuing: valuing.Of(t),
	}
}

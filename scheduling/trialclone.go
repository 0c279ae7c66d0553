package scheduling

import (
	"github.com/drawknife/drawknife/internal/engine/answering"
)

// Clone is a trial of its own that is as this one is now: the same nodes are hidden and opened, the same pods wait, and Move goes by the
// same Rank. Both give the same answers to the same questions from now on, and may be used side by side. Marks of one are none of the
// other. What was remembered to save time is not taken along, but for Answers, which both share.
func (t *Trial) Clone() *Trial {
	out := t.launching.Clone()
	return &Trial{t: out.Trial, launching: *out, answering: answering.Answering{Trial: out.Trial}}
}

// Coined reports whether new nodes of the trial, undone ones too, had labels that are domains which the model does not know: it has
// numbered those in the order in which it met them.
func (t *Trial) Coined() bool { return t.t.Coined() }

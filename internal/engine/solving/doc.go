// Package solving places all pending pods.
//
// The question: on which nodes should which pods run, so that as many pods as possible have a place, pods of high priority come first, and
// new nodes cost little?
//
// The input is a trial and the options of a query. The output is bindings and new nodes in the trial's state ([Solving.Place]), and the
// pods for which kube-scheduler would preempt other pods ([Preemptions]).
//
// The method: the package computes a value for each pod, fills existing nodes by value, packs the other pods onto new nodes, and checks
// each placement by the exact rules. It places the remaining pods one by one (package placing). If there are few pods, it then searches for
// better results: it tries other orders, avoids some nodes, repacks nodes, keeps room for later pods, and tries to do without some nodes.
// An attempt that does not improve the result is undone.
//
// The cost: the number of steps is limited, not the time. The constants of each search contain its limits. Without the pricing, the first
// pass takes time that is linear in the number of pods and nodes.
package solving

import "github.com/drawknife/drawknife/internal/engine/trial"

// Solving places all pending pods on a trial.
type Solving struct{ *trial.Trial }

// Of returns a Solving for the trial.
func Of(t *trial.Trial) Solving { return Solving{t} }

// Improving looks for a better result once all pods are placed. It undoes each attempt that does not improve the result.
type Improving struct{ *trial.Trial }

// ImprovingOf returns an Improving for the trial.
func ImprovingOf(t *trial.Trial) Improving { return Improving{t} }

package cloudprovider

import (
	"context"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// GateResult is what a RegistrationGate says of an instance. The zero value means: not yet, ask again with back-off.
type GateResult struct {
	// Open is true when the instance may be registered, as far as this gate is concerned.
	Open bool
	// RetryAfter is when to ask again while the gate is closed; zero leaves it to the caller's back-off.
	RetryAfter time.Duration
	// Reason is what the gate waits for, for people.
	Reason string
}

// RegistrationGate is for providers that have something to do between an instance's joining and its first pod. A
// provider that implements it is a gate under its own name; further gates can be handed to whoever registers nodes.
//
//   - CP-GATE-01: a gate that has opened for a claim stays open. Why: the node's taint is gone by then.
//   - CP-GATE-02: asking changes nothing that asking again would not. Why: it is asked again after every failure and
//     restart.
//   - CP-GATE-03: a gate that can't tell is an error or a zero GateResult, never open. Why: a pod on an instance that
//     is not ready for it is worse than a pod that waits.
//   - CP-GATE-04: an instance that is gone before the gate has opened for it gives an error of kind NodeClaimNotFound.
//     Why: waiting for it is vain.
type RegistrationGate interface {
	// Name of the gate, shown while the node waits for it.
	Name() string
	// Registered says whether the claim's instance may be registered.
	Registered(ctx context.Context, nodeClaim *v1.NodeClaim) (GateResult, error)
}

package cloudprovider

import (
	"context"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// GateResult is the answer of a RegistrationGate for an instance. The zero value means: not yet, ask again with back-off.
type GateResult struct {
	// Open is true if this gate allows the instance to register.
	Open bool
	// RetryAfter is when to ask again while the gate is closed. If it is zero, the caller's back-off decides.
	RetryAfter time.Duration
	// Reason says what the gate waits for, in a sentence for people.
	Reason string
}

// RegistrationGate is for providers that must do something after an instance has joined and before its first pod runs. A provider that
// implements it is a gate with its own name; the code that registers nodes may have further gates.
//
//   - CP-GATE-01: a gate that has opened for a claim stays open. Why: the node's taint is gone by then.
//   - CP-GATE-02: calls are idempotent. Why: it is asked again after every failure and restart.
//   - CP-GATE-03: a gate that doesn't know returns an error or a zero GateResult, never Open. Why: a pod on an instance that is not
//     ready for it is worse than a pod that waits.
//   - CP-GATE-04: an instance that is gone before the gate has opened for it gives an error of kind NodeClaimNotFound.
//     Why: waiting for it is vain.
type RegistrationGate interface {
	// Name returns the name of the gate, which is shown while the node waits for it.
	Name() string
	// Registered returns whether the claim's instance may be registered.
	Registered(ctx context.Context, nodeClaim *v1.NodeClaim) (GateResult, error)
}

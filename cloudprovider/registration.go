package cloudprovider

import (
	"context"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// GateResult is the answer of a RegistrationGate for an instance. The zero value means that the instance may not register yet: the caller
// should ask again with back-off.
type GateResult struct {
	// Open is true if this gate allows the instance to register.
	Open bool
	// RetryAfter is when to ask again while the gate is closed. If it is zero, the caller uses its own back-off.
	RetryAfter time.Duration
	// Reason says in a sentence, for people, what the gate waits for.
	Reason string
}

// RegistrationGate is for providers that need time for a task after an instance has joined and before its first pod runs. The gate is
// closed until this task is done. The code that registers nodes may have further gates, each with its own name.
//
//   - CP-GATE-01: a gate that has opened for a claim stays open. Why: after the gate has opened, the node's taint is removed.
//   - CP-GATE-02: calls are idempotent. Why: callers repeat the call after every failure and restart.
//   - CP-GATE-03: if the provider does not know whether the instance is ready, it returns an error or a zero GateResult, never Open. Why: a
//     pod on an instance that is not ready for it is worse than a pod that waits.
//   - CP-GATE-04: an instance that is gone before the gate has opened for it gives an error of kind NodeClaimNotFound. Why: callers must
//     stop waiting for it.
type RegistrationGate interface {
	// Name returns the name of the gate, which is shown while the node waits for it.
	Name() string
	// Registered returns whether the claim's instance may be registered.
	Registered(ctx context.Context, nodeClaim *v1.NodeClaim) (GateResult, error)
}

package provisioning

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/limits"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// Periods of static pools.
const (
	staticEvery     = time.Minute
	staticLimitWait = 30 * time.Second
)

// StaticState is the observed state of a static pool: one with a fixed number of replicas. It is not changed.
type StaticState struct {
	// Pool as stored.
	Pool *v1.NodePool
	// Claims are all claims of the pool.
	Claims []StaticClaim
	// Gangs whose members may run on the pool's nodes; nil if there are none.
	Gangs []scheduling.Gang
	// Ordered is the number of the pool's claims that have been created but are not in Claims yet.
	Ordered int
}

// StaticClaim is a claim of a static pool with the pods of its node.
type StaticClaim struct {
	Claim *v1.NodeClaim
	Pods  []*corev1.Pod
	// Replaced is true if a replacement is planned or launched: the claim will be removed, but is not deleted yet.
	Replaced bool
}

// StaticStep is the next step of a static pool.
type StaticStep struct {
	// Launches are the claims to create.
	Launches []Launch
	// Deletions are the claims to delete.
	Deletions []DeleteClaim
	// Err is why fewer nodes are launched than are missing: the pool's limit on nodes. Nil if all are launched.
	Err error
	// Again is when to call ScaleStatic again.
	Again time.Duration
}

// ScaleStatic brings a static pool to its number of replicas at the time now. Claims that are being deleted or replaced don't
// count, but ordered ones do, so that nothing is launched twice. Scaling down removes the nodes first whose removal costs least:
// without an instance, empty, without protected pods and members of gangs, cheap to move, near the end of their life. Where members of
// gangs have to go, they are those of whole gangs as far as possible.
func ScaleStatic(s StaticState, o nodeclaims.Options, now time.Time) (StaticStep, error) {
	pool := s.Pool
	if pool == nil {
		return StaticStep{}, option.Missing("ScaleStatic", "the pool")
	}
	if pool.Spec.Replicas == nil {
		return StaticStep{}, nil
	}
	if pool.DeletionTimestamp != nil || !pool.DeepCopy().Conditions().IsTrue(v1.ConditionReady) {
		return StaticStep{Again: staticEvery}, nil
	}
	staying, all := 0, s.Ordered
	for _, c := range s.Claims {
		all++
		if c.Claim.DeletionTimestamp == nil && !c.Replaced {
			staying++
		}
	}
	want := int(*pool.Spec.Replicas)
	switch have := staying + s.Ordered; {
	case have < want:
		return s.scaleUp(want-have, all, o)
	case staying > want:
		return StaticStep{Deletions: s.leastLoss(staying-want, now), Again: staticEvery}, nil
	}
	return StaticStep{Again: staticEvery}, nil
}

// scaleUp orders as many nodes as the pool's limit on nodes allows. All existing nodes count against it, also those that are being
// removed.
func (s StaticState) scaleUp(missing, all int, o nodeclaims.Options) (StaticStep, error) {
	step := StaticStep{Again: staticEvery}
	if limit, ok := s.Pool.Spec.Limits[limits.ResourceNodes]; ok {
		if room := max(0, int(limit.Value())-all); room < missing {
			step.Err = fmt.Errorf("nodepool %s: %d nodes are missing, but spec.limits[nodes] %s allows only %d: raise the limit", v1.QualifiedName(s.Pool), missing, limit.String(), room)
			step.Again = staticLimitWait
			missing = room
		}
	}
	pool := &scheduling.NodePool{Key: s.Pool.Key(), Object: s.Pool}
	for range missing {
		claim, err := nodeclaims.NewStatic(pool, o)
		if err != nil {
			return StaticStep{}, err
		}
		step.Launches = append(step.Launches, Launch{Claim: claim, Pool: pool.Key})
	}
	return step, nil
}

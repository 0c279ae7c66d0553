package disruption

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// Refusals remembers nodes that must not be disrupted for a while, so that plans do not disrupt them and verdicts say why. The reason may
// be that an Approver refused their disruption (Note), that the API server or the launch rate limiter refused it (Failed), or that their
// NodePool can't be written (ClosePool). It is kept in memory, has no clock, and is safe for concurrent use. The zero value is ready to
// use. A nil *Refusals remembers nothing.
type Refusals struct{ pauses survey.Refusals }

// NewRefusals returns an empty Refusals.
func NewRefusals() *Refusals { return &Refusals{} }

// inner returns r.pauses, the form that planners use, or nil if r is nil.
func (r *Refusals) inner() *survey.Refusals {
	if r == nil {
		return nil
	}
	return &r.pauses
}

// Note remembers an Approver's refusal if the error of an execution (Step.Err) contains one. It ignores other errors.
func (r *Refusals) Note(err error, now time.Time) {
	var why *RefusedError
	if !errors.As(err, &why) {
		return
	}
	text := why.Why
	if why.By != "" {
		text = why.By + ": " + text
	}
	r.inner().Refuse(why.uids, why.Reason, text, now, now.Add(why.For))
}

// Failed records that the command could not be carried out; err is Step.Err of its execution. It reports whether the command's nodes are
// paused. If the API server refused writes for the command (ErrTainting, ErrLaunch, ErrHistory), the nodes are paused for every reason of
// disruption: for one minute, then two, and at most ten. If launches are not allowed yet (ErrHeldBack), the nodes are paused until they are
// allowed again. Other errors are ignored: such commands have already taken a long time, or failed at once.
func (r *Refusals) Failed(cmd *Command, err error, now time.Time) bool {
	if r == nil || cmd == nil {
		return false
	}
	var held *HeldBackError
	switch {
	case errors.As(err, &held):
		r.pauses.HoldBack(cmd, held.Why, held.Launched, now, held.Until)
	case errors.Is(err, ErrTainting), errors.Is(err, ErrLaunch), errors.Is(err, ErrHistory):
		r.pauses.Fail(cmd, err.Error(), now)
	default:
		return false
	}
	return true
}

// Succeeded forgets the failures of the command's nodes.
func (r *Refusals) Succeeded(cmd *Command) { r.inner().Succeeded(cmd) }

// ClosePool pauses all nodes of the pool until the given time, because its objects can't be written; why says the reason.
func (r *Refusals) ClosePool(pool v1.PoolKey, why string, until time.Time) {
	r.inner().ClosePool(pool, why, until)
}

// OpenPool reverts ClosePool.
func (r *Refusals) OpenPool(pool v1.PoolKey) { r.inner().OpenPool(pool) }

// Blocks returns a block with the reason and the end of the pause if the claim's node is paused, and otherwise nil.
func (r *Refusals) Blocks(claim types.UID, reason Reason, now time.Time) *Block {
	return r.inner().Blocks(claim, reason, now)
}

// BlocksPool returns a block with the reason and the end of the pause if the nodes of the pool are paused, and otherwise nil.
func (r *Refusals) BlocksPool(pool v1.PoolKey, now time.Time) *Block {
	return r.inner().BlocksPool(pool, now)
}

// ErrHeldBack matches every *HeldBackError with errors.Is.
var ErrHeldBack = errors.New("replacements may not be launched yet")

// HeldBackError means that a command is undone because one of its replacements must not be launched yet. Failed pauses its nodes until the
// time Until.
type HeldBackError struct {
	// Until is when the launch may be tried again. Why says what prevents the launch now.
	Until time.Time
	Why   string
	// Launched is the number of replacements that were already launched and will be deleted.
	Launched int
}

func (e *HeldBackError) Error() string {
	s := fmt.Sprintf("%v until %s: %s", ErrHeldBack, e.Until.UTC().Format(time.RFC3339), e.Why)
	if e.Launched > 0 {
		s += fmt.Sprintf("; %d were launched", e.Launched)
	}
	return s
}

// Is reports whether target is ErrHeldBack.
func (e *HeldBackError) Is(target error) bool { return target == ErrHeldBack }

package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/internal/batch"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/cloudprovider"
)

// DefaultBurstLaunches is the default of Config.BurstLaunches.
const DefaultBurstLaunches = 10

const (
	// burstIdle and burstMax are the options Idle and Max of the batch.Batcher that merges equal launches. Launches of one plan arrive
	// within milliseconds of each other, because the calls that read data before the launches are also merged.
	burstIdle = 50 * time.Millisecond
	burstMax  = 500 * time.Millisecond
	// mostInBurst is the maximum number of instances that one CreateFleet call requests. The UIDs of the claims of so many instances need
	// 19 of the 50 tags that EC2 allows for an instance. So node classes can have about 20 tags of their own.
	mostInBurst = 200
)

// burst merges equal launches into fleets of many instances. Provider.Create is called for one claim at a time. Calls with equal requests
// that arrive together become one CreateFleet call if there are enough of them. The instances that EC2 launches are assigned to the claims,
// and the missing instances are requested again as long as EC2 launches any. Claims that get no instance fail with EC2's reasons.
//
// If EC2's answer is lost, the instances of the call can still be found: all instances of a fleet have the UIDs of all its claims as tags
// (see launch.TagBatch). If a process does not know the outcome of a call, it repeats exactly that call, so that EC2 answers it with the
// same instances. A process that has restarted finds the instances by their tags. If a claim got another instance in the meantime, its
// instance of the lost call is collected as garbage.
type burst struct {
	provider *Provider
	least    int
	calls    *batch.Batcher[*launch.Request, *launch.Instance]

	mu     sync.Mutex
	doubts map[types.UID]*doubt
}

// doubt is a fleet whose outcome is unknown.
type doubt struct {
	request launch.Together
	until   time.Time
}

func (p *Provider) assembleBurst() {
	p.burst = &burst{provider: p, least: option.Or(p.config.BurstLaunches, DefaultBurstLaunches), doubts: map[types.UID]*doubt{}}
	p.burst.calls = batch.New(batch.Options[*launch.Request, *launch.Instance]{
		Name: "create_fleet", Idle: burstIdle, Max: burstMax, MaxItems: mostInBurst,
		Bucket: launchKey, Do: p.burst.do, Observe: p.options.observeBatches(),
	})
}

// launch launches an instance for one claim, alone or together with the instances of other callers.
func (b *burst) launch(ctx context.Context, r launch.Request) (*launch.Instance, error) {
	if d := b.doubtOf(r.NodeClaim.UID); d != nil {
		return b.settle(ctx, r.NodeClaim.UID, d)
	}
	if b.least == 0 || len(r.Dead) > 0 || v1.PoolOf(r.NodeClaim.Labels).Generation == v1.GenerationV1Alpha5 {
		return b.provider.launcher.Launch(ctx, r)
	}
	launched, err := b.calls.Call(ctx, &r)
	if errors.Is(err, errAlone) {
		return b.provider.launcher.Launch(ctx, r)
	}
	return launched, err
}

// errAlone is the error for a request that no fleet serves. The caller that gets this error launches the instance by a separate call, which
// does not wait for other launches.
var errAlone = errors.New("launched alone")

// do launches the requests of a batch by fleets. If the requests are too few for a fleet, the caller of each request launches its instance
// instead. Requests for which capacity reservations have room are also launched by their callers, because each such instance is launched
// into a reservation.
func (b *burst) do(ctx context.Context, requests []*launch.Request) []batch.Answer[*launch.Instance] {
	answers := make([]batch.Answer[*launch.Instance], len(requests))
	left := make([]int, len(requests))
	for n := range left {
		left[n] = n
	}
	if len(requests) >= b.least {
		places := min(len(left), b.provider.launcher.ReservedPlaces(*requests[0]))
		reserved := left[:places]
		left = append(slices.Clone(reserved), b.fleets(ctx, requests, left[places:], answers)...)
	}
	for _, n := range left {
		answers[n].Err = errAlone
	}
	return answers
}

// fleets launches requests by CreateFleet calls, as long as EC2 launches any instances and enough requests are left for a fleet. It returns
// the remaining requests if they are too few for a fleet, or if no fleet can serve them. When it returns, all requests that it does not
// return have an answer.
func (b *burst) fleets(ctx context.Context, requests []*launch.Request, left []int, answers []batch.Answer[*launch.Instance]) []int {
	for len(left) >= b.least {
		rest, err := b.fleet(ctx, requests, left, answers)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return left
		case len(rest) == len(left):
			return nil
		}
		left = rest
	}
	return left
}

// fleet requests instances for some of the requests, given by index, by one CreateFleet call. It sets an answer for each of them, and
// returns the indexes of those that got no instance.
func (b *burst) fleet(ctx context.Context, requests []*launch.Request, some []int, answers []batch.Answer[*launch.Instance]) (rest []int, err error) {
	first := requests[some[0]]
	together := launch.Together{NodeClass: first.NodeClass, InstanceTypes: first.InstanceTypes, PlacementGroupID: first.PlacementGroupID, Cost: first.Cost, WithoutReserved: true}
	for _, n := range some {
		together.NodeClaims = append(together.NodeClaims, requests[n].NodeClaim)
	}
	launched, err := b.provider.launcher.LaunchTogether(ctx, together)
	for at, n := range some {
		answers[n] = batch.Answer[*launch.Instance]{Err: err}
		if at < len(launched) && launched[at] != nil {
			answers[n] = batch.Answer[*launch.Instance]{Value: launched[at]}
		} else {
			rest = append(rest, n)
		}
	}
	if len(rest) == len(some) {
		b.remember(together, err)
	}
	return rest, err
}

// remember records that the outcome of a call is unknown, unless its error is definite.
func (b *burst) remember(t launch.Together, err error) {
	lost := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, cloudprovider.Transient)
	if err == nil || !lost || errors.Is(err, errors.ErrUnsupported) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d := &doubt{request: t, until: b.provider.now().Add(launch.Visibility)}
	for _, claim := range t.NodeClaims {
		b.doubts[claim.UID] = d
	}
}

// doubtOf returns the call of unknown outcome that contained the claim. It returns nil if no such call is known, or if the call was so long
// ago that its instances are visible by now.
func (b *burst) doubtOf(uid types.UID) *doubt {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.provider.now()
	maps.DeleteFunc(b.doubts, func(_ types.UID, d *doubt) bool { return !now.Before(d.until) })
	return b.doubts[uid]
}

// settle repeats a call of unknown outcome, for all of its claims, and returns the instance of the claim with the UID uid.
func (b *burst) settle(ctx context.Context, uid types.UID, d *doubt) (*launch.Instance, error) {
	claims := d.request.NodeClaims
	uids := make([]types.UID, len(claims))
	for n, claim := range claims {
		uids[n] = claim.UID
	}
	release, err := b.provider.grouping.Begin(ctx, launch.BatchID(uids, 0, false))
	if err != nil {
		return nil, err
	}
	defer release()
	launched, err := b.provider.launcher.LaunchTogether(ctx, d.request)
	if len(launched) > 0 {
		if at := slices.Index(uids, uid); at >= 0 && launched[at] != nil {
			return launched[at], nil
		}
	}
	if err == nil {
		err = errors.New("EC2 launched no instance for this nodeclaim, only for others of the same fleet")
	}
	if !errors.Is(err, cloudprovider.Transient) || len(launched) > 0 && slices.ContainsFunc(launched, func(m *launch.Instance) bool { return m != nil }) {
		b.forget(uids, d)
	}
	return nil, err
}

// forget removes a call whose outcome is known now.
func (b *burst) forget(uids []types.UID, d *doubt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, uid := range uids {
		if b.doubts[uid] == d {
			delete(b.doubts, uid)
		}
	}
}

// eachAtOnce calls work for each index in parallel and returns the errors joined.
func eachAtOnce(count int, work func(n int) error) error {
	errs := make([]error, count)
	var working sync.WaitGroup
	for n := range count {
		working.Go(func() { errs[n] = work(n) })
	}
	working.Wait()
	return errors.Join(errs...)
}

// launchKey returns a key that is equal for launches that one fleet can serve: they differ only in names and UIDs.
func launchKey(r *launch.Request) string {
	claim, class := r.NodeClaim, r.NodeClass
	key := fmt.Appendf(nil, "%q %q %d %q %q", v1.PoolOf(claim.Labels).String(), class.Name, class.Generation, class.ResourceVersion, r.PlacementGroupID)
	for _, annotation := range []string{v1.NodeClaimMinValuesRelaxedAnnotationKey, v1.PriceOverlayAppliedAnnotationKey, v1.RequestedDRADriversAnnotationKey} {
		key = fmt.Appendf(key, " %q", claim.Annotations[annotation])
	}
	key = fmt.Appendf(key, " %q", claim.Labels) // maps are printed in the order of their keys
	for _, taints := range [][]corev1.Taint{claim.Spec.Taints, claim.Spec.StartupTaints} {
		key = append(key, '\n')
		for _, taint := range taints {
			key = fmt.Appendf(key, " %q %q %q", taint.Key, taint.Value, taint.Effect)
		}
	}
	for _, want := range claim.Spec.Requirements {
		key = fmt.Appendf(key, "\n%q %q %q %d", want.Key, want.Operator, want.Values, option.Or(want.MinValues, -1))
	}
	for _, name := range slices.Sorted(maps.Keys(claim.Spec.Resources.Requests)) {
		quantity := claim.Spec.Resources.Requests[name]
		key = fmt.Appendf(key, "\n%q %q", name, quantity.String())
	}
	return string(key)
}

package reconcilers

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// waves contains the commands of a plan that wait for earlier commands, so that nodes drained in parallel don't wait for the same
// PodDisruptionBudget. No further plan is made until the last wave has started.
type waves struct {
	// under are the commands of the wave in progress; until is the latest time at which the next wave begins.
	under []*disruption.Command
	until time.Time
	// next are the commands of the later waves, in order; seconds are the expected durations of these waves.
	next    [][]*disruption.Command
	seconds []float64
}

const (
	// leastWave and longestWave limit the wait for a wave, so that a blocked drain does not block other commands forever. Within these
	// limits, the wait is twice the expected duration.
	leastWave   = time.Minute
	longestWave = 10 * time.Minute
	// waveEvery is how often to check whether a wave is over.
	waveEvery = time.Second
)

// wavesOf returns the waves of a plan. A plan without waves counts as one wave.
func wavesOf(plan *disruption.Plan) waves {
	if len(plan.Waves) == 0 {
		return waves{next: [][]*disruption.Command{plan.Commands}, seconds: []float64{0}}
	}
	byID := map[string]*disruption.Command{}
	for _, cmd := range plan.Commands {
		byID[cmd.ID] = cmd
	}
	var w waves
	for i, wave := range plan.Waves {
		var list []*disruption.Command
		for _, id := range wave.Commands {
			byID[id].Wave, byID[id].Waves = i+1, len(plan.Waves)
			list = append(list, byID[id])
		}
		w.next, w.seconds = append(w.next, list), append(w.seconds, wave.Seconds)
	}
	return w
}

// begin starts the next wave.
func (w *waves) begin(now time.Time) []*disruption.Command {
	expected := time.Duration(2 * w.seconds[0] * float64(time.Second))
	w.under, w.until = w.next[0], now.Add(min(max(expected, leastWave), longestWave))
	w.next, w.seconds = w.next[1:], w.seconds[1:]
	return w.under
}

// waveUnderWay reports whether the next wave must wait. Call it only if there is a next wave.
func (d *disruptor) waveUnderWay(now time.Time) bool {
	if !now.Before(d.waves.until) {
		return false
	}
	for _, cmd := range d.waves.under {
		d.mu.Lock()
		running := d.running[cmd.ID] != nil
		d.mu.Unlock()
		if running {
			return true
		}
		for i := range cmd.Members {
			m := &cmd.Members[i]
			if instance := d.state.Node(claimOfMember(m)); instance != nil && instance.Claim != nil && instance.Claim.UID == m.UID && instance.Leaving {
				return true // it is drained
			}
		}
	}
	return false
}

// claimOfMember returns the name of a member's claim in the view. The name includes the generation of the pool.
func claimOfMember(m *disruption.Member) string {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: m.Claim}}
	v1.SetGenerationOf(claim, m.Pool.Generation)
	return v1.QualifiedName(claim)
}

// nextWave starts the commands of the next wave that are still valid. A command may have become invalid because commands of earlier waves
// were refused or failed. It reports whether any command was started.
func (d *disruptor) nextWave(ctx context.Context, now time.Time) (bool, error) {
	view, err := d.planner.view(ctx, now)
	if err != nil {
		return false, err
	}
	if err := d.cleanUp(ctx, view); err != nil {
		return false, err
	}
	list := d.waves.begin(now)
	fleet, good, rejected, err := d.recheck(ctx, view, list)
	if err != nil {
		d.waves = waves{} // the next plan finds the remaining commands again
		return false, err
	}
	for _, why := range rejected {
		for _, cmd := range list {
			if cmd.ID == why.Command {
				d.void(cmd, why)
			}
		}
	}
	d.waves.under = good
	for _, cmd := range good {
		d.add(cmd, fleet)
	}
	return len(good) > 0, nil
}

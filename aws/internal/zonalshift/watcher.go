package zonalshift

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/sdk"
)

// Period is the interval between two reads of the shifts.
const Period = 30 * time.Second

// ClusterARN reads from EKS the ARN under which ARC knows a cluster.
func ClusterARN(ctx context.Context, api sdk.EKSAPI, cluster string) (string, error) {
	if api == nil {
		return "", option.Missing("ClusterARN", "the API")
	}
	out, err := api.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(cluster)})
	if err != nil {
		return "", sdk.Wrap(fmt.Sprintf("reading the ARN of cluster %q", cluster), err)
	}
	if out.Cluster == nil || aws.ToString(out.Cluster.Arn) == "" {
		return "", fmt.Errorf("reading the ARN of cluster %q: EKS does not report it; turn zonal shift off if this is not an EKS cluster", cluster)
	}
	return *out.Cluster.Arn, nil
}

// Watcher reads and stores the zones that a shift moves the cluster away from. It is safe for concurrent use; no lock is held during a
// call to ARC.
type Watcher struct {
	api     sdk.ZonalShiftAPI
	find    func(context.Context) (string, error) // the cluster's ARN
	now     func() time.Time
	current atomic.Pointer[Snapshot]

	mu     sync.Mutex
	arn    string // empty until EKS has returned it
	asked  time.Time
	shifts map[string]time.Time // when each shift ends, by zone id; zero if only ARC can end it
	told   map[string]bool      // the zones that were shifted at the last change
}

// New makes a watcher that knows no shifts. now is the clock; nil means time.Now. The first Poll checks that ARC knows the cluster: if that
// Poll fails, the program should not start.
func New(api sdk.ZonalShiftAPI, clusterARN string, now func() time.Time) *Watcher {
	if now == nil {
		now = time.Now
	}
	return &Watcher{api: api, arn: clusterARN, now: now}
}

// ForCluster is like New, for the name of an EKS cluster: Poll reads the ARN from EKS until it gets an answer.
func ForCluster(api sdk.ZonalShiftAPI, clusters sdk.EKSAPI, cluster string, now func() time.Time) *Watcher {
	w := New(api, "", now)
	w.find = func(ctx context.Context) (string, error) { return ClusterARN(ctx, clusters, cluster) }
	return w
}

// Change is the difference from the previous Poll. Zones are ids, sorted.
type Change struct {
	// Started are the zones that are newly shifted away from.
	Started []string
	// Ended are the zones whose shift has ended.
	Ended []string
}

// Poll asks ARC, and returns the changes since the last successful Poll, including shifts that have expired. If ARC does not answer, the
// known shifts stay until they expire.
func (w *Watcher) Poll(ctx context.Context) (Change, error) {
	arn, err := w.name(ctx)
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.change(), err
	}
	asked := w.now()
	out, err := w.api.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: &arn})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && !asked.Before(w.asked) {
		shifts := shiftsOf(out)
		if !maps.EqualFunc(w.shifts, shifts, time.Time.Equal) {
			w.current.Store(nil)
		}
		w.asked, w.shifts = asked, shifts
	}
	if err != nil {
		err = sdk.Wrap(fmt.Sprintf("reading the zonal shifts of %s", arn), err)
	}
	return w.change(), err
}

// name returns the cluster's ARN, and caches it.
func (w *Watcher) name(ctx context.Context) (string, error) {
	w.mu.Lock()
	arn := w.arn
	w.mu.Unlock()
	if arn != "" || w.find == nil {
		return arn, nil
	}
	arn, err := w.find(ctx)
	if err != nil {
		return "", err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arn = arn
	return arn, nil
}

// shiftsOf returns the shifts in effect: those of operators until they expire, and those that AWS started until AWS reports their end.
func shiftsOf(out *arczonalshift.GetManagedResourceOutput) map[string]time.Time {
	shifts := map[string]time.Time{}
	for _, s := range out.ZonalShifts {
		if zone := aws.ToString(s.AwayFrom); zone != "" && s.AppliedStatus == types.AppliedStatusApplied && s.ExpiryTime != nil {
			shifts[zone] = *s.ExpiryTime
		}
	}
	for _, s := range out.Autoshifts {
		if zone := aws.ToString(s.AwayFrom); zone != "" && s.AppliedStatus == types.AutoshiftAppliedStatusApplied {
			shifts[zone] = time.Time{}
		}
	}
	return shifts
}

// change returns the zones whose shifts have started or ended since the last change. The caller holds the lock.
func (w *Watcher) change() Change {
	s := w.snapshot(w.now())
	var c Change
	for zone := range s.zones {
		if !w.told[zone] {
			c.Started = append(c.Started, zone)
		}
	}
	for zone := range w.told {
		if !s.zones[zone] {
			c.Ended = append(c.Ended, zone)
		}
	}
	slices.Sort(c.Started)
	slices.Sort(c.Ended)
	w.told = maps.Clone(s.zones)
	return c
}

// Snapshot contains the zones that are shifted away from at one time. It never changes; a nil snapshot has no shifts.
type Snapshot struct {
	zones map[string]bool
	until time.Time // when the next shift expires; zero if none does
}

// Shifted reports whether the zone with this id is shifted away from.
func (s *Snapshot) Shifted(zoneID string) bool { return s != nil && s.zones[zoneID] }

// Zones returns the ids of the zones that are shifted away from, sorted.
func (s *Snapshot) Zones() []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.zones))
}

// Snapshot returns the zones that are currently shifted away from. The pointer stays the same as long as nothing changes.
func (w *Watcher) Snapshot() *Snapshot {
	now := w.now()
	if s := w.current.Load(); s != nil && s.holds(now) {
		return s
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.snapshot(now)
}

func (s *Snapshot) holds(now time.Time) bool { return s.until.IsZero() || now.Before(s.until) }

// snapshot makes a new snapshot if the last one is out of date. The caller holds the lock.
func (w *Watcher) snapshot(now time.Time) *Snapshot {
	last := w.current.Load()
	if last != nil && last.holds(now) {
		return last
	}
	s := &Snapshot{zones: map[string]bool{}}
	for zone, end := range w.shifts {
		if !end.IsZero() && !now.Before(end) {
			continue
		}
		s.zones[zone] = true
		if !end.IsZero() && (s.until.IsZero() || end.Before(s.until)) {
			s.until = end
		}
	}
	w.current.Store(s)
	return s
}

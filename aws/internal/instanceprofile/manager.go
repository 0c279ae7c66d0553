package instanceprofile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

const (
	// CollectEvery is the recommended interval for collecting unused profiles.
	CollectEvery = 30 * time.Minute
	// Protection is how long a profile is protected from collection after it was created or replaced: the list of used profiles may not
	// contain it yet.
	Protection = time.Hour
	// Remember is how long a profile that was found correct is assumed to be correct, and not read again.
	Remember = 15 * time.Minute
	// roleMemory is how long a missing role is assumed to be missing, and not looked up again.
	roleMemory = time.Minute
)

// Options of a Manager. IAM, Region and ClusterName are required.
type Options struct {
	// IAM is asked.
	IAM sdk.IAMAPI
	// Region of the instances. IAM is global, so the region is part of names and paths.
	Region string
	// ClusterName is the name of the cluster to which the profiles belong.
	ClusterName string
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
	// Logger logs each profile that is created or deleted, and tags that could not be corrected. Nil discards.
	Logger *slog.Logger
}

// Manager makes, finds and deletes instance profiles. Make one with New.
type Manager struct {
	options Options
	now     func() time.Time
	log     *slog.Logger
	// changing holds one token; the goroutine with the token may create or delete profiles.
	changing chan struct{}

	mu        sync.Mutex
	known     map[string]known     // keys are names of profiles
	noRole    map[string]time.Time // keys are names of roles without path, values when the entry ends
	protected map[string]time.Time // keys are names of profiles, values when the entry ends
}

// known is a profile that IAM returned.
type known struct {
	profile Profile
	until   time.Time
}

// New makes a manager. The error says which options are missing or invalid.
func New(o Options) (*Manager, error) {
	var faults []error
	if o.IAM == nil {
		faults = append(faults, errors.New("iam: required"))
	}
	if o.Region == "" {
		faults = append(faults, errors.New("region: required: it is part of the names of profiles"))
	}
	// The hash in the name has up to 20 digits.
	if probe := o.ClusterName + "_12345678901234567890"; o.ClusterName == "" || !validName(probe) {
		faults = append(faults, fmt.Errorf("clusterName %q: must be 1 to 107 letters, digits and _+=,.@-: it is part of the names of profiles", o.ClusterName))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, cloudprovider.NewPermanentError(fmt.Errorf("options of instance profiles: %w", err))
	}
	m := &Manager{
		options: o, now: o.Now, log: o.Logger, changing: make(chan struct{}, 1),
		known: map[string]known{}, noRole: map[string]time.Time{}, protected: map[string]time.Time{},
	}
	if m.now == nil {
		m.now = time.Now
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	return m, nil
}

// begin waits until no other goroutine creates or deletes profiles. The caller must call end afterwards.
func (m *Manager) begin(ctx context.Context) (end func(), err error) {
	select {
	case m.changing <- struct{}{}:
		return func() { <-m.changing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// protect keeps profiles from being collected for a while.
func (m *Manager) protect(names ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	maps.DeleteFunc(m.protected, func(_ string, until time.Time) bool { return !now.Before(until) })
	for _, name := range names {
		if name != "" {
			m.protected[name] = now.Add(Protection)
		}
	}
}

func (m *Manager) isProtected(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now().Before(m.protected[name])
}

func (m *Manager) recall(name string) (Profile, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.known[name]
	return k.profile, ok && m.now().Before(k.until)
}

func (m *Manager) remember(p Profile) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	maps.DeleteFunc(m.known, func(_ string, k known) bool { return !now.Before(k.until) })
	m.known[p.Name] = known{profile: p, until: now.Add(Remember)}
}

func (m *Manager) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, name)
}

// roleMissing reports whether a role was missing a moment ago.
func (m *Manager) roleMissing(role string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now().Before(m.noRole[role])
}

func (m *Manager) rememberMissing(role string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	maps.DeleteFunc(m.noRole, func(_ string, until time.Time) bool { return !now.Before(until) })
	m.noRole[role] = now.Add(roleMemory)
}

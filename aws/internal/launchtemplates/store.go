package launchtemplates

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
)

const (
	// DefaultLifetime is how long a template stays after it was last used.
	DefaultLifetime = time.Hour
	// DefaultMaxTemplates is a tenth of the default quota of an account in a region.
	DefaultMaxTemplates = 500
	// DefaultParallelism is the number of calls that one Ensure, Sweep or deletion makes at once.
	DefaultParallelism = 8
	// minIdle is how long a template must have been unused before it may be deleted because there are too many templates. A launch may
	// still be in progress with a template that was used more recently.
	minIdle = time.Minute
)

// Options of a Store. Only ClusterName is required.
type Options struct {
	// ClusterName is the cluster whose templates the store manages: those with its tag.
	ClusterName string
	// Lifetime is how long a template stays after it was last used; 0 means DefaultLifetime. It must be at least a minute.
	Lifetime time.Duration
	// MaxTemplates is the largest number of templates that the store keeps: beyond that, the templates that were unused for longest are
	// deleted before their lifetime ends. 0 means DefaultMaxTemplates.
	MaxTemplates int
	// Parallelism limits the calls that one method makes at once; 0 means DefaultParallelism.
	Parallelism int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Logger logs each template that is created or deleted, but never its user data. Nil discards.
	Logger *slog.Logger
	// OnCreate is called for each template that was created, for metrics. It is called without a lock, by any goroutine. It may be nil.
	OnCreate func(launchtemplate.Template)
}

// Store tracks which launch templates of a cluster exist in EC2.
type Store struct {
	api     sdk.EC2API
	options Options
	breaker breaker

	mu      sync.Mutex
	entries map[string]*entry
}

// entry is one template that exists, is being created, or is being deleted.
type entry struct {
	// id is "lt-…".
	id string
	// lastUsed is when a launch last used it.
	lastUsed time.Time
	// busy is closed when the call in progress for the template has ended; nil if no call is in progress. Until it is closed, only the
	// goroutine that set busy may change or remove the entry.
	busy chan struct{}
}

// New makes a store that knows nothing yet: see Hydrate.
func New(api sdk.EC2API, o Options) (*Store, error) {
	if api == nil {
		return nil, errors.New("launch templates: there is no EC2 client")
	}
	if o.ClusterName == "" {
		return nil, errors.New("launch templates: the cluster has no name; it distinguishes the templates from those of other clusters")
	}
	if o.Lifetime == 0 {
		o.Lifetime = DefaultLifetime
	}
	if o.Lifetime < minIdle {
		return nil, fmt.Errorf("launch templates: lifetime %s is shorter than %s, so a template could be deleted while a launch still uses it", o.Lifetime, minIdle)
	}
	if o.MaxTemplates == 0 {
		o.MaxTemplates = DefaultMaxTemplates
	}
	if o.Parallelism == 0 {
		o.Parallelism = DefaultParallelism
	}
	if o.MaxTemplates < 0 || o.Parallelism < 0 {
		return nil, errors.New("launch templates: MaxTemplates and Parallelism must not be negative")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Store{api: api, options: o, entries: make(map[string]*entry)}, nil
}

// Len returns the number of templates that the store knows.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)
}

// Forget records that EC2 does not have these templates any more: the next Ensure creates them again. It deletes nothing in EC2.
func (s *Store) Forget(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if e := s.entries[name]; e != nil && e.busy == nil {
			delete(s.entries, name)
		}
	}
}

// claim waits until no call about a template is in progress, and then locks its entry: until release, only the caller may change it. found
// reports whether the template exists.
func (s *Store) claim(ctx context.Context, name string) (e *entry, found bool, err error) {
	for {
		s.mu.Lock()
		e, found = s.entries[name]
		if !found {
			e = &entry{}
			s.entries[name] = e
		}
		if e.busy == nil {
			e.busy = make(chan struct{})
			s.mu.Unlock()
			return e, found, nil
		}
		busy := e.busy
		s.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, false, fmt.Errorf("waiting for launch template %s: %w", name, ctx.Err())
		}
	}
}

// release unlocks the entry. exists says whether the template exists now.
func (s *Store) release(name string, e *entry, exists bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(e.busy)
	e.busy = nil
	if !exists && s.entries[name] == e {
		delete(s.entries, name)
	}
}

// use records that an existing template is used now. It returns false if the template does not exist, or a call about it is in progress.
func (s *Store) use(name string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[name]
	if e == nil || e.busy != nil {
		return false
	}
	e.lastUsed = now
	return true
}

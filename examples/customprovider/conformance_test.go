package customprovider_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/examples/customprovider"
)

// rack is a Power in memory, and the hooks that make it misbehave.
type rack struct {
	mu      sync.Mutex
	on      map[string]customprovider.Boot
	refuses map[string]bool
	lost    bool          // answers of On
	stall   chan struct{} // On waits for it; nil does not
}

func (r *rack) On(ctx context.Context, machine string, boot customprovider.Boot) error {
	r.mu.Lock()
	stall := r.stall
	r.mu.Unlock()
	if stall != nil {
		select {
		case <-stall:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuses[machine] {
		return errors.New("no answer from its management board")
	}
	r.on[machine] = boot
	if r.lost {
		return errors.New("the answer was lost")
	}
	return nil
}

func (r *rack) Off(_ context.Context, machine string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.on, machine)
	return nil
}

func (r *rack) IsOff(_ context.Context, machine string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, on := r.on[machine]
	return !on, nil
}

// clock is the tests' own.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func amount(text string) customprovider.Amount {
	return customprovider.Amount{Quantity: resource.MustParse(text)}
}

// hall is an inventory of so many machines of each of two types, in two zones.
func hall(n int) *customprovider.Inventory {
	inventory := &customprovider.Inventory{Types: []customprovider.MachineType{
		{Name: "small", CPU: amount("8"), Memory: amount("32Gi"), ReservedCPU: amount("200m"), ReservedMemory: amount("1Gi"), HourlyPrice: 0.05},
		{Name: "large", Arch: "arm64", CPU: amount("64"), Memory: amount("256Gi"), ReservedMemory: amount("4Gi"), HourlyPrice: 0.40},
	}}
	for _, t := range inventory.Types {
		for i := range n {
			inventory.Machines = append(inventory.Machines, customprovider.Machine{
				Name: fmt.Sprintf("%s-%d", t.Name, i), Type: t.Name, Zone: []string{"hall-a", "hall-b"}[i%2],
			})
		}
	}
	return inventory
}

func open(t testing.TB, path string) *customprovider.Journal {
	t.Helper()
	journal, err := customprovider.OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = journal.Close() })
	return journal
}

// sellOut lets another cluster take all machines that match.
func sellOut(t testing.TB, buyer *customprovider.Provider, inventory *customprovider.Inventory, match func(cloudprovider.OfferingKey) bool) func() {
	var bought []*v1.NodeClaim
	for n, m := range inventory.Machines {
		if !match(cloudprovider.OfferingKey{InstanceType: m.Type, Zone: m.Zone, CapacityType: v1.CapacityTypeOnDemand}) {
			continue
		}
		claim := &v1.NodeClaim{}
		claim.Name, claim.UID = m.Name, types.UID(fmt.Sprint("buyer-", n))
		claim.Spec.NodeClassRef = v1.NodeClassReference{Group: customprovider.NodeClassGroup, Kind: customprovider.NodeClassKind, Name: "x"}
		for key, value := range map[string]string{corev1.LabelInstanceTypeStable: m.Type, corev1.LabelTopologyZone: m.Zone} {
			claim.Spec.Requirements = append(claim.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}})
		}
		machine, err := buyer.Create(context.Background(), claim)
		if err != nil && !cloudprovider.IsInsufficientCapacity(err) {
			t.Fatal(err)
		}
		if err == nil {
			bought = append(bought, machine)
		}
	}
	return func() {
		for _, machine := range bought {
			for err := error(nil); !cloudprovider.IsNodeClaimNotFound(err); err = buyer.Delete(context.Background(), machine) {
			}
		}
	}
}

// The provider passes Core: docs/providers.md, step 6.
func TestConformance(t *testing.T) {
	options := conformance.DefaultOptions()
	options.Levels, options.Trials, options.Parallel = []conformance.Level{conformance.Core}, 5, 64
	report := conformance.Run(t, subject(hall(40)), options)
	if testing.Verbose() {
		if err := report.WriteMarkdown(os.Stdout); err != nil {
			t.Error(err)
		}
	}
}

// A thousand launches at once take a thousand machines.
func TestThousand(t *testing.T) {
	conformance.Run(t, subject(hall(600)), chosen(func(o *conformance.Options) { o.Clauses = []string{"CP-CONCURRENCY-01"} }))
}

// API-220: machines of pools of the first generation tell of them by that generation's label, also after a restart.
func TestFirstGeneration(t *testing.T) {
	conformance.Run(t, func(t testing.TB) conformance.Subject {
		s := subject(hall(4))(t)
		s.NodePool = &v1.NodePool{}
		s.NodePool.Name = "web"
		v1.SetGenerationOf(s.NodePool, v1.GenerationV1Alpha5)
		return s
	}, chosen(func(o *conformance.Options) {
		o.Clauses = []string{"CP-CREATE-05", "CP-CREATE-08", "CP-GET-01", "CP-LIST-04"}
	}))
}

// subject makes providers over the inventory, each with a journal of its own.
func subject(inventory *customprovider.Inventory) conformance.Factory {
	return func(t testing.TB) conformance.Subject {
		power := &rack{on: map[string]customprovider.Boot{}, refuses: map[string]bool{}}
		now := newClock()
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		provider := func(cluster string, journal *customprovider.Journal) *customprovider.Provider {
			p, err := customprovider.New(inventory, journal, power, customprovider.Options{Cluster: cluster, Clock: now})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		journal := open(t, path)
		return conformance.Subject{Provider: provider("lab", journal), Hooks: conformance.Hooks{
			Advance:      now.Advance,
			Restart:      func() cloudprovider.CloudProvider { return provider("lab", open(t, path)) },
			OtherCluster: func() cloudprovider.CloudProvider { return provider("other", journal) },
			SellOut: func(match func(cloudprovider.OfferingKey) bool) func() {
				return sellOut(t, provider("buyer", journal), inventory, match)
			},
			Inject: func(f conformance.Fault) (func(), error) {
				if f.Method != conformance.MethodCreate || !f.Lost {
					return nil, errors.ErrUnsupported
				}
				power.mu.Lock()
				defer power.mu.Unlock()
				power.lost = true
				return func() {
					power.mu.Lock()
					defer power.mu.Unlock()
					power.lost = false
				}, nil
			},
			Stall: func(m conformance.Method) (func(), error) {
				if m != conformance.MethodCreate {
					return nil, errors.ErrUnsupported
				}
				power.mu.Lock()
				defer power.mu.Unlock()
				power.stall = make(chan struct{})
				return func() {
					power.mu.Lock()
					defer power.mu.Unlock()
					close(power.stall)
					power.stall = nil
				}, nil
			},
		}}
	}
}

// chosen are the default options with a change.
func chosen(change func(*conformance.Options)) conformance.Options {
	o := conformance.DefaultOptions()
	change(&o)
	return o
}

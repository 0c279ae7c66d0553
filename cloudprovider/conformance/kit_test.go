package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/fake"
)

func TestMain(m *testing.M) {
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	// Broken providers fail on purpose; nobody wants their files. With other histories some of them break more than their clause.
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.seed": "1"} {
		if given[name] {
			continue
		}
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// onFake is the fake cloud with all hooks.
func onFake(t testing.TB) conformance.Subject {
	cloud, clock := newFake(t)
	return subject(cloud, clock)
}

func newFake(t testing.TB) (*fake.Cloud, *fake.SimClock) {
	clock := fake.NewSimClock(time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC))
	cloud, err := fake.New(catalogue(), fake.Options{Clock: clock, LaunchLatency: 30 * time.Second, ShutdownLatency: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return cloud, clock
}

// catalogue are generic types, the first of which can be had from a reservation too.
func catalogue() []*cloudprovider.InstanceType {
	all := fake.GenericTypes(12)
	first := all[0]
	first.Requirements = first.Requirements.Without(fake.LabelReservationID)
	first.Offerings = append(first.Offerings, cloudprovider.Offering{
		Requirements: requirements.NewSet(
			requirements.In(corev1.LabelTopologyZone, fake.GenericZones()[0]),
			requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved),
			requirements.In(fake.LabelReservationID, "r-1"),
		),
		Price: 1e-6, Available: true, ReservationCapacity: 3,
	})
	return all
}

func subject(cloud *fake.Cloud, clock *fake.SimClock) conformance.Subject {
	h := &hooks{cloud: cloud}
	return conformance.Subject{
		Provider:           cloud,
		VolumeTopologyKeys: []string{"topology.csi.fake.drawknife.test/zone"},
		Hooks: conformance.Hooks{
			Advance:      func(d time.Duration) { clock.Advance(d); cloud.Settle() },
			Restart:      func() cloudprovider.CloudProvider { return cloud.ForCluster(fake.DefaultCluster) },
			OtherCluster: func() cloudprovider.CloudProvider { return cloud.ForCluster("another") },
			Instances:    h.instances,
			SellOut:      h.sellOut,
			Inject:       h.inject,
			SetNodeClass: h.setNodeClass,
			MakeDrift:    func(id string) error { return cloud.SetDrift(id, "Moved") },
			Interrupt:    cloud.Interrupt,
			Noise:        func() error { cloud.Noise(); return nil },
			WithoutRepair: func() cloudprovider.CloudProvider {
				off, err := fake.New(catalogue(), fake.Options{Clock: clock, RepairPolicies: []cloudprovider.RepairPolicy{}})
				if err != nil {
					return cloud // which has some, as the kit will say
				}
				return off
			},
			Stall: func(m conformance.Method) (func(), error) { return cloud.Stall(fake.Method(m)), nil },
		},
	}
}

type hooks struct{ cloud *fake.Cloud }

func (h *hooks) instances(context.Context) ([]conformance.Instance, error) {
	var all []conformance.Instance
	for _, i := range h.cloud.Instances() {
		all = append(all, conformance.Instance{
			ProviderID: i.ProviderID, ClaimUID: i.Tags[fake.TagNodeClaimUID], Live: i.Phase == fake.Pending || i.Phase == fake.Running,
			Taints: i.Taints, Observed: &conformance.Observed{Allocatable: i.Allocatable},
		})
	}
	return all, nil
}

func (h *hooks) sellOut(match func(cloudprovider.OfferingKey) bool) func() {
	h.cloud.SetStock(0, match)
	return func() { h.cloud.SetStock(-1, match) }
}

func (h *hooks) inject(f conformance.Fault) (func(), error) {
	err := injected(f.Kind, f.RetryAfter)
	if f.Also != "" {
		err = errors.Join(err, injected(f.Also, 0))
	}
	if failed := h.cloud.Inject(fake.Fault{Method: fake.Method(f.Method), Err: err, More: -1, Lost: f.Lost}); failed != nil {
		return nil, failed
	}
	return func() { h.cloud.Heal(fake.Method(f.Method)) }, nil
}

func injected(kind cloudprovider.ErrorKind, retryAfter time.Duration) error {
	cause := errors.New("injected")
	switch kind {
	case cloudprovider.Throttled:
		return cloudprovider.NewThrottledError("fake:Do", retryAfter, cause)
	case cloudprovider.Unauthorized:
		return cloudprovider.NewUnauthorizedError("fake:Do", cause)
	case cloudprovider.Transient:
		return cloudprovider.NewTransientError(cause)
	case cloudprovider.Permanent:
		return cloudprovider.NewPermanentError(cause)
	case cloudprovider.QuotaExceeded:
		return cloudprovider.NewQuotaExceededError("vCPUs", cause)
	case cloudprovider.CreateFailed:
		return cloudprovider.NewCreateError("Injected", "an injected failure", cause)
	case cloudprovider.UnevaluatedNodePool:
		return cloudprovider.NewUnevaluatedNodePoolError("injected", cause)
	}
	return cause
}

func (h *hooks) setNodeClass(ref v1.NodeClassReference, state conformance.NodeClassState) error {
	r := cloudprovider.NodeClassReadiness{Status: metav1.ConditionFalse, Message: "set by a test"}
	switch state {
	case conformance.NodeClassReady:
		r = cloudprovider.NodeClassReadiness{Status: metav1.ConditionTrue}
	case conformance.NodeClassMissing:
		r.Reason = cloudprovider.NodeClassNotFound
	case conformance.NodeClassTerminating:
		r.Reason = cloudprovider.NodeClassTerminating
	default:
		r.Reason = "SubnetsNotFound"
	}
	h.cloud.SetNodeClassStatus(ref, r)
	return nil
}

var update = flag.Bool("update", false, "write docs/conformance/fake.* again")

// The fake keeps the whole contract, and docs/conformance shows that.
func TestFake(t *testing.T) {
	report := conformance.Run(t, onFake, conformance.DefaultOptions())
	if t.Failed() {
		return
	}
	for _, level := range conformance.Levels() {
		if got := report.Level(level); got != conformance.Passed {
			t.Errorf("level %s: %s", level, got)
		}
	}
	for name, write := range map[string]func(io.Writer) error{"fake.json": report.WriteJSON, "fake.md": report.WriteMarkdown} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("..", "..", "docs", "conformance", name)
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s; refresh with -update (-committed +got):\n%s", file, diff)
		}
	}
}

// CP-CREATE-08, CP-LIST-04, API-220: given a pool of the first generation, the kit asks for that generation's label, and finds a
// provider that keeps the name of the pool and not the kind.
func TestPoolOfTheFirstGeneration(t *testing.T) {
	owners := chosen(func(o *conformance.Options) {
		o.Clauses = []string{"CP-CREATE-05", "CP-CREATE-08", "CP-GET-01", "CP-LIST-04"}
	})
	on := func(break_ func(*double)) conformance.Factory {
		return func(t testing.TB) conformance.Subject {
			s := doubled(t, break_)
			s.NodePool = &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web-uid", Generation: 1}}
			v1.SetGenerationOf(s.NodePool, v1.GenerationV1Alpha5)
			s.NodePool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: fake.NodeClassGroup, Kind: fake.NodeClassKind, Name: "default"}
			return s
		}
	}
	conformance.Run(t, on(func(*double) {}), owners)
	report := conformance.Check(t, on(func(d *double) {
		d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
			for _, c := range all {
				pool := v1.PoolOf(c.Labels)
				delete(c.Labels, pool.LabelKey())
				c.Labels[v1.NodePoolLabelKey] = pool.Name
			}
			return all
		})
	}), owners)
	if diff := cmp.Diff([]string{"CP-CREATE-08", "CP-LIST-04"}, report.Failed()); diff != "" {
		t.Errorf("clauses that failed (-want +got):\n%s", diff)
	}
}

// A cloud whose List lags keeps the contract as well, within the window that it declares.
func TestFakeThatLags(t *testing.T) {
	factory := func(t testing.TB) conformance.Subject {
		clock := fake.NewSimClock(time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC))
		cloud, err := fake.New(catalogue(), fake.Options{
			Clock: clock, LaunchLatency: 30 * time.Second, ShutdownLatency: 20 * time.Second, ListLag: 15 * time.Second,
			FaultModel: fake.FaultModel{Seed: 1, Duplicated: 0.5, PriceEvery: time.Minute, PriceMove: 0.1},
		})
		if err != nil {
			t.Fatal(err)
		}
		return subject(cloud, clock)
	}
	conformance.Run(t, factory, chosen(func(o *conformance.Options) { o.Parallel = 100 }))
}

// chosen are the default options with a change.
func chosen(change func(*conformance.Options)) conformance.Options {
	o := conformance.DefaultOptions()
	change(&o)
	return o
}

// Options that can't be are refused with the cure.
func TestOptions(t *testing.T) {
	for name, change := range map[string]func(*conformance.Options){
		"no trials":   func(o *conformance.Options) { o.Trials = 0 },
		"no patience": func(o *conformance.Options) { o.Patience = new(time.Duration) },
		"no pause":    func(o *conformance.Options) { o.Poll = 0 },
	} {
		report := conformance.Check(nil, onFake, chosen(change))
		if len(report.Results) != 1 || report.Results[0].Outcome != conformance.Failed || !strings.Contains(report.Results[0].Faults[0], "start from DefaultOptions") {
			t.Errorf("%s: %+v", name, report.Results)
		}
	}
}

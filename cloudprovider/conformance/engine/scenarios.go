package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
)

// Options of a run. Start from DefaultOptions.
type Options struct {
	// Start is the time on the clock of the provider and its cloud after the factory has made them; zero means midnight UTC of 2026-03-01.
	// Deadlines of interruptions are compared with this clock.
	Start time.Time
	// Step is how far the clock advances between two passes over the cluster; more than 0.
	Step time.Duration
	// Steps is the number of passes after which a scenario must have reached its next goal, at least 1.
	Steps int
	// Listen is how long each pass waits for interruptions, in real time; more than 0. A remote source needs a longer time. If the wait
	// ends while the source is receiving a message, the cloud must deliver this message again.
	Listen time.Duration
	// VanishEvery is for slow clouds: the scenario Vanish tests only every VanishEvery-th step of the life of a node. 1 tests each step.
	VanishEvery int
}

// DefaultOptions make a pass every 10 seconds, 200 times at most, wait 50 milliseconds for interruptions, and let something vanish at each
// step.
func DefaultOptions() Options {
	return Options{Step: 10 * time.Second, Steps: 200, Listen: 50 * time.Millisecond, VanishEvery: 1}
}

// check returns an *option.Error if an option is invalid.
func (o *Options) check() error {
	if o.Step <= 0 || o.Steps < 1 || o.Listen <= 0 || o.VanishEvery < 1 {
		return &option.Error{
			Package: "engine", Option: "Step, Steps, Listen, VanishEvery",
			Rule: fmt.Sprintf("are %s, %d, %s, %d, and must be more than 0: start from DefaultOptions", o.Step, o.Steps, o.Listen, o.VanishEvery),
		}
	}
	return nil
}

// Scenarios returns the names of all scenarios, in the order in which Run runs them. The caller owns the slice.
func Scenarios() []string {
	names := make([]string, 0, len(scenarios()))
	for _, s := range scenarios() {
		names = append(names, s.name)
	}
	return names
}

type scenario struct {
	name string
	// says describes in a few words what the scenario shows.
	says string
	play func(*world)
}

func scenarios() []scenario {
	return []scenario{
		{"ScaleUp", "pods that wait get instances, which go with them", scaleUp},
		{"FallBack", "what is out of stock is planned around", fallBack},
		{"Consolidate", "instances that are hardly used go", consolidate},
		{"Drift", "an instance that has drifted is replaced", drift},
		{"Interrupt", "an instance that will be taken back is replaced", interrupt},
		{"Repair", "an instance that breaks is replaced", repair},
		{"Vanish", "whatever vanishes at whatever step, pods run again and nothing is left over", vanish},
	}
}

// Run runs every scenario as a sub-test of t. It returns a report with one result for each scenario, as for clauses of level
// conformance.Engine.
func Run(t *testing.T, factory conformance.Factory, options Options) *conformance.Report {
	t.Helper()
	report := &conformance.Report{}
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			seen := &witness{TB: t}
			defer func() { report.Results = append(report.Results, seen.result(s)) }()
			subject := factory(seen)
			if subject.Provider != nil {
				report.Provider = subject.Provider.Name()
			}
			s.play(newWorld(seen, subject, options))
		})
	}
	return report
}

// Play runs one scenario, which may fail or skip t. An unknown name fails t.
func Play(t testing.TB, name string, factory conformance.Factory, options Options) {
	t.Helper()
	for _, s := range scenarios() {
		if s.name == name {
			s.play(newWorld(t, factory(t), options))
			return
		}
	}
	t.Fatalf("there is no scenario %q; there are %q", name, Scenarios())
}

// scaleUp: pending pods get instances and run; when the pods are gone, the instances are removed.
func scaleUp(w *world) {
	w.run("web", 6, "500m")
	w.until("all pods run", w.allRun)
	w.sound()
	w.stop("web")
	w.until("no instance is left", w.empty)
}

// fallBack: plans avoid offerings that are out of stock, and the pods run on other offerings.
func fallBack(w *world) {
	if w.SellOut == nil {
		w.t.Skip("needs the hook SellOut")
	}
	w.run("first", 1, "500m")
	w.until("all pods run", w.allRun)
	var bought []string
	for _, c := range w.claims {
		bought = append(bought, c.Labels[corev1.LabelInstanceTypeStable]+"/"+c.Labels[v1.CapacityTypeLabelKey])
	}
	restock := w.SellOut(func(k cloudprovider.OfferingKey) bool { return k.InstanceType+"/"+k.CapacityType == bought[0] })
	defer restock()
	w.run("second", 8, "500m")
	w.until("all pods run although "+bought[0]+" is sold out", w.allRun)
	w.sound()
}

// consolidate: instances with few pods are removed, and the remaining pods run.
func consolidate(w *world) {
	w.run("stays", 1, "200m")
	w.until("all pods run", w.allRun)
	w.run("goes", 8, "700m")
	w.until("all pods run", w.allRun)
	before := w.price()
	w.stop("goes")
	w.disrupts = true
	w.until("the cluster costs less and all pods run", func() bool { return w.allRun() && w.price() < before && len(w.nodes) == 1 })
	w.sound()
}

// drift: an instance that has drifted is replaced, and its pods move.
func drift(w *world) {
	detector, ok := cloudprovider.As[cloudprovider.DriftDetector](w.Provider)
	if !ok {
		w.t.Skip("the provider does not implement cloudprovider.DriftDetector")
	}
	if w.MakeDrift == nil {
		w.t.Skip("needs the hook MakeDrift")
	}
	w.run("web", 2, "500m")
	w.until("all pods run", w.allRun)
	old := w.anyInstance()
	if err := w.MakeDrift(old); err != nil {
		w.t.Fatalf("making instance %q drift: %v", old, err)
	}
	w.disrupts, w.detector = true, detector
	w.until("the drifted instance is gone and all pods run", func() bool { return w.allRun() && !w.has(old) })
	w.sound()
}

// interrupt: an instance that the cloud will take back is replaced, and its pods run again.
func interrupt(w *world) {
	source, ok := cloudprovider.As[cloudprovider.InterruptionSource](w.Provider)
	if !ok {
		w.t.Skip("the provider does not implement cloudprovider.InterruptionSource")
	}
	if w.Interrupt == nil {
		w.t.Skip("needs the hook Interrupt")
	}
	w.source = source
	w.run("web", 2, "500m")
	w.until("all pods run", w.allRun)
	old := w.anyInstance()
	err := w.Interrupt(old, cloudprovider.InterruptionSpotReclaim, 2*time.Minute)
	if errors.Is(err, errors.ErrUnsupported) {
		w.t.Skip("the cloud can't take instances back")
	}
	if err != nil {
		w.t.Fatalf("interrupting instance %q: %v", old, err)
	}
	w.until("the instance is gone and all pods run", func() bool { return w.allRun() && !w.has(old) })
	w.sound()
}

// repair: one of several instances breaks and is replaced.
func repair(w *world) {
	repairer, ok := cloudprovider.As[cloudprovider.Repairer](w.Provider)
	if !ok {
		w.t.Skip("the provider does not implement cloudprovider.Repairer")
	}
	w.policies = repairer.RepairPolicies()
	if len(w.policies) == 0 {
		w.t.Skip("the provider has no repair policies")
	}
	w.run("web", 2, "500m")
	w.until("all pods run", w.allRun)
	old := w.anyInstance()
	broken := w.policies[0]
	for _, n := range w.nodes {
		if n.Spec.ProviderID != old {
			continue
		}
		sick := n.DeepCopy()
		sick.Status.Conditions = append(sick.Status.Conditions[:0:0], corev1.NodeCondition{
			Type: broken.ConditionType, Status: broken.ConditionStatus, LastTransitionTime: metav1.NewTime(w.now),
		})
		w.putNode(sick)
	}
	w.pass(broken.Toleration)
	w.until("the broken instance is gone and all pods run", func() bool { return w.allRun() && !w.has(old) })
	w.sound()
}

// received returns the messages that are present or arrive within wait.
func received(ctx context.Context, source cloudprovider.InterruptionSource, wait time.Duration) ([]cloudprovider.Interruption, error) {
	soon, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	messages, err := source.ReceiveInterruptions(soon)
	if err != nil && soon.Err() != nil && ctx.Err() == nil {
		return nil, nil
	}
	return messages, err
}

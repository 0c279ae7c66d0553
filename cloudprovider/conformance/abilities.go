package conformance

import (
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func classClauses() []clause {
	return []clause{
		{"CP-CLASS-01", Core, "every node class has an answer, a missing one too", (*lab).classAnswers},
		{"CP-CLASS-02", Core, "an answer that is not True says what to do", (*lab).classExplains},
		{"CP-CLASS-03", Core, "what is not ready launches nothing", (*lab).classRefuses},
		{"CP-CLASS-04", Core, "what can't be found out is an error", (*lab).classUnknown},
	}
}

func gateClauses() []clause {
	return []clause{
		{"CP-GATE-01", Core, "a gate once open stays open", (*lab).gateStays},
		{"CP-GATE-02", Core, "asking the gate changes nothing", (*lab).gateAsked},
		{"CP-GATE-03", Core, "a gate that does not know is not open", (*lab).gateUnknown},
		{"CP-GATE-04", Core, "an instance that is gone before the gate opened is NotFound to it", (*lab).gateGone},
	}
}

func driftClauses() []clause {
	return []clause{
		{"CP-DRIFT-01", Drift, "drift does not depend on when it is asked for", (*lab).driftStable},
		{"CP-DRIFT-02", Drift, "an instance just launched is not drifted", (*lab).driftNew},
		{"CP-DRIFT-03", Drift, "an instance that is gone is NotFound, not drifted", (*lab).driftGone},
		{"CP-DRIFT-04", Drift, "what can't be found out is an error", (*lab).driftUnknown},
	}
}

func repairClauses() []clause {
	return []clause{
		{"CP-REPAIR-01", Repair, "policies can be turned off", (*lab).repairOff},
		{"CP-REPAIR-02", Repair, "policies are unique and tolerations positive", (*lab).repairValid},
		{"CP-REPAIR-03", Repair, "policies never change", (*lab).repairConstant},
	}
}

// ability returns an optional interface of the provider. If the provider lacks it, the clause is skipped.
func ability[T any](l *lab, name string) T {
	found, ok := cloudprovider.As[T](l.Provider)
	if !ok {
		l.Skipf("the provider does not implement cloudprovider.%s", name)
	}
	return found
}

func (l *lab) classes() cloudprovider.NodeClassStatus {
	return ability[cloudprovider.NodeClassStatus](l, "NodeClassStatus")
}

// eachState puts the node class into every possible state, and calls look(state, readiness) in each state.
func (l *lab) eachState(look func(NodeClassState, cloudprovider.NodeClassReadiness)) {
	classes := l.classes()
	if l.SetNodeClass == nil {
		l.Skip("needs the hook SetNodeClass")
	}
	for _, state := range []NodeClassState{NodeClassReady, NodeClassUnready, NodeClassTerminating, NodeClassMissing} {
		if err := l.SetNodeClass(l.NodeClass, state); errors.Is(err, errors.ErrUnsupported) {
			continue
		} else if err != nil {
			l.Fatalf("making node class %q %s: %v", l.NodeClass.Name, state, err)
		}
		readiness, err := classes.NodeClassStatus(l.Context(), l.NodeClass)
		if err != nil {
			l.Errorf("the status of node class %q, which is %s: %v", l.NodeClass.Name, state, err)
			continue
		}
		look(state, readiness)
	}
}

func (l *lab) classAnswers() {
	l.eachState(func(state NodeClassState, r cloudprovider.NodeClassReadiness) {
		switch {
		case (state == NodeClassReady) != r.Ready():
			l.Errorf("a node class that is %s has status %q", state, r.Status)
		case state == NodeClassMissing && (r.Status != metav1.ConditionFalse || r.Reason != cloudprovider.NodeClassNotFound):
			l.Errorf("a node class that does not exist has status %q for reason %q, want False, %s", r.Status, r.Reason, cloudprovider.NodeClassNotFound)
		case state == NodeClassTerminating && r.Reason != cloudprovider.NodeClassTerminating:
			l.Errorf("a node class that is being deleted has reason %q, want %s", r.Reason, cloudprovider.NodeClassTerminating)
		}
	})
}

func (l *lab) classExplains() {
	l.eachState(func(state NodeClassState, r cloudprovider.NodeClassReadiness) {
		if !r.Ready() && (r.Message == "" || r.Reason == "") {
			l.Errorf("a node class that is %s has reason %q and message %q: both are for the operator", state, r.Reason, r.Message)
		}
	})
}

func (l *lab) classRefuses() {
	l.eachState(func(state NodeClassState, r cloudprovider.NodeClassReadiness) {
		if r.Ready() {
			return
		}
		if _, err := l.tryCreate(l.claim()); err == nil {
			l.Errorf("a node class that is not ready (%s) launched an instance", state)
		}
	})
}

func (l *lab) classUnknown() {
	classes := l.classes()
	heal, err := l.inject(Fault{Method: MethodNodeClassStatus, Kind: cloudprovider.Transient})
	if err != nil {
		l.Skip(err)
	}
	defer heal()
	if r, err := classes.NodeClassStatus(l.Context(), l.NodeClass); err == nil && !r.Ready() {
		l.Errorf("the cloud could not be read, but NodeClassStatus reports the status %q with reason %q", r.Status, r.Reason)
	}
}

func (l *lab) gate() cloudprovider.RegistrationGate {
	return ability[cloudprovider.RegistrationGate](l, "RegistrationGate")
}

// opened creates an instance and waits until the registration gate allows the instance's node to register.
func (l *lab) opened(gate cloudprovider.RegistrationGate) *v1.NodeClaim {
	instance := l.specOf(l.create(l.claim()))
	if !l.patiently(func() bool {
		result, err := gate.Registered(l.Context(), instance)
		if err != nil {
			l.Fatalf("gate %q: %v", gate.Name(), err)
		}
		return result.Open
	}) {
		l.Fatalf("gate %q is not open %s", gate.Name(), l.waited())
	}
	return instance
}

func (l *lab) gateStays() {
	gate := l.gate()
	instance := l.opened(gate)
	for range 3 {
		l.later()
		if result, err := gate.Registered(l.Context(), instance); err != nil || !result.Open {
			l.Fatalf("gate %q was open and is %+v, %v", gate.Name(), result, err)
		}
	}
}

func (l *lab) gateAsked() {
	gate := l.gate()
	instance := l.specOf(l.create(l.claim()))
	before, err := l.Provider.Get(l.Context(), instance.Status.ProviderID)
	if err != nil {
		l.Fatalf("getting the instance: %v", err)
	}
	first, firstErr := gate.Registered(l.Context(), instance)
	second, secondErr := gate.Registered(l.Context(), instance)
	if (firstErr == nil) != (secondErr == nil) || first.Open != second.Open {
		l.Errorf("gate %q says %+v, %v, then %+v, %v", gate.Name(), first, firstErr, second, secondErr)
	}
	if after, err := l.Provider.Get(l.Context(), instance.Status.ProviderID); err != nil || differ(before, after) {
		l.Errorf("asking gate %q changes the instance: %v", gate.Name(), err)
	}
}

func (l *lab) gateUnknown() {
	gate := l.gate()
	heal, err := l.inject(Fault{Method: MethodRegistered, Kind: cloudprovider.Transient})
	if err != nil {
		l.Skip(err)
	}
	defer heal()
	instance := l.specOf(l.create(l.claim()))
	if result, err := gate.Registered(l.Context(), instance); result.Open {
		l.Errorf("the cloud could not be read, but gate %q is open (error %v)", gate.Name(), err)
	}
}

func (l *lab) gateGone() {
	gate := l.gate()
	instance := l.specOf(l.create(l.claim()))
	if result, err := gate.Registered(l.Context(), instance); err == nil && result.Open {
		l.Skip("the gate is open from the first, and stays so (CP-GATE-01)")
	}
	l.end(instance)
	if result, err := gate.Registered(l.Context(), instance); !cloudprovider.IsNodeClaimNotFound(err) {
		l.Errorf("the instance is gone, and gate %q says %+v, %v", gate.Name(), result, err)
	}
}

func (l *lab) detector() cloudprovider.DriftDetector {
	return ability[cloudprovider.DriftDetector](l, "DriftDetector")
}

func (l *lab) driftStable() {
	detector := l.detector()
	instance := l.specOf(l.create(l.claim()))
	if l.MakeDrift == nil {
		l.Skip("needs the hook MakeDrift")
	}
	if err := l.MakeDrift(instance.Status.ProviderID); err != nil {
		l.Fatalf("making instance %q drift: %v", instance.Status.ProviderID, err)
	}
	var reason cloudprovider.DriftReason
	for n := range 4 {
		again, err := detector.IsDrifted(l.Context(), instance)
		switch {
		case err != nil:
			l.Fatalf("asking for drift: %v", err)
		case again == "":
			l.Fatalf("the instance has drifted, and answer %d is that it has not", n+1)
		case n > 0 && again != reason:
			l.Fatalf("the instance has drifted for %q, and now for %q", reason, again)
		}
		reason = again
		l.later()
	}
}

func (l *lab) driftNew() {
	detector := l.detector()
	instance := l.specOf(l.create(l.claim()))
	if reason, err := detector.IsDrifted(l.Context(), instance); reason != "" || err != nil {
		l.Errorf("an instance just launched has drifted for %q, %v", reason, err)
	}
}

func (l *lab) driftGone() {
	detector := l.detector()
	instance := l.specOf(l.create(l.claim()))
	l.end(instance)
	if reason, err := detector.IsDrifted(l.Context(), instance); !cloudprovider.IsNodeClaimNotFound(err) || reason != "" {
		l.Errorf("an instance that is gone: drift %q, %v, want kind %s", reason, err, cloudprovider.NodeClaimNotFound)
	}
}

func (l *lab) driftUnknown() {
	detector := l.detector()
	if l.MakeDrift == nil {
		l.Skip("needs the hook MakeDrift")
	}
	instance := l.specOf(l.create(l.claim()))
	if err := l.MakeDrift(instance.Status.ProviderID); err != nil {
		l.Fatalf("making instance %q drift: %v", instance.Status.ProviderID, err)
	}
	heal, err := l.inject(Fault{Method: MethodIsDrifted, Kind: cloudprovider.Transient})
	if err != nil {
		l.Skip(err)
	}
	defer heal()
	if reason, err := detector.IsDrifted(l.Context(), instance); err == nil && reason == "" {
		l.Error("the cloud could not be read, but IsDrifted reports that a drifted instance has not drifted")
	}
}

func (l *lab) repairer() cloudprovider.Repairer {
	return ability[cloudprovider.Repairer](l, "Repairer")
}

// hollow reports whether a policy lacks the type or the status of the condition that marks a broken instance. A provider that has no
// policies must return an empty list, not a list with a policy that lacks these fields.
func hollow(p cloudprovider.RepairPolicy) bool {
	return p.ConditionType == "" || p.ConditionStatus == ""
}

// repairOff checks that no repair policy is hollow, and that a provider with repair turned off returns no policies.
func (l *lab) repairOff() {
	policies := l.repairer().RepairPolicies()
	for i, p := range policies {
		if hollow(p) {
			l.Errorf("repair policy %d of %d names no condition or no status (%+v): leave it out, or repair can't be turned off", i, len(policies), p)
		}
	}
	if l.WithoutRepair == nil {
		return
	}
	if off, ok := cloudprovider.As[cloudprovider.Repairer](l.WithoutRepair()); ok && len(off.RepairPolicies()) > 0 {
		l.Errorf("repair is turned off, and the policies are %v", off.RepairPolicies())
	}
}

func (l *lab) repairValid() {
	if err := cloudprovider.ValidateRepairPolicies(slices.DeleteFunc(l.repairer().RepairPolicies(), hollow)); err != nil {
		l.Error(err)
	}
}

func (l *lab) repairConstant() {
	repairer := l.repairer()
	first := repairer.RepairPolicies()
	kept := slices.Clone(first)
	slices.Reverse(first)
	clear(first)
	l.create(l.claim())
	if heal, err := l.inject(Fault{Method: MethodList, Kind: cloudprovider.Transient}); err == nil {
		defer heal()
	}
	if again := repairer.RepairPolicies(); !slices.Equal(kept, again) {
		l.Errorf("repair policies have changed\nfrom %v\nto   %v", kept, again)
	}
}

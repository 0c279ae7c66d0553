package provisioning_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
)

// testSlice is one of count slices of a driver's pool for a node.
func testSlice(driver, node, pool string, generation, count int64) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{
		Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: pool, Generation: generation, ResourceSliceCount: count},
	}}
}

// PRV-060: a node is initialised once the drivers that its claim was planned with have published all slices of their newest pools for it. A claim that was planned
// with none waits for none, and nobody waits where slices are not known.
func TestInitializationWaitsForDrivers(t *testing.T) {
	const gpu, nic = "gpu.example.com", "nic.example.com"
	none := []*resourcev1.ResourceSlice{}
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	for name, c := range map[string]struct {
		drivers string
		slices  []*resourcev1.ResourceSlice
		missing string
	}{
		"planned without devices": {"", none, ""},
		"slices are not known":    {gpu, nil, ""},
		"nothing is there":        {gpu, none, gpu},
		"all is there":            {gpu, []*resourcev1.ResourceSlice{testSlice(gpu, "node-1", "node-1", 1, 1)}, ""},
		"of another node":         {gpu, []*resourcev1.ResourceSlice{testSlice(gpu, "node-2", "node-2", 1, 1)}, gpu},
		"of another driver":       {gpu, []*resourcev1.ResourceSlice{testSlice(nic, "node-1", "node-1", 1, 1)}, gpu},
		"a slice is missing":      {gpu, []*resourcev1.ResourceSlice{testSlice(gpu, "node-1", "node-1", 1, 2)}, gpu},
		"two slices":              {gpu, []*resourcev1.ResourceSlice{testSlice(gpu, "node-1", "node-1", 1, 2), testSlice(gpu, "node-1", "node-1", 1, 2)}, ""},
		"a newer generation": {gpu, []*resourcev1.ResourceSlice{
			testSlice(gpu, "node-1", "node-1", 1, 1), testSlice(gpu, "node-1", "node-1", 2, 2),
		}, gpu},
		"a pool of two is missing": {gpu, []*resourcev1.ResourceSlice{testSlice(gpu, "node-1", "a", 1, 1), testSlice(gpu, "node-1", "b", 1, 2)}, gpu},
		"one of two drivers":       {gpu + "," + nic, []*resourcev1.ResourceSlice{testSlice(gpu, "node-1", "node-1", 1, 1)}, nic},
		"neither of two":           {gpu + "," + nic, none, gpu + " and " + nic},
	} {
		claim := testClaim(registeredAt(at(1)))
		if c.drivers != "" {
			claim.Annotations[v1.RequestedDRADriversAnnotationKey] = c.drivers
		}
		step := l.Next(provisioning.ClaimState{Claim: claim, Nodes: []*corev1.Node{readyNode()}, Slices: c.slices}, at(2))
		got := storedClaim(t, step).Conditions().Get(v1.ConditionInitialized)
		switch {
		case c.missing == "" && got.Status != metav1.ConditionTrue:
			t.Errorf("%s: %s: %s", name, got.Reason, got.Message)
		case c.missing != "" && (got.Status != metav1.ConditionUnknown || got.Reason != "DRADriverPoolsNotPublished" || !strings.Contains(got.Message, "for devices of "+c.missing+",")):
			t.Errorf("%s: %s, %s: %s", name, got.Status, got.Reason, got.Message)
		case c.missing != "" && (step.Again != 10*time.Minute-time.Second || len(step.Events) > 0):
			t.Errorf("%s: again in %s, events %v", name, step.Again, step.Events)
		}
	}
}

// A driver that has published nothing for ten minutes is named in an event, as long as that is so.
func TestMissingDriverIsNamed(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	claim := testClaim(registeredAt(at(1)))
	claim.Annotations[v1.RequestedDRADriversAnnotationKey] = "gpu.example.com"
	state := provisioning.ClaimState{Claim: claim, Nodes: []*corev1.Node{readyNode()}, Slices: []*resourcev1.ResourceSlice{}}
	state.Claim = storedClaim(t, l.Next(state, at(2)))
	step := l.Next(state, at(601))
	if len(step.Events) != 1 || !step.Events[0].Warning || step.Events[0].Reason != provisioning.EventDriverMissing || step.Events[0].Name != claim.Name ||
		!strings.Contains(step.Events[0].Message, "gpu.example.com") || !strings.Contains(step.Events[0].Message, "Registered for 10m") || step.Again != 10*time.Minute {
		t.Errorf("after ten minutes: %+v, again in %s", step.Events, step.Again)
	}
	options := provisioning.DefaultLifecycleOptions()
	options.InitializationTimeout = 20 * time.Minute
	l = newLifecycle(t, options)
	if step := l.Next(state, at(1100)); step.Again != 101*time.Second {
		t.Errorf("the time-out comes in %s", step.Again)
	}
	if step := l.Next(state, at(1201)); len(step.Effects) != 1 || !strings.HasPrefix(texts(step.Effects)[0], "delete nodeclaim") {
		t.Errorf("after the time-out: %v", texts(step.Effects))
	}
}

package v1

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
)

// PRV-007, DIS-019, API-222 to API-224, API-242, API-245: the keys are a contract with nodes and claims that exist.
func TestKeys(t *testing.T) {
	for got, want := range map[string]string{
		NodePoolLabelKey:                           "karpenter.sh/nodepool",
		CapacityTypeLabelKey:                       "karpenter.sh/capacity-type",
		NodeRegisteredLabelKey:                     "karpenter.sh/registered",
		NodeInitializedLabelKey:                    "karpenter.sh/initialized",
		NodeDoNotSyncTaintsLabelKey:                "karpenter.sh/do-not-sync-taints",
		NodePoolHashAnnotationKey:                  "karpenter.sh/nodepool-hash",
		NodePoolHashVersionAnnotationKey:           "karpenter.sh/nodepool-hash-version",
		DoNotDisruptAnnotationKey:                  "karpenter.sh/do-not-disrupt",
		NodeClaimTerminationTimestampAnnotationKey: "karpenter.sh/nodeclaim-termination-timestamp",
		NodeClaimMinValuesRelaxedAnnotationKey:     "karpenter.sh/nodeclaim-min-values-relaxed",
		RequestedDRADriversAnnotationKey:           "karpenter.sh/requested-dra-drivers",
		PriceOverlayAppliedAnnotationKey:           "karpenter.sh/price-overlay-applied",
		CapacityOverlayAppliedAnnotationKey:        "karpenter.sh/capacity-overlay-applied",
		TerminationFinalizer:                       "karpenter.sh/termination",
		ExcludeBalancersLabelKey:                   "node.kubernetes.io/exclude-from-external-load-balancers",
		ExcludeBalancersLabelValue:                 "karpenter",
	} {
		if got != want {
			t.Errorf("%s should be %s", got, want)
		}
	}
	unregistered, disrupted := UnregisteredTaint(), DisruptedTaint()
	if got := unregistered.ToString(); got != "karpenter.sh/unregistered:NoExecute" {
		t.Errorf("unregistered taint is %s", got)
	}
	if got := disrupted.ToString(); got != "karpenter.sh/disrupted:NoSchedule" {
		t.Errorf("disrupted taint is %s", got)
	}
}

// PRV-001, API-003: groups, versions and kinds.
func TestSchemeKnowsTheKinds(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]runtime.Object{
		"karpenter.sh/v1, Kind=NodePool":              &NodePool{},
		"karpenter.sh/v1, Kind=NodePoolList":          &NodePoolList{},
		"karpenter.sh/v1, Kind=NodeClaim":             &NodeClaim{},
		"karpenter.sh/v1, Kind=NodeClaimList":         &NodeClaimList{},
		"karpenter.sh/v1alpha1, Kind=NodeOverlay":     &NodeOverlay{},
		"karpenter.sh/v1alpha1, Kind=NodeOverlayList": &NodeOverlayList{},
	} {
		kinds, _, err := scheme.ObjectKinds(o)
		if err != nil || len(kinds) != 1 || kinds[0].String() != want {
			t.Errorf("%T is %v (%v), want %s", o, kinds, err, want)
		}
	}
	if APIVersion != "karpenter.sh/v1" || NodeOverlayAPIVersion != "karpenter.sh/v1alpha1" {
		t.Errorf("apiVersions are %s and %s", APIVersion, NodeOverlayAPIVersion)
	}
}

// PRV-004: the paths of the scale subresource.
func TestScalePaths(t *testing.T) {
	pool := &NodePool{Spec: NodePoolSpec{Replicas: ptr(int64(7))}, Status: NodePoolStatus{Nodes: ptr(int64(0))}}
	text, err := json.Marshal(pool)
	if err != nil {
		t.Fatal(err)
	}
	var paths struct {
		Spec   struct{ Replicas *int64 }
		Status struct{ Nodes *int64 }
	}
	if err := json.Unmarshal(text, &paths); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*int64{ptr(int64(7)), ptr(int64(0))}, []*int64{paths.Spec.Replicas, paths.Status.Nodes}); diff != "" {
		t.Error(diff)
	}
}

// PRV-008, DIS-032.
func TestDoNotDisrupt(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		value   string
		start   time.Time
		after   time.Duration
		want    bool
		ignored bool
	}{
		{"true", start, 1000 * time.Hour, true, false},
		{"4h", start, 4*time.Hour - 1, true, false},
		{"4h", start, 4 * time.Hour, false, false},
		{"4h", time.Time{}, 1000 * time.Hour, true, false},
		{"false", start, 0, false, true},
		{"True", start, 0, false, true},
		{"1", start, 0, false, true},
		{"0s", time.Time{}, 0, false, true},
		{"-4h", time.Time{}, 0, false, true},
		{"", start, 0, false, true},
	} {
		got, err := ParseDoNotDisrupt(tc.value)
		if (err != nil) != tc.ignored {
			t.Errorf("%q: error %v, want one: %v", tc.value, err, tc.ignored)
		}
		if protects := got.Protects(tc.start, start.Add(tc.after)); protects != tc.want {
			t.Errorf("%q protects %v after the start: %v, want %v", tc.value, tc.after, protects, tc.want)
		}
	}
}

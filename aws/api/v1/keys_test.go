package v1

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/api/resource"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func quantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

func ptr[T any](v T) *T { return &v }

// AWN-008, API-038 to API-041, API-226, AWI-027.
func TestWellKnownLabels(t *testing.T) {
	labels := WellKnownLabels()
	if !slices.IsSorted(labels) || len(slices.Compact(slices.Clone(labels))) != len(labels) {
		t.Errorf("not sorted or not unique: %v", labels)
	}
	for _, suffix := range strings.Fields(`
		instance-hypervisor instance-category instance-family instance-generation instance-size instance-local-nvme
		instance-cpu instance-memory instance-gpu-name instance-gpu-manufacturer instance-gpu-count instance-gpu-memory
		instance-encryption-in-transit-supported instance-network-bandwidth instance-accelerator-name
		instance-accelerator-manufacturer instance-accelerator-count instance-cpu-manufacturer instance-ebs-bandwidth
		instance-cpu-sustained-clock-speed-mhz instance-capability-flex instance-tenancy nitro-sandbox
		capacity-reservation-id capacity-reservation-type capacity-reservation-interruptible
		placement-group-id placement-group-partition`) {
		if !slices.Contains(labels, "karpenter.k8s.aws/"+suffix) {
			t.Errorf("%s is missing", suffix)
		}
	}
	if !slices.Contains(labels, "topology.k8s.aws/zone-id") {
		t.Error("zone-id is missing")
	}
	for _, gone := range []string{"instance-pods", "instance-accelerator-memory"} {
		if slices.Contains(labels, "karpenter.k8s.aws/"+gone) {
			t.Errorf("%s is no v1 label (API-039, API-040)", gone)
		}
	}
	labels[0] = "changed"
	if WellKnownLabels()[0] == "changed" {
		t.Error("callers share the list")
	}
}

// AWN-005, AWN-006, API-225, API-241.
func TestKeys(t *testing.T) {
	for got, want := range map[string]string{
		AnnotationHash:                "karpenter.k8s.aws/ec2nodeclass-hash",
		AnnotationHashVersion:         "karpenter.k8s.aws/ec2nodeclass-hash-version",
		AnnotationInstanceTagged:      "karpenter.k8s.aws/tagged",
		AnnotationInstanceProfileName: "karpenter.k8s.aws/instance-profile-name",
		AnnotationClusterNameTagged:   "compatibility.karpenter.k8s.aws/cluster-name-tagged",
		TerminationFinalizer:          "karpenter.k8s.aws/termination",
		LabelNodeClass:                "karpenter.k8s.aws/ec2nodeclass",
		APIVersion:                    "karpenter.k8s.aws/v1",
	} {
		if got != want {
			t.Errorf("%s should be %s", got, want)
		}
	}
}

// AWN-077, API-216.
func TestConditions(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	class := &EC2NodeClass{}
	c := class.Conditions()
	for _, dependent := range []string{"SubnetsReady", "SecurityGroupsReady", "AMIsReady", "InstanceProfileReady", "PlacementGroupReady", "ValidationSucceeded"} {
		if c.Ready().Status != metav1.ConditionUnknown {
			t.Errorf("ready is %v before %s is known", c.Ready().Status, dependent)
		}
		c.SetTrue(dependent, now)
	}
	if !c.IsTrue(ConditionReady) {
		t.Errorf("not ready: %+v", c.Ready())
	}
	withReservations := class.Conditions(ConditionCapacityReservationsReady)
	if withReservations.Ready().Status != metav1.ConditionUnknown {
		t.Error("ready although reservations were not looked up")
	}
	withReservations.SetTrue(ConditionCapacityReservationsReady, now)
	if !withReservations.IsTrue(ConditionReady) {
		t.Errorf("not ready: %+v", withReservations.Ready())
	}
}

// AWN-081, AWN-157, AWN-165: the words that dashboards and alerts look for.
func TestReasons(t *testing.T) {
	for got, want := range map[string]string{
		ReasonSubnetsNotFound:                     "SubnetsNotFound",
		ReasonSecurityGroupsNotFound:              "SecurityGroupsNotFound",
		ReasonAMINotFound:                         "AMINotFound",
		ReasonUnsupportedAlias:                    "UnsupportedAlias",
		ReasonPlacementGroupNotFound:              "PlacementGroupNotFound",
		ReasonPlacementGroupResolutionFailed:      "PlacementGroupResolutionFailed",
		ReasonClusterCIDRResolutionFailed:         "ClusterCIDRResolutionFailed",
		ReasonRoleNotFound:                        "RoleNotFound",
		ReasonNoInstanceProfile:                   "NoInstanceProfile",
		ReasonInvalidKubeletConfiguration:         "InvalidKubeletConfiguration",
		ReasonUnsupportedKubeletConfiguration:     "UnsupportedKubeletConfiguration",
		ReasonKubeletExpressionsDisabled:          "KubeletExpressionsDisabled",
		ReasonKubeletExpressionInvalid:            "KubeletExpressionInvalid",
		ReasonKubeletExpressionEvaluationFailed:   "KubeletExpressionEvaluationFailed",
		ReasonDependenciesNotReady:                "DependenciesNotReady",
		ReasonTagValidationFailed:                 "TagValidationFailed",
		ReasonCreateLaunchTemplateAuthCheckFailed: "CreateLaunchTemplateAuthCheckFailed",
		ReasonCreateFleetAuthCheckFailed:          "CreateFleetAuthCheckFailed",
		ReasonRunInstancesAuthCheckFailed:         "RunInstancesAuthCheckFailed",
		ReasonUserDataSizeLimitExceeded:           "UserDataSizeLimitExceeded",
		ReasonInstanceProfileNotFound:             "InstanceProfileNotFound",
	} {
		if got != want {
			t.Errorf("%s should be %s", got, want)
		}
	}
}

// AWN-078, AWN-079, AWN-082, AWN-084, AWN-111: a class begins unknown; each write stamps the generation it is about; an
// answer about an older generation counts as none.
func TestConditionsFollowTheGeneration(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	class := &EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	c := class.Conditions()
	if got := c.Get(ConditionSubnetsReady); got.Status != metav1.ConditionUnknown || got.Reason != ReasonAwaitingReconciliation {
		t.Errorf("begins as %+v", got)
	}
	for _, dependent := range []string{"SubnetsReady", "SecurityGroupsReady", "AMIsReady", "InstanceProfileReady", "PlacementGroupReady", "ValidationSucceeded"} {
		c.SetTrue(dependent, now)
		if got := c.Get(dependent); got.Reason != dependent || got.Message != "" || got.ObservedGeneration != 1 {
			t.Errorf("true is %+v", got)
		}
	}
	if c.Has(ConditionCapacityReservationsReady) {
		t.Error("a condition that nobody asked for")
	}
	c.SetFalse(ConditionAMIsReady, ReasonAMINotFound, "no image", now)
	if got := c.Ready(); got.Status != metav1.ConditionFalse || got.Reason != "UnhealthyDependents" || !strings.Contains(got.Message, "AMIsReady=False") {
		t.Errorf("ready is %+v", got)
	}
	c.SetTrue(ConditionAMIsReady, now)
	class.Generation = 2
	if got := class.Conditions().Ready(); got.Status != metav1.ConditionUnknown || got.Reason != "ReconcilingDependents" {
		t.Errorf("after a change of the spec ready is %+v", got)
	}
}

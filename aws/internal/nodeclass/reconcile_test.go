package nodeclass

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/amis"
	"github.com/drawknife/drawknife/aws/internal/instanceprofile"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/cloudprovider"
)

// AWN-075, AWN-077, AWN-079, AWN-084, AWN-152 to AWN-154: first the finalizer, then all steps in their order, and a ready
// class that is looked at every minute.
func TestReady(t *testing.T) {
	r, w, _ := newReconciler(t, withoutDryRuns)
	c := class(func(c *awsv1.EC2NodeClass) { c.Finalizers = nil })
	first := reconcile(t, r, c)
	if !first.MetadataChanged || first.StatusChanged || len(w.calls) != 0 || first.RequeueAfter != soon || !slices.Equal(first.NodeClass.Finalizers, []string{awsv1.TerminationFinalizer}) || c.Finalizers != nil {
		t.Errorf("%+v, calls %v", first, w.calls)
	}
	result := reconcile(t, r, first.NodeClass)
	if diff := cmp.Diff([]string{"cluster", "images 1.33", "subnets", "securityGroups", "profile"}, w.calls); diff != "" {
		t.Error(diff)
	}
	wantCondition(t, result.NodeClass, awsv1.ConditionReady, "True", "Ready")
	var conditions []string
	for _, have := range result.NodeClass.Status.Conditions {
		conditions = append(conditions, have.Type)
		if have.ObservedGeneration != 3 || have.Type != have.Reason || have.Message != "" {
			t.Errorf("%+v", have)
		}
	}
	slices.Sort(conditions)
	if diff := cmp.Diff([]string{"AMIsReady", "CapacityReservationsReady", "InstanceProfileReady", "PlacementGroupReady", "Ready", "SecurityGroupsReady", "SubnetsReady", "ValidationSucceeded"}, conditions); diff != "" {
		t.Error(diff)
	}
	if result.RequeueAfter != time.Minute || !result.StatusChanged || result.NodeClass.Status.InstanceProfile != "demo_1" || w.wanted[0].Role != "nodes" {
		t.Errorf("%+v", result)
	}
	again := reconcile(t, r, result.NodeClass)
	if again.StatusChanged || again.MetadataChanged || len(again.NodeClaims) != 0 {
		t.Errorf("a second round would write: %+v", again)
	}
	if w.wanted[1].Current != "demo_1" {
		t.Errorf("%+v", w.wanted)
	}
}

// AWN-081, AWN-082, AWN-154, AWN-337: nothing found.
func TestNothingFound(t *testing.T) {
	r, w, _ := newReconciler(t, withoutDryRuns)
	ready := reconcile(t, r, class()).NodeClass
	w.images, w.subnets, w.security = nil, nil, nil
	w.outcomes = []amis.Outcome{{Term: 0, Problem: "the parameter does not exist"}}
	ready.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: ptr("gone")}
	w.fail["placementGroup"] = &placement.NotFoundError{Selector: `name "gone"`}
	result := reconcile(t, r, ready)
	c := result.NodeClass
	if got := wantCondition(t, c, awsv1.ConditionAMIsReady, "False", "AMINotFound"); !strings.Contains(got.Message, "the parameter does not exist") {
		t.Errorf("%+v", got)
	}
	wantCondition(t, c, awsv1.ConditionSubnetsReady, "False", "SubnetsNotFound")
	wantCondition(t, c, awsv1.ConditionSecurityGroupsReady, "False", "SecurityGroupsNotFound")
	wantCondition(t, c, awsv1.ConditionPlacementGroupReady, "False", "PlacementGroupNotFound")
	got := wantCondition(t, c, awsv1.ConditionValidationSucceeded, "False", "DependenciesNotReady")
	if want := "waiting for missing resources: AMIsReady, SecurityGroupsReady, SubnetsReady"; got.Message != want {
		t.Errorf("%q", got.Message)
	}
	wantCondition(t, c, awsv1.ConditionReady, "False", "UnhealthyDependents")
	if len(c.Status.AMIs)+len(c.Status.Subnets)+len(c.Status.SecurityGroups) != 0 || result.RequeueAfter != time.Minute {
		t.Errorf("%+v", result)
	}
	w.fail["images 1.33"] = &amis.UnsupportedAliasError{Problem: "use AL2023"}
	c = reconcile(t, r, ready).NodeClass
	wantCondition(t, c, awsv1.ConditionAMIsReady, "False", "UnsupportedAlias")
}

// AWN-352: nothing that is handed in is changed, since callers hand in what their caches hold: neither by a round in which
// all is found, nor by one that fails or deletes. (That nothing ends the process, registers itself or is set for the whole
// process is a rule of the tree: see internal/rules.)
func TestObservedIsNotChanged(t *testing.T) {
	r, w, api := newReconciler(t)
	expect(api)
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{awsv1.AnnotationHashVersion: "v1"}}}
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "blue"}}
	round := func(what string, c *awsv1.EC2NodeClass, claims ...*v1.NodeClaim) *awsv1.EC2NodeClass {
		t.Helper()
		observed := Observed{NodeClass: c, NodeClaims: claims, NodePools: []*v1.NodePool{pool}}
		before := Observed{NodeClass: c.DeepCopy(), NodePools: []*v1.NodePool{pool.DeepCopy()}}
		for _, claim := range claims {
			before.NodeClaims = append(before.NodeClaims, claim.DeepCopy())
		}
		result, _ := r.Reconcile(t.Context(), observed)
		if diff := cmp.Diff(before, observed); diff != "" {
			t.Errorf("%s (-before +after):\n%s", what, diff)
		}
		return result.NodeClass
	}
	c := round("without a finalizer", class(func(c *awsv1.EC2NodeClass) { c.Finalizers = nil }), claim)
	c = round("first", c, claim)
	w.images, w.subnets, w.security, w.fail["profile"] = nil, nil, nil, errors.New("no")
	round("nothing found", c, claim)
	c.DeletionTimestamp = ptr(metav1.NewTime(w.now))
	round("being deleted", c, claim)
	round("deleted", c)
}

// AWN-338: images that are deprecated are told of once.
func TestDeprecatedImages(t *testing.T) {
	r, w, _ := newReconciler(t, withoutDryRuns)
	w.images[0].Deprecated = true
	w.images = append(w.images, w.images[0])
	first := reconcile(t, r, class())
	want := []Event{{Type: "Warning", Reason: "AMIDeprecated",
		Message: "spec.amiSelectorTerms select no image for the same instances that is not deprecated: have them select newer ones than ami-gpu"}}
	if diff := cmp.Diff(want, first.Events); diff != "" {
		t.Error(diff)
	}
	wantCondition(t, first.NodeClass, awsv1.ConditionAMIsReady, "True", "AMIsReady")
	if again := reconcile(t, r, first.NodeClass); len(again.Events) != 0 {
		t.Errorf("told again: %+v", again.Events)
	}
}

// AWN-082, AWN-083, AWN-153, AWN-332: what can't be asked leaves what is known of the class as it is; of a changed class it
// says why it isn't known. All steps are gone through, and all errors told.
func TestErrors(t *testing.T) {
	r, w, _ := newReconciler(t, withoutDryRuns)
	ready := reconcile(t, r, class()).NodeClass
	boom := errors.New("boom, RequestID: 17")
	for _, call := range []string{"images 1.33", "reservations", "subnets", "securityGroups", "profile"} {
		w.fail[call] = boom
	}
	ready.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: "cr-1"}}
	result, err := r.Reconcile(t.Context(), Observed{NodeClass: ready})
	if !errors.Is(err, boom) || strings.Count(err.Error(), "boom") != 5 || !strings.Contains(err.Error(), `node class "std"`) {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(ready.Status, result.NodeClass.Status); diff != "" {
		t.Error(diff)
	}
	ready.Generation++
	result, err = r.Reconcile(t.Context(), Observed{NodeClass: ready})
	if err == nil || !result.StatusChanged {
		t.Errorf("%v", err)
	}
	for _, condition := range []string{awsv1.ConditionAMIsReady, awsv1.ConditionSubnetsReady, awsv1.ConditionSecurityGroupsReady, awsv1.ConditionInstanceProfileReady, awsv1.ConditionCapacityReservationsReady} {
		if got := wantCondition(t, result.NodeClass, condition, "Unknown", "ResolutionFailed"); got.Message != "boom" {
			t.Errorf("%q", got.Message)
		}
	}
	wantCondition(t, result.NodeClass, awsv1.ConditionValidationSucceeded, "Unknown", "DependenciesNotReady")
	wantCondition(t, result.NodeClass, awsv1.ConditionReady, "Unknown", "ReconcilingDependents")
	if len(result.NodeClass.Status.AMIs) == 0 || result.NodeClass.Status.InstanceProfile == "" {
		t.Error("what was known is gone")
	}
}

// AWN-076, AWN-081, AWN-357: a group counts as it was while EC2 can't be asked; without one it is not there.
func TestPlacementGroup(t *testing.T) {
	r, w, _ := newReconciler(t, withoutDryRuns)
	c := class(func(c *awsv1.EC2NodeClass) {
		c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{ID: ptr("pg-1")}
	})
	w.group = &placement.Group{ID: "pg-1"}
	c = reconcile(t, r, c).NodeClass
	wantCondition(t, c, awsv1.ConditionPlacementGroupReady, "True", "PlacementGroupReady")
	w.fail["placementGroup"] = cloudprovider.NewTransientError(errors.New("no"))
	result, err := r.Reconcile(t.Context(), Observed{NodeClass: c})
	if err == nil {
		t.Error("no error")
	}
	wantCondition(t, result.NodeClass, awsv1.ConditionPlacementGroupReady, "True", "PlacementGroupReady")
	w.group = nil
	result, _ = r.Reconcile(t.Context(), Observed{NodeClass: c})
	wantCondition(t, result.NodeClass, awsv1.ConditionPlacementGroupReady, "False", "PlacementGroupResolutionFailed")
}

// AWN-074, AWN-083, AWN-110, AWN-111: reservations, and none, and none to be used.
func TestReservations(t *testing.T) {
	r, w, _ := newReconciler(t, withoutDryRuns)
	end := metav1.NewTime(w.now.Add(20*time.Second + time.Millisecond))
	w.reserved = reservations.Found{{CapacityReservation: awsv1.CapacityReservation{ID: "cr-1", EndTime: &end}, Available: 1, Total: 2}}
	c := class(func(c *awsv1.EC2NodeClass) {
		c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: "cr-1"}}
	})
	result := reconcile(t, r, c)
	if len(result.NodeClass.Status.CapacityReservations) != 1 || result.RequeueAfter > 21*time.Second || result.RequeueAfter < 20*time.Second {
		t.Errorf("%+v", result)
	}
	// What an API server made of the status is the same.
	stored := result.NodeClass.DeepCopy()
	stored.Status.CapacityReservations[0].EndTime = ptr(metav1.NewTime(end.Truncate(time.Second)))
	if again := reconcile(t, r, stored); again.StatusChanged {
		t.Error("a fraction of a second counts as a change")
	}
	w.reserved = nil
	c = reconcile(t, r, result.NodeClass).NodeClass
	wantCondition(t, c, awsv1.ConditionReady, "True", "Ready")

	off, w, _ := newReconciler(t, withoutDryRuns, func(o *Options) { o.Reservations = nil })
	c = reconcile(t, off, result.NodeClass).NodeClass
	if c.Conditions().Has(awsv1.ConditionCapacityReservationsReady) || len(c.Status.CapacityReservations) != 0 || slices.Contains(w.calls, "reservations") {
		t.Errorf("%+v", c.Status)
	}
	wantCondition(t, c, awsv1.ConditionReady, "True", "Ready")
}

// AWN-139, AWN-346, AWN-364: a profile of the user's own is taken over unseen; where nobody makes profiles a role is no identity.
func TestProfile(t *testing.T) {
	r, w, _ := newReconciler(t, withoutDryRuns, func(o *Options) { o.Profiles = nil })
	own := class(func(c *awsv1.EC2NodeClass) { c.Spec.Role, c.Spec.InstanceProfile = nil, ptr("own") })
	if got := reconcile(t, r, own).NodeClass.Status.InstanceProfile; got != "own" || len(w.wanted) != 0 {
		t.Errorf("profile is %q", got)
	}
	result, err := r.Reconcile(t.Context(), Observed{NodeClass: class()})
	if !cloudprovider.IsPermanent(err) {
		t.Errorf("%v", err)
	}
	got := wantCondition(t, result.NodeClass, awsv1.ConditionInstanceProfileReady, "False", "NoInstanceProfile")
	if !strings.Contains(got.Message, "create one, and name it in spec.instanceProfile") {
		t.Errorf("message %q", got.Message)
	}
	// The same class, once IAM says that its role is not there: nobody waits for an answer that is known.
	missing, w, _ := newReconciler(t, withoutDryRuns)
	w.fail["profile"] = fmt.Errorf("instance profile: %w", cloudprovider.NewPermanentError(&instanceprofile.RoleNotFoundError{Role: "noodles"}))
	result, err = missing.Reconcile(t.Context(), Observed{NodeClass: class()})
	if !cloudprovider.IsPermanent(err) {
		t.Errorf("%v", err)
	}
	got = wantCondition(t, result.NodeClass, awsv1.ConditionInstanceProfileReady, "False", "RoleNotFound")
	if got.Message != `there is no IAM role "noodles": create it, or correct spec.role of the node class` {
		t.Errorf("message %q", got.Message)
	}
	if ready := result.NodeClass.Conditions().Ready(); ready.Status != "False" {
		t.Errorf("Ready is %+v", ready)
	}
}

// AWN-167 to AWN-170, AWN-364: a class goes once no claim refers to it and nothing is left that was made for it.
func TestDeletion(t *testing.T) {
	r, w, _ := newReconciler(t)
	gone := metav1.NewTime(w.now)
	c := class(func(c *awsv1.EC2NodeClass) {
		c.DeletionTimestamp, c.Finalizers = &gone, []string{"other", awsv1.TerminationFinalizer}
	})
	var claims []*v1.NodeClaim
	for _, name := range []string{"g", "b", "c", "a", "e", "d", "f"} {
		claims = append(claims, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	result, err := r.Reconcile(t.Context(), Observed{NodeClass: c, NodeClaims: claims})
	want := []Event{{Type: "Normal", Reason: "WaitingOnNodeClaimTermination", Message: "waiting until these NodeClaims, which refer to the class, are gone: a, b, c, d, e and 2 more"}}
	if err != nil || result.RequeueAfter != 10*time.Minute || result.MetadataChanged || len(w.calls) != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if diff := cmp.Diff(want, result.Events); diff != "" {
		t.Error(diff)
	}
	for _, call := range []string{"delete profiles of std u-1", "delete templates of std"} {
		w.fail = map[string]error{call: errors.New("no")}
		if result, err := r.Reconcile(t.Context(), Observed{NodeClass: c}); err == nil || result.MetadataChanged {
			t.Errorf("%s failed: %+v, %v", call, result, err)
		}
	}
	w.fail = nil
	r.verdicts.remember("u-1", [32]byte{1}, passed(), w.now)
	result = reconcile(t, r, c)
	if !result.MetadataChanged || !slices.Equal(result.NodeClass.Finalizers, []string{"other"}) || len(r.verdicts.known) != 0 {
		t.Errorf("%+v", result)
	}
	w.calls = nil
	if result = reconcile(t, r, result.NodeClass); result.MetadataChanged || len(w.calls) != 0 {
		t.Errorf("%+v", result)
	}
	isolated, w, _ := newReconciler(t, func(o *Options) { o.Profiles = nil })
	if reconcile(t, isolated, c); !slices.Equal(w.calls, []string{"delete templates of std"}) {
		t.Errorf("calls %v", w.calls)
	}
}

// AWN-155, AWN-273, AWN-366: an upgrade of the hash drifts nobody, and nobody who has drifted is absolved.
func TestHashes(t *testing.T) {
	claim := func(name, version string, drifted bool) *v1.NodeClaim {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{awsv1.AnnotationHash: "1", awsv1.AnnotationHashVersion: version}}}
		if drifted {
			c.Status.Conditions = []metav1.Condition{{Type: v1.ConditionDrifted, Status: metav1.ConditionTrue}}
		}
		return c
	}
	claims := []*v1.NodeClaim{claim("old", "v6", false), claim("drifted", "v6", true), claim("current", awsv1.HashVersion, false)}
	c := class(func(c *awsv1.EC2NodeClass) {
		c.Annotations = map[string]string{awsv1.AnnotationHash: "1", awsv1.AnnotationHashVersion: "v6", "own": "x"}
	})
	r, _, _ := newReconciler(t, withoutDryRuns)
	result, err := r.Reconcile(t.Context(), Observed{NodeClass: c, NodeClaims: claims})
	if err != nil {
		t.Fatal(err)
	}
	hash := c.Hash("")
	want := []ClaimAnnotations{
		{Name: "drifted", Annotations: map[string]string{awsv1.AnnotationHashVersion: awsv1.HashVersion}},
		{Name: "old", Annotations: map[string]string{awsv1.AnnotationHashVersion: awsv1.HashVersion, awsv1.AnnotationHash: hash}},
	}
	if diff := cmp.Diff(want, result.NodeClaims); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{awsv1.AnnotationHash: hash, awsv1.AnnotationHashVersion: awsv1.HashVersion, "own": "x"}, result.NodeClass.Annotations); diff != "" || !result.MetadataChanged || c.Annotations[awsv1.AnnotationHash] != "1" {
		t.Error(diff)
	}
	// A change of the spec is drift: claims keep their hash.
	changed := result.NodeClass.DeepCopy()
	changed.Spec.DetailedMonitoring = ptr(true)
	onClaims, onClass := Hashes(changed, claims, changed.Hash(""))
	if len(onClaims) != 0 || onClass[awsv1.AnnotationHash] == hash {
		t.Errorf("%v, %v", onClaims, onClass)
	}
	if onClaims, onClass = Hashes(changed, claims, ""); onClaims != nil || onClass != nil {
		t.Error("a hash that is not known is written")
	}
}

func TestOptions(t *testing.T) {
	if _, err := New(Options{}); !cloudprovider.IsPermanent(err) || strings.Count(err.Error(), "required") != 7 {
		t.Errorf("%v", err)
	}
	r, _, _ := newReconciler(t)
	if _, err := r.Reconcile(t.Context(), Observed{}); !cloudprovider.IsPermanent(err) {
		t.Errorf("%v", err)
	}
}

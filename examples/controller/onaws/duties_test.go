package onaws

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

func dutiesOf(s *site) (*duties, *bytes.Buffer) {
	var log bytes.Buffer
	return &duties{provider: s.provider.Provider, client: s.client, reader: s.client, log: slog.New(slog.NewTextHandler(&log, nil))}, &log
}

func (s *site) claim(name string) *v1.NodeClaim {
	s.t.Helper()
	claim := &v1.NodeClaim{}
	if err := s.client.Get(s.t.Context(), client.ObjectKey{Name: name}, claim); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		s.t.Fatal(err)
	}
	return claim
}

// AWI-201: the instance of a node that has joined is tagged once; one that has not, that is not EC2's or that goes is not.
func TestLateTags(t *testing.T) {
	joined := newClaim("joined", "pool")
	joined.Status.NodeName = "node-1"
	booting := newClaim("booting", "pool")
	foreign := joined.DeepCopy()
	foreign.Name, foreign.UID, foreign.Spec.NodeClassRef.Kind = "foreign", "uid-foreign", "Other"
	gone := joined.DeepCopy()
	gone.Name, gone.UID, gone.Status.ProviderID = "gone", "uid-gone", "aws:///us-east-1a/i-gone"
	s := newSite(t)
	joined.Status.ProviderID = s.account.put("i-1")
	booting.Status.ProviderID = s.account.put("i-2")
	foreign.Status.ProviderID = s.account.put("i-3")
	for _, c := range []*v1.NodeClaim{joined, booting, foreign, gone} {
		if err := s.client.Create(t.Context(), c.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		stored := s.claim(c.Name)
		stored.Status = c.Status
		if err := s.client.Status().Update(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
	}
	d, log := dutiesOf(s)
	d.review(t.Context())
	d.review(t.Context())
	if len(s.account.tagged) != 1 || s.account.tagged[0].Resources[0] != "i-1" {
		t.Errorf("tagged %v", s.account.tagged)
	}
	for name, want := range map[string]string{"joined": "true", "booting": "", "foreign": "", "gone": ""} {
		if got := s.claim(name).Annotations[taggedAnnotation]; got != want {
			t.Errorf("claim %s is noted as %q, want %q", name, got, want)
		}
	}
	if log.Len() > 0 {
		t.Errorf("complained: %s", log)
	}
}

// AWI-130, AWI-131, AWN-307, AWN-308: a claim whose capacity block ends is deleted, one whose instance fell out of its
// reservation is relabelled, with its node. What was done in part is done in full the next time.
func TestReservationDuties(t *testing.T) {
	reserved := map[string]string{
		v1.CapacityTypeLabelKey: v1.CapacityTypeReserved, awsv1.LabelCapacityReservationID: "cr-1", awsv1.LabelCapacityReservationType: "default",
	}
	claim := newClaim("lost", "pool")
	claim.Labels = reserved
	claim.Status.NodeName = "node-1"
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: reserved}}
	s := newSite(t)
	claim.Status.ProviderID = s.account.put("i-1", func(i *ec2types.Instance) { i.InstanceLifecycle = "" })
	for _, o := range []client.Object{readyClass("default"), claim, node} {
		if err := s.client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	stored := s.claim("lost")
	stored.Status = v1.NodeClaimStatus{NodeName: "node-1", ProviderID: "aws:///us-east-1a/i-1"}
	if err := s.client.Status().Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	d, log := dutiesOf(s)
	whole := s.client.(client.WithWatch)
	d.client = interceptor.NewClient(whole, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			if _, isClaim := o.(*v1.NodeClaim); isClaim {
				return apierrors.NewInternalError(context.DeadlineExceeded)
			}
			return c.Patch(ctx, o, p, options...)
		},
	})
	d.review(t.Context()) // gets as far as the node
	if log.Len() == 0 {
		t.Error("that the claim could not be stored is not told")
	}
	d.client = s.client
	d.review(t.Context())
	if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand}
	for what, labels := range map[string]map[string]string{"claim": s.claim("lost").Labels, "node": node.Labels} {
		if diff := cmp.Diff(want, labels); diff != "" {
			t.Errorf("labels of the %s: %s", what, diff)
		}
	}

	if err := d.carryOut(t.Context(), aws.ReservationDuty{NodeClaim: "lost", Leave: true}); err != nil || s.claim("lost") != nil {
		t.Errorf("%v, claim %v", err, s.claim("lost"))
	}
	for _, duty := range []aws.ReservationDuty{{NodeClaim: "lost", Leave: true}, {NodeClaim: "lost", Relabel: aws.Relabeling{Remove: []string{"a"}}}} {
		if err := d.carryOut(t.Context(), duty); err != nil {
			t.Errorf("a claim that is gone: %v", err)
		}
	}
}

// AWN-148: profiles that a class or a claim names are in use, be they of no node any more.
func TestProfilesInUse(t *testing.T) {
	claim := newClaim("a", "pool")
	claim.Annotations = map[string]string{awsv1.AnnotationInstanceProfileName: "of-a-claim"}
	class := readyClass("default")
	class.Status.InstanceProfile = "of-a-class"
	s := newSite(t, claim, class)
	d, _ := dutiesOf(s)
	names, err := d.profilesInUse(t.Context())
	if diff := cmp.Diff([]string{"of-a-claim", "of-a-class"}, names, cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if again := d.collectProfiles(t.Context()); again != never {
		t.Errorf("looked for again in %v, in a network that can't reach IAM", again)
	}
}

// The duties end with the manager.
func TestDutiesEnd(t *testing.T) {
	s := newSite(t)
	d, _ := dutiesOf(s)
	ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	if err := d.Start(ctx); err != nil || !d.NeedLeaderElection() {
		t.Error(err)
	}
	failing := onTheLeader(func(context.Context) error { return context.Canceled })
	if err := failing.Start(ctx); err != nil || !failing.NeedLeaderElection() || onEveryReplica(failing).NeedLeaderElection() {
		t.Errorf("an end is an error: %v", err)
	}
	if err := onEveryReplica(failing).Start(t.Context()); err == nil {
		t.Error("a loop that ended by itself is no error")
	}
}

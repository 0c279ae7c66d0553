package main

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/fake"
)

// TestSimulationRestored has a process find the NodeClaims of an earlier one, among them one whose instance was told to end: its
// kubelet does not work any more, or it would register a node that nobody takes away.
func TestSimulationRestored(t *testing.T) {
	before, err := fake.New(fake.GenericTypes(10), fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stored := func(name string) *v1.NodeClaim {
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Finalizers: []string{v1.TerminationFinalizer}}}
		instance, err := before.Create(t.Context(), claim)
		if err != nil {
			t.Fatal(err)
		}
		claim.Labels, claim.Status = instance.Labels, instance.Status
		return claim
	}
	lives, ends := stored("lives"), stored("ends")
	ends.DeletionTimestamp = new(metav1.Now())
	ends.Conditions().SetTrue(v1.ConditionInstanceTerminating, time.Now())

	ctx, stop := context.WithCancel(t.Context())
	s := &simulation{
		ctx: ctx, clients: kubefake.NewClientset(), log: slog.New(slog.DiscardHandler),
		reader: clientfake.NewClientBuilder().WithScheme(reconcilers.Scheme()).WithObjects(lives, ends).Build(),
	}
	t.Cleanup(func() {
		stop()
		if s.kubelets != nil {
			s.kubelets.Wait()
		}
	})
	if s.Cloud, err = fake.New(fake.GenericTypes(10), fake.Options{ShutdownLatency: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	phases := map[string]fake.Phase{}
	var kubelets []string
	for _, i := range s.Instances() {
		phases[i.ProviderID] = i.Phase
		if i.ProviderID == lives.Status.ProviderID {
			kubelets = append(kubelets, i.NodeName)
		}
	}
	if diff := cmp.Diff(map[string]fake.Phase{lives.Status.ProviderID: fake.Running, ends.Status.ProviderID: fake.ShuttingDown}, phases); diff != "" {
		t.Errorf("instances (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(kubelets, s.kubelets.Running()); diff != "" {
		t.Errorf("kubelets that work (-want +got):\n%s", diff)
	}
}

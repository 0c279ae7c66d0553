package onaws

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

func classesOf(s *site) (*classReconciler, *events.FakeRecorder) {
	told := events.NewFakeRecorder(100)
	return &classReconciler{provider: s.provider.Provider, client: s.client, events: told, log: slog.New(slog.NewTextHandler(s.t.Output(), nil))}, told
}

func (s *site) class(name string) *awsv1.EC2NodeClass {
	s.t.Helper()
	class := &awsv1.EC2NodeClass{}
	if err := s.client.Get(s.t.Context(), client.ObjectKey{Name: name}, class); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		s.t.Fatal(err)
	}
	return class
}

func requestOf(name string) ctrl.Request {
	return ctrl.Request{NamespacedName: client.ObjectKey{Name: name}}
}

// look has the reconciler look until it is content.
func (s *site) look(r *classReconciler, name string) ctrl.Result {
	s.t.Helper()
	var result ctrl.Result
	for range 5 {
		var err error
		if result, err = r.Reconcile(s.t.Context(), requestOf(name)); err != nil {
			s.t.Fatal(err)
		}
	}
	return result
}

// A class is looked after from nothing to ready, what was found is written to it, and it goes only when no claim refers to it.
func TestClassReconciler(t *testing.T) {
	s := newSite(t, newClass("default"), newPool("pool"), newClaim("a", "pool"))
	r, _ := classesOf(s)
	result := s.look(r, "default")
	class := s.class("default")
	if !class.Conditions().IsTrue(awsv1.ConditionSubnetsReady) || len(class.Status.Subnets) != 2 || len(class.Status.AMIs) != 1 || class.Status.InstanceProfile != "node-profile" {
		t.Errorf("status %+v", class.Status)
	}
	if len(class.Finalizers) != 1 || class.Annotations[awsv1.AnnotationHash] == "" || result.RequeueAfter <= 0 {
		t.Errorf("metadata %+v, again in %v", class.ObjectMeta, result.RequeueAfter)
	}
	if err := s.client.Delete(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	if s.look(r, "default"); s.class("default") == nil {
		t.Error("the class went though a claim refers to it")
	}
	if err := s.client.Delete(t.Context(), newClaim("a", "pool")); err != nil {
		t.Fatal(err)
	}
	if s.look(r, "default"); s.class("default") != nil {
		t.Error("the class does not go")
	}
	s.look(r, "default") // one that is gone needs nothing
}

// A process that wrote to a class meanwhile is not overruled: it is looked at again soon.
func TestClassConflict(t *testing.T) {
	s := newSite(t, newClass("default"))
	r, _ := classesOf(s)
	r.client = interceptor.NewClient(s.client.(client.WithWatch), interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return apierrors.NewConflict(schema.GroupResource{Resource: "ec2nodeclasses"}, "default", nil)
		},
	})
	if result, err := r.Reconcile(t.Context(), requestOf("default")); err != nil || result.RequeueAfter != conflictRetry {
		t.Errorf("%v, %v", result, err)
	}
}

// Classes are found by the claims and pools that refer to them, those of other kinds by none.
func TestClassOfReferences(t *testing.T) {
	claim := newClaim("a", "pool")
	if got := classOf(claim); !slices.Equal(got, []string{"default"}) || len(requestsFor(claim.Spec.NodeClassRef)) != 1 {
		t.Errorf("got %v", got)
	}
	claim.Spec.NodeClassRef.Kind = "Other"
	if got := classOf(claim); got != nil || requestsFor(claim.Spec.NodeClassRef) != nil {
		t.Errorf("got %v", got)
	}
	reader := classReader{newSite(t, newClass("default")).client}
	if class, err := reader.NodeClass(t.Context(), "default"); err != nil || class == nil {
		t.Errorf("%v, %v", class, err)
	}
	if class, err := reader.NodeClass(t.Context(), "gone"); err != nil || class != nil {
		t.Errorf("%v, %v", class, err)
	}
}

// New adds everything to a manager, whose API server it does not ask yet.
func TestNew(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{
		v1.GroupVersion().WithKind("NodeClaim"), v1.GroupVersion().WithKind("NodePool"), awsv1.GroupVersion().WithKind("EC2NodeClass"),
	} {
		mapper.Add(kind, meta.RESTScopeRoot)
	}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{
		Scheme: scheme(), Metrics: metricsserver.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	provider, err := New(t.Context(), mgr, aws.Config{ClusterName: "demo", IsolatedVPC: true}, Options{Clients: clients{&account{}}, NodeOverlays: true})
	if err != nil || provider.Name() != "aws" {
		t.Fatalf("%v, %v", provider, err)
	}
	if _, err := New(t.Context(), mgr, aws.Config{}, Options{Clients: clients{&account{}}}); err == nil {
		t.Error("a provider without the name of a cluster was made")
	}
}

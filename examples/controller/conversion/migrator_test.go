package conversion_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/examples/controller/conversion"
)

// movedTo is a definition that says since a moment ago that its objects are stored as v1.
func movedTo(t *testing.T, s *runtime.Scheme) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	for _, add := range []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme, v1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "nodepools.karpenter.sh", Generation: 2},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: v1.Group, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "nodepools", Kind: "NodePool", ListKind: "NodePoolList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1beta1", Served: true}, {Name: "v1", Served: true, Storage: true}},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{StoredVersions: []string{"v1beta1", "v1"}},
	}
}

// TestMigrationWaits has an API server go on storing pools as v1beta1 for some seconds after their definition says v1: what was written
// in these would be said to be stored as v1, and could not be read any more once v1beta1 is taken out of the definition.
func TestMigrationWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scheme := runtime.NewScheme()
		crd := movedTo(t, scheme)
		began := time.Now()
		stored := "v1beta1"
		c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(crd).WithObjects(crd, &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}).
			WithInterceptorFuncs(interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
				if o.GetName() == "web" && time.Since(began) > 5*time.Second {
					stored = "v1"
				}
				return c.Patch(ctx, o, p, options...)
			}}).Build()
		m := &conversion.Migrator{Client: c, Definitions: []string{crd.Name, "absent.karpenter.sh"}}
		if err := m.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{stored}, crd.Status.StoredVersions); diff != "" {
			t.Errorf("what the pool is stored as, and what its definition says (-is +says):\n%s", diff)
		}
		took := time.Since(began)
		if err := m.Migrate(t.Context()); err != nil || time.Since(began) != took {
			t.Errorf("with nothing to do: %v after %s", err, time.Since(began)-took)
		}
	})
}

// TestDefinitionChangedMeanwhile has somebody change the definition while the migration waits for it to settle.
func TestDefinitionChangedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scheme := runtime.NewScheme()
		crd := movedTo(t, scheme)
		c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(crd).WithObjects(crd).Build()
		go func() {
			time.Sleep(conversion.DefaultSettle / 2)
			changed := crd.DeepCopy()
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(crd), changed); err != nil {
				t.Error(err)
			}
			changed.Generation++
			changed.Spec.Versions[0].Storage, changed.Spec.Versions[1].Storage = true, false
			if err := c.Update(t.Context(), changed); err != nil {
				t.Error(err)
			}
		}()
		if err := (&conversion.Migrator{Client: c, Definitions: []string{crd.Name}}).Migrate(t.Context()); err == nil {
			t.Error("it is said to be done")
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil || len(crd.Status.StoredVersions) != 2 {
			t.Errorf("stored versions are %v, %v", crd.Status.StoredVersions, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := (&conversion.Migrator{Client: c, Definitions: []string{crd.Name}}).Migrate(ctx); err == nil {
			t.Error("told to end, it is said to be done")
		}
	})
}

package install

import (
	"context"
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// older are the definitions of a release before, established.
func older(t *testing.T) []client.Object {
	t.Helper()
	definitions, err := Options{}.definitions()
	if err != nil {
		t.Fatal(err)
	}
	var out []client.Object
	for _, crd := range definitions {
		crd.Spec.Names.ShortNames = []string{"old"}
		crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
		out = append(out, crd)
	}
	return out
}

// A definition that somebody writes at the same time, as the API server does with its conditions, is read and written again; one
// that never gives way is an error.
func TestDefinitionsThatOthersWrite(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "customresourcedefinitions"}, "", errors.New("somebody else was first"))
	for name, conflicts := range map[string]int{"nobody else": 0, "once": 1, "always": -1} {
		t.Run(name, func(t *testing.T) {
			tries := map[string]int{}
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(older(t)...).WithInterceptorFuncs(interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
					tries[object.GetName()]++
					if conflicts < 0 || tries[object.GetName()] <= conflicts {
						return conflict
					}
					return c.Patch(ctx, object, patch, options...)
				},
			}).Build()
			err := install(t.Context(), c, Options{})
			if conflicts < 0 {
				if !apierrors.IsConflict(err) {
					t.Errorf("got %v, want the conflict", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var list apiextensionsv1.CustomResourceDefinitionList
			if err := c.List(t.Context(), &list); err != nil {
				t.Fatal(err)
			}
			for i := range list.Items {
				crd := &list.Items[i]
				if names := crd.Spec.Names.ShortNames; len(names) == 1 && names[0] == "old" || tries[crd.Name] != conflicts+1 {
					t.Errorf("%s has short names %v after %d tries", crd.Name, names, tries[crd.Name])
				}
			}
		})
	}
}

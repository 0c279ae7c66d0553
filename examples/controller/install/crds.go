// Package install puts drawknife's CustomResourceDefinitions into a cluster.
package install

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/crds"
)

// CRDs creates the definitions that are missing, brings those that are there up to date, and waits until the API server
// serves them. Objects are not touched. What a definition has beyond drawknife's, such as labels and a conversion webhook,
// stays.
func CRDs(ctx context.Context, config *rest.Config) error {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	for _, definition := range crds.All() {
		want := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(definition.YAML(), want); err != nil {
			return fmt.Errorf("%s: %w", definition.Name(), err)
		}
		if err := put(ctx, c, want); err != nil {
			return fmt.Errorf("%s: %w", want.Name, err)
		}
	}
	for _, definition := range crds.All() {
		if err := established(ctx, c, definition.Name()); err != nil {
			return fmt.Errorf("%s: %w", definition.Name(), err)
		}
	}
	return nil
}

func put(ctx context.Context, c client.Client, want *apiextensionsv1.CustomResourceDefinition) error {
	have := &apiextensionsv1.CustomResourceDefinition{}
	err := c.Get(ctx, client.ObjectKeyFromObject(want), have)
	if apierrors.IsNotFound(err) {
		if err := c.Create(ctx, want); !apierrors.IsAlreadyExists(err) {
			return err
		}
		err = c.Get(ctx, client.ObjectKeyFromObject(want), have) // another replica was first
	}
	if err != nil {
		return err
	}
	next := have.DeepCopy()
	conversion := have.Spec.Conversion
	next.Spec = *want.Spec.DeepCopy()
	if next.Spec.Conversion == nil {
		next.Spec.Conversion = conversion
	}
	if equality.Semantic.DeepEqual(have.Spec, next.Spec) {
		return nil
	}
	return c.Patch(ctx, next, client.MergeFromWithOptions(have, client.MergeFromWithOptimisticLock{}))
}

// patience is how long the API server may take to serve a new kind.
const patience = 30 * time.Second

func established(ctx context.Context, c client.Client, name string) error {
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := c.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
}

// Package install puts drawknife's CustomResourceDefinitions into a cluster.
package install

import (
	"context"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/crds"
)

// Options say which API versions are served.
type Options struct {
	// Webhook is the address of the conversion webhook; with a webhook, v1beta1 is served in addition to v1. Nil means that only v1 is
	// served. The API server refuses such CRDs while objects may still be stored as v1beta1.
	Webhook *apiextensionsv1.WebhookClientConfig
	// Alpha also installs the kinds of v1alpha5.
	Alpha bool
}

// definitions returns the CRDs to install.
func (o Options) definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	list := crds.All()
	if o.Webhook != nil {
		both := crds.WithV1Beta1()
		for i, c := range list {
			if j := slices.IndexFunc(both, func(b crds.CRD) bool { return b.Name() == c.Name() }); j >= 0 {
				list[i] = both[j]
			}
		}
	}
	if o.Alpha {
		list = append(list, crds.Alpha()...)
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, c := range list {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(c.YAML(), crd); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
		// Serving v1beta1 next to v1 needs the conversion webhook.
		if o.Webhook != nil && !crd.Spec.Versions[0].Served {
			crd.Spec.Versions[0].Served = true
			crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: o.Webhook.DeepCopy(), ConversionReviewVersions: []string{"v1"}},
			}
		}
		out = append(out, crd)
	}
	return out, nil
}

// CRDs creates missing CRDs, updates existing ones, and waits until the API server serves them. Objects are not touched. Additional parts
// of an existing CRD are kept, such as labels, a conversion webhook and its CA bundle.
func CRDs(ctx context.Context, config *rest.Config, o Options) error {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	return install(ctx, c, o)
}

func install(ctx context.Context, c client.Client, o Options) error {
	definitions, err := o.definitions()
	if err != nil {
		return err
	}
	for _, want := range definitions {
		// Repeat after a conflict: the API server may write the CRD's conditions at any time, and another replica may write the CRD.
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { return put(ctx, c, want.DeepCopy()) })
		if err != nil {
			return fmt.Errorf("%s: %w", want.Name, err)
		}
	}
	for _, want := range definitions {
		if err := established(ctx, c, want.Name); err != nil {
			return fmt.Errorf("%s: %w", want.Name, err)
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
		err = c.Get(ctx, client.ObjectKeyFromObject(want), have) // another replica created it first
	}
	if err != nil {
		return err
	}
	next := have.DeepCopy()
	conversion := have.Spec.Conversion
	next.Spec = *want.Spec.DeepCopy()
	switch {
	case next.Spec.Conversion == nil:
		next.Spec.Conversion = conversion
	case trusted(conversion) != nil && trusted(next.Spec.Conversion) == nil:
		next.Spec.Conversion.Webhook.ClientConfig.CABundle = trusted(conversion)
	}
	if equality.Semantic.DeepEqual(have.Spec, next.Spec) {
		return nil
	}
	return c.Patch(ctx, next, client.MergeFromWithOptions(have, client.MergeFromWithOptimisticLock{}))
}

// trusted returns the CA bundle of a CRD's webhook, or nil if there is none.
func trusted(c *apiextensionsv1.CustomResourceConversion) []byte {
	if c == nil || c.Webhook == nil || c.Webhook.ClientConfig == nil {
		return nil
	}
	return c.Webhook.ClientConfig.CABundle
}

// patience is how long to wait until the API server, which may be busy, serves a new kind.
const patience = 2 * time.Minute

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

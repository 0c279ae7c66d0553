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

// Options say which generations are served.
type Options struct {
	// Webhook is where the API server finds the webhook that converts v1beta1, which is served next to v1 then. Nil: v1 alone
	// is; an API server that may still hold objects stored as v1beta1 refuses that.
	Webhook *apiextensionsv1.WebhookClientConfig
	// Alpha installs the kinds of v1alpha5 too.
	Alpha bool
}

// definitions are those to install.
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
		// A version that is not served needs somebody who converts it; of two that are the objects are the same.
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

// CRDs creates the definitions that are missing, brings those that are there up to date, and waits until the API server
// serves them. Objects are not touched. What a definition has beyond drawknife's, such as labels, a conversion webhook and the
// certificates it is trusted by, stays.
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
		// The API server writes conditions of a definition, and another replica the same definition, at any time.
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
		err = c.Get(ctx, client.ObjectKeyFromObject(want), have) // another replica was first
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

// trusted are the certificates that the API server trusts a webhook by; nil for none.
func trusted(c *apiextensionsv1.CustomResourceConversion) []byte {
	if c == nil || c.Webhook == nil || c.Webhook.ClientConfig == nil {
		return nil
	}
	return c.Webhook.ClientConfig.CABundle
}

// patience is how long the API server, which may be busy, may take to serve a new kind.
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

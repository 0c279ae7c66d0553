package conversion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/crds"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// DefinitionNames returns the names of the CustomResourceDefinitions of the kinds that are converted. The caller owns the slice.
func DefinitionNames() []string {
	var out []string
	for _, c := range crds.WithV1Beta1() {
		out = append(out, c.Name())
	}
	return out
}

// Trust writes the PEM certificates to the CRDs, so that the API server trusts them when it calls the webhook. Use it if no Keeper manages
// the serving certificate. CRDs without a conversion webhook are not changed.
func Trust(ctx context.Context, c client.Client, bundle []byte, log *slog.Logger) error {
	return putBundle(ctx, c, DefinitionNames(), bundle, log)
}

// putBundle writes the CA bundle of the webhook to the CRDs. CRDs without a conversion webhook are not changed but logged: they can't serve
// v1beta1.
func putBundle(ctx context.Context, c client.Client, names []string, bundle []byte, log *slog.Logger) error {
	var errs []error
	for _, name := range names {
		have := &apiextensionsv1.CustomResourceDefinition{}
		if err := c.Get(ctx, client.ObjectKey{Name: name}, have); err != nil {
			if !apierrors.IsNotFound(err) {
				errs = append(errs, err)
			}
			continue
		}
		conversion := have.Spec.Conversion
		if conversion == nil || conversion.Strategy != apiextensionsv1.WebhookConverter || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil {
			log.Warn("cannot serve v1beta1 without a conversion webhook: install the chart of the definitions with webhook.enabled, or start with --install-crds", "definition", name)
			continue
		}
		if sameBundle(conversion.Webhook.ClientConfig.CABundle, bundle) {
			continue
		}
		next := have.DeepCopy()
		next.Spec.Conversion.Webhook.ClientConfig.CABundle = bundle
		if err := c.Patch(ctx, next, client.MergeFrom(have)); err != nil {
			errs = append(errs, fmt.Errorf("writing the certificate to the definition %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// FromPools returns a function for Converter.OwnerExpireAfter that reads the expireAfter of pools. The reader must not use a cache that
// waits for the webhook.
func FromPools(reader client.Reader) func(ctx context.Context, pool string) (v1.NillableDuration, error) {
	return func(ctx context.Context, name string) (v1.NillableDuration, error) {
		pool := &v1.NodePool{}
		if err := reader.Get(ctx, client.ObjectKey{Name: name}, pool); err != nil {
			return v1.NillableDuration{}, client.IgnoreNotFound(err)
		}
		pool.Default()
		return pool.Spec.Template.Spec.ExpireAfter, nil
	}
}

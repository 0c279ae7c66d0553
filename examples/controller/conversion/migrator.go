package conversion

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Migrator has every object stored in the version that its definition says is stored, and then says in the definition that there
// are none of another: only then can the older version be taken out of it. One that is stored already is not written again.
type Migrator struct {
	// Client reads and writes without a cache.
	Client client.Client
	// Definitions are the names of CustomResourceDefinitions; nil is DefinitionNames.
	Definitions []string
	// Logger receives what was done; nil discards it.
	Logger *slog.Logger
}

// page is how many objects are read at a time.
const page = 500

// Migrate does it once. It may be called again at any time, and goes on where it failed.
func (m *Migrator) Migrate(ctx context.Context) error {
	names := m.Definitions
	if names == nil {
		names = DefinitionNames()
	}
	for _, name := range names {
		if err := m.migrate(ctx, name); err != nil {
			return fmt.Errorf("storing all objects of %s anew: %w", name, err)
		}
	}
	return nil
}

func (m *Migrator) migrate(ctx context.Context, name string) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := m.Client.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return client.IgnoreNotFound(err)
	}
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if i < 0 || slices.Equal(crd.Status.StoredVersions, []string{crd.Spec.Versions[i].Name}) {
		return nil
	}
	stored := crd.Spec.Versions[i].Name
	kind := schema.GroupVersionKind{Group: crd.Spec.Group, Version: stored, Kind: crd.Spec.Names.ListKind}
	written := 0
	for next := ""; ; {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := m.Client.List(ctx, list, client.Limit(page), client.Continue(next)); err != nil {
			return err
		}
		for i := range list.Items {
			// A change of nothing: the API server writes the object if what it would write is not what is there.
			err := m.Client.Patch(ctx, &list.Items[i], client.RawPatch(types.MergePatchType, []byte("{}")))
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			written++
		}
		if next = list.GetContinue(); next == "" {
			break
		}
	}
	changed := crd.DeepCopy()
	changed.Status.StoredVersions = []string{stored}
	if err := m.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(crd, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	if m.Logger != nil {
		m.Logger.Info("all objects are stored in one version", "definition", name, "version", stored, "before", crd.Status.StoredVersions, "objects", written)
	}
	return nil
}

// retryMigration is how long Start waits after a failure, such as a webhook that the API server does not reach yet.
const retryMigration = time.Minute

// Start migrates, trying again until it is done or ctx ends.
func (m *Migrator) Start(ctx context.Context) error {
	for {
		err := m.Migrate(ctx)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if m.Logger != nil {
			m.Logger.Warn("objects are still stored in an older version", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryMigration):
		}
	}
}

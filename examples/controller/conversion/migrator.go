package conversion

import (
	"context"
	"errors"
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

	"github.com/drawknife/drawknife/api/option"
)

// Migrator stores every object in the storage version of its CRD, and then removes the other versions from the CRD's status.storedVersions.
// The older version can be removed from the CRD only after that. Objects that already have the storage version are not written again.
type Migrator struct {
	// Client reads and writes without a cache.
	Client client.Client
	// Definitions are the names of CustomResourceDefinitions; nil means DefinitionNames.
	Definitions []string
	// Settle is how long to wait, after a definition has changed, until all API servers store objects in the new version. Before that they
	// store objects in the old version, and nothing reports this. Nil is DefaultSettle.
	Settle *time.Duration
	// Logger receives log records of all actions; nil discards them.
	Logger *slog.Logger
}

// DefaultSettle is how long Migrate waits until every API server knows a changed CRD.
const DefaultSettle = 10 * time.Second

// page is how many objects one request lists.
const page = 500

// Migrate stores all objects once. If there is anything to migrate, it first waits for Settle. It may be called again at any time, and then
// continues where it failed.
func (m *Migrator) Migrate(ctx context.Context) error {
	names := m.Definitions
	if names == nil {
		names = DefinitionNames()
	}
	var old []*apiextensionsv1.CustomResourceDefinition
	for _, name := range names {
		crd, err := m.toMigrate(ctx, name)
		if err != nil {
			return fmt.Errorf("reading the definition %s: %w", name, err)
		}
		if crd != nil {
			old = append(old, crd)
		}
	}
	if len(old) == 0 {
		return nil
	}
	if err := m.settle(ctx); err != nil {
		return err
	}
	for _, crd := range old {
		if err := m.migrate(ctx, crd); err != nil {
			return fmt.Errorf("storing all objects of %s again: %w", crd.Name, err)
		}
	}
	return nil
}

// toMigrate returns the named CRD if objects may be stored in another version than its storage version; otherwise it returns nil.
func (m *Migrator) toMigrate(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := m.Client.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if stored := storedVersion(crd); stored == "" || slices.Equal(crd.Status.StoredVersions, []string{stored}) {
		return nil, nil
	}
	return crd, nil
}

// storedVersion returns the storage version of a CRD.
func storedVersion(crd *apiextensionsv1.CustomResourceDefinition) string {
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if i < 0 {
		return ""
	}
	return crd.Spec.Versions[i].Name
}

// settle waits for m.Settle. During this time, every API server learns the storage versions of the CRDs that were read before.
func (m *Migrator) settle(ctx context.Context) error {
	timer := time.NewTimer(max(0, option.Or(m.Settle, DefaultSettle)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// errDefinitionChanged means that a CRD has changed since settle started.
var errDefinitionChanged = errors.New("its definition was changed in the meantime")

// migrate writes all objects of a CRD. settled is the version of the CRD that all API servers know.
func (m *Migrator) migrate(ctx context.Context, settled *apiextensionsv1.CustomResourceDefinition) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := m.Client.Get(ctx, client.ObjectKeyFromObject(settled), crd); err != nil {
		return client.IgnoreNotFound(err)
	}
	if crd.UID != settled.UID || crd.Generation != settled.Generation {
		return errDefinitionChanged
	}
	stored := storedVersion(crd)
	kind := schema.GroupVersionKind{Group: crd.Spec.Group, Version: stored, Kind: crd.Spec.Names.ListKind}
	written := 0
	for next := ""; ; {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := m.Client.List(ctx, list, client.Limit(page), client.Continue(next)); err != nil {
			return err
		}
		for i := range list.Items {
			// The patch is empty: the API server stores the object only if its stored form would change.
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
		m.Logger.Info("migrated stored objects", "definition", crd.Name, "version", stored, "before", crd.Status.StoredVersions, "objects", written)
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
			m.Logger.Warn("cannot migrate stored objects, retrying", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryMigration):
		}
	}
}

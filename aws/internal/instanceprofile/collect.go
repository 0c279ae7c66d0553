package instanceprofile

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/sdk"
)

// Collect deletes unused profiles of the cluster. It calls inUse after listing the profiles. inUse returns the names in the status of all
// node classes and in the annotation karpenter.k8s.aws/instance-profile-name of all NodeClaims; the result must be complete. Profiles that
// were created or replaced less than Protection ago are not deleted. It returns the names of the deleted profiles. It stops at the first
// failure. After a failure, call it again after a pause, and otherwise after CollectEvery.
func (m *Manager) Collect(ctx context.Context, inUse func(context.Context) ([]string, error)) (deleted []string, err error) {
	found, err := m.List(ctx)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, nil
	}
	names, err := inUse(ctx)
	if err != nil {
		return nil, fmt.Errorf("collecting instance profiles: reading those in use: %w", err)
	}
	used := make(map[string]bool, len(names))
	for _, name := range names {
		used[name] = true
	}
	for _, p := range found {
		if used[p.Name] {
			continue
		}
		gone, err := m.collect(ctx, p.Name)
		if err != nil {
			return deleted, err
		}
		if gone {
			deleted = append(deleted, p.Name)
		}
	}
	return deleted, nil
}

// collect deletes a profile and returns true, unless the profile is protected because it was used recently.
func (m *Manager) collect(ctx context.Context, name string) (bool, error) {
	end, err := m.begin(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	if m.isProtected(name) {
		return false, nil
	}
	return true, m.remove(ctx, name)
}

// DeleteNodeClass deletes all profiles that were made for a class, including those that older releases made. An error joins all failures,
// and means that some profiles are left: keep the class's finalizer and call again.
func (m *Manager) DeleteNodeClass(ctx context.Context, name string, uid types.UID) error {
	if uid == "" {
		return fmt.Errorf("deleting instance profiles of node class %q: its UID is required", name)
	}
	found, err := m.list(ctx, m.classPath(uid))
	if err != nil {
		return err
	}
	errs := []error{m.delete(ctx, found), m.deleteLegacy(ctx, name)}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("instance profiles of node class %q: %w", name, err)
	}
	return nil
}

// DeleteAll deletes all profiles of the cluster in the region. It is for uninstalling, after the instances are gone. The error joins the
// errors of all deletions that failed.
func (m *Manager) DeleteAll(ctx context.Context) error {
	found, err := m.List(ctx)
	if err != nil {
		return err
	}
	return m.delete(ctx, found)
}

func (m *Manager) delete(ctx context.Context, found []Profile) error {
	end, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	var errs []error
	for _, p := range found {
		errs = append(errs, m.remove(ctx, p.Name))
	}
	return errors.Join(errs...)
}

// deleteLegacy deletes the profile that Karpenter's releases with v1beta1 made for a class, if the profile belongs to the cluster.
func (m *Manager) deleteLegacy(ctx context.Context, class string) error {
	name := m.legacyName(class)
	if name == "" {
		return nil
	}
	p, ok, err := m.read(ctx, name)
	if err != nil || !ok || p.Tags[awsv1.TagClusterPrefix+m.options.ClusterName] != "owned" {
		return err
	}
	return m.delete(ctx, []Profile{p})
}

// remove deletes a profile. If the profile does not exist, this is not an error.
func (m *Manager) remove(ctx context.Context, name string) error {
	m.forget(name)
	p, ok, err := m.read(ctx, name)
	if err != nil {
		return err
	}
	if ok {
		if err := m.empty(ctx, p); err != nil {
			return err
		}
		_, err := m.options.IAM.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: &name})
		if err != nil && !sdk.IsNotFound(err) {
			return sdk.Wrap(fmt.Sprintf("deleting instance profile %q", name), err)
		}
		m.log.Info("deleted instance profile", "profile", name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.protected, name)
	return nil
}

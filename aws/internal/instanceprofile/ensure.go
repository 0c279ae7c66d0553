package instanceprofile

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// cleanupTime limits the clean-up after a failed attempt, whose context may have ended.
const cleanupTime = 10 * time.Second

// Wanted is the profile that a node class needs.
type Wanted struct {
	// NodeClass is the name of the class, and UID its UID. Both are required.
	NodeClass string
	UID       types.UID
	// Role of the nodes, with or without its path. Required.
	Role string
	// Current is the profile that the class's status names; empty when it names none.
	Current string
	// Tags of the class. Nil: none.
	Tags map[string]string
}

// RoleNotFoundError says that the role of a node class does not exist.
type RoleNotFoundError struct {
	// Role is the role as the class names it.
	Role string
}

func (e *RoleNotFoundError) Error() string {
	return fmt.Sprintf("there is no IAM role %q: create it, or correct spec.role of the node class", e.Role)
}

// Ensure makes sure that a profile with the class's role exists, and returns its name: the current profile if it has the role, or another
// profile, which is created if necessary. The call may be repeated; a correct profile is not read again for the time Remember. A role that
// does not exist is a *RoleNotFoundError of kind Permanent; other errors have the kind of their cause (see sdk.Wrap).
func (m *Manager) Ensure(ctx context.Context, w Wanted) (name string, err error) {
	if w.NodeClass == "" || w.UID == "" || bare(w.Role) == "" {
		return "", cloudprovider.NewPermanentError(fmt.Errorf(
			"instance profile of node class %q: its name, its UID and a role are required", w.NodeClass))
	}
	name, err = m.ensure(ctx, w)
	if err != nil {
		return "", fmt.Errorf("instance profile of node class %q: %w", w.NodeClass, err)
	}
	return name, nil
}

func (m *Manager) ensure(ctx context.Context, w Wanted) (string, error) {
	role, tags := bare(w.Role), m.Tags(w.NodeClass, w.Tags)
	if w.Current != "" {
		p, ok, err := m.look(ctx, w.Current)
		if err != nil {
			return "", err
		}
		if ok && p.has(role) {
			m.retag(ctx, p, tags)
			return w.Current, nil
		}
	}
	if m.roleMissing(role) {
		return "", roleNotFound(w.Role)
	}
	name := m.Name(w.UID, role)
	// Protect the profile before creating anything, so that Collect can't delete it.
	m.protect(name, w.Current)
	end, err := m.begin(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	if err := m.make(ctx, name, w, tags); err != nil {
		return "", err
	}
	return name, nil
}

// look is like read, but caches existing profiles.
func (m *Manager) look(ctx context.Context, name string) (Profile, bool, error) {
	if p, ok := m.recall(name); ok {
		return p, true, nil
	}
	p, ok, err := m.read(ctx, name)
	if ok && err == nil {
		m.remember(p)
	}
	return p, ok, err
}

// make ensures that the profile called name exists and has the role.
func (m *Manager) make(ctx context.Context, name string, w Wanted, tags map[string]string) error {
	m.forget(name)
	p, there, err := m.read(ctx, name)
	if err != nil {
		return err
	}
	if !there {
		path := m.classPath(w.UID)
		_, err := m.options.IAM.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{
			InstanceProfileName: &name, Path: &path, Tags: tagList(tags),
		})
		switch {
		case err == nil:
			m.log.Info("created instance profile", "profile", name, "nodeClass", w.NodeClass, "role", w.Role)
		case !sdk.IsAlreadyExists(err): // another process may have created it since
			return sdk.Wrap(fmt.Sprintf("creating instance profile %q", name), err)
		}
		p = Profile{Name: name, Path: path, Tags: tags}
	}
	if err := m.give(ctx, &p, bare(w.Role)); err != nil {
		if isRoleNotFound(err, name) {
			m.rememberMissing(bare(w.Role))
			err = roleNotFound(w.Role)
		}
		if !there {
			m.undo(ctx, name)
		}
		return err
	}
	m.remember(p)
	m.retag(ctx, p, tags)
	return nil
}

// give adds role to a profile and removes all other roles.
func (m *Manager) give(ctx context.Context, p *Profile, role string) error {
	if p.has(role) {
		return nil
	}
	if err := m.empty(ctx, *p); err != nil {
		return err
	}
	p.Roles = nil
	_, err := m.options.IAM.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &p.Name, RoleName: &role})
	if err != nil {
		return sdk.Wrap(fmt.Sprintf("putting role %q into instance profile %q", role, p.Name), err)
	}
	p.Roles = []string{role}
	return nil
}

// empty removes all roles from a profile.
func (m *Manager) empty(ctx context.Context, p Profile) error {
	for _, role := range p.Roles {
		_, err := m.options.IAM.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &p.Name, RoleName: &role})
		if err != nil && !sdk.IsNotFound(err) {
			return sdk.Wrap(fmt.Sprintf("taking role %q out of instance profile %q", role, p.Name), err)
		}
	}
	return nil
}

// undo deletes a profile that make created but to which it could not add the role. A failure is only logged, because the next attempt
// continues with the profile.
func (m *Manager) undo(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	if err := m.remove(ctx, name); err != nil {
		m.log.Warn("cannot delete instance profile that was created but got no role, continuing with it at the next attempt", "profile", name, "error", err)
	}
}

// retag adds missing tags and corrects different tags. Instances work without these tags, so a failure is only logged; the next check of
// the profile tries again.
func (m *Manager) retag(ctx context.Context, p Profile, tags map[string]string) {
	right := true
	for key, value := range tags {
		have, ok := p.Tags[key]
		right = right && ok && have == value
	}
	if right {
		return
	}
	// The request must contain all tags, because the IAM policy checks them to see to whom the profile belongs.
	_, err := m.options.IAM.TagInstanceProfile(ctx, &iam.TagInstanceProfileInput{InstanceProfileName: &p.Name, Tags: tagList(tags)})
	if err != nil {
		m.log.Warn("cannot update tags of instance profile, retrying at its next check", "profile", p.Name, "error", err)
	}
	p.Tags = tags
	m.remember(p)
}

// isRoleNotFound distinguishes a missing role from a missing profile, which have the same error code.
func isRoleNotFound(err error, profile string) bool {
	message := strings.ReplaceAll(sdk.Message(err), profile, "")
	return sdk.IsNotFound(err) && strings.Contains(strings.ToLower(message), "role")
}

func roleNotFound(role string) error {
	return cloudprovider.NewPermanentError(&RoleNotFoundError{Role: role})
}

package instanceprofile

import (
	"errors"
	"strings"
	"testing"
)

// API-304: the role behind a profile, for node classes that name roles.
func TestRoleOf(t *testing.T) {
	m, a := newManager(t)
	a.profiles["old"] = &Profile{Name: "old", Roles: []string{"nodes"}}
	a.profiles["bare"] = &Profile{Name: "bare"}
	if role, err := RoleOf(t.Context(), m.options.IAM, "old"); err != nil || role != "nodes" {
		t.Errorf("%q, %v", role, err)
	}
	if _, err := RoleOf(t.Context(), m.options.IAM, "bare"); err == nil || !strings.Contains(err.Error(), `"bare" has no role`) {
		t.Error(err)
	}
	if _, err := RoleOf(t.Context(), m.options.IAM, "gone"); err == nil || !strings.Contains(err.Error(), `"gone"`) {
		t.Error(err)
	}
	down := errors.New("down")
	a.fail["Get"] = down
	if _, err := RoleOf(t.Context(), m.options.IAM, "old"); !errors.Is(err, down) {
		t.Error(err)
	}
}

package charts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

// ConfigMaps of its own namespace are the controller's only where commands wait as such, and the binding is of that role.
func TestApprovalRole(t *testing.T) {
	named := func(text, kind string) []map[string]any {
		_, objects := render(t, Controller, "x", []byte(text))
		var out []map[string]any
		for _, object := range objects {
			if object["kind"] == kind && object["metadata"].(map[string]any)["name"] == "x-drawknife-approvals" {
				out = append(out, object)
			}
		}
		return out
	}
	if n := len(named("settings: {clusterName: blue}", "Role")); n != 0 {
		t.Errorf("%d roles without the setting", n)
	}
	former := find[rbacv1.Role](t, named("settings: {clusterName: blue, disruptionApproval: none}", "Role"), "Role")
	if diff := cmp.Diff([]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "delete"}}}, former.Rules); diff != "" {
		t.Errorf("rules where approval is switched off (-want +got):\n%s", diff)
	}
	const approved = "settings: {clusterName: blue, disruptionApproval: configmap, disruptionApprovalWait: 4h}"
	role, binding := find[rbacv1.Role](t, named(approved, "Role"), "Role"), find[rbacv1.RoleBinding](t, named(approved, "RoleBinding"), "RoleBinding")
	want := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create", "get", "list", "patch", "delete"}}}
	if diff := cmp.Diff(want, role.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if binding.RoleRef.Name != role.Name || binding.Namespace != role.Namespace || len(binding.Subjects) != 1 {
		t.Errorf("bound as %+v", binding)
	}
}

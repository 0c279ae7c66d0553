package charts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// SET-047, SET-049, SET-111: with webhook.enabled the API server reaches the controller's webhook by its service, and the
// controller may write the one Secret with its certificate and state it in the three definitions; without it, or without
// serveBeta, it may do nothing of it.
func TestWebhook(t *testing.T) {
	for _, values := range []string{"", "webhook: {enabled: false}", "webhook: {enabled: true}\nsettings: {serveBeta: false}", "webhook: null"} {
		text, objects := render(t, Controller, "x", []byte(values))
		if strings.Contains(text, "-webhook") || strings.Contains(text, "customresourcedefinitions") || len(find[corev1.Service](t, objects, "Service").Spec.Ports) != 1 {
			t.Errorf("%q: there is something of a webhook", values)
		}
	}
	_, objects := render(t, Controller, "x", []byte("webhook: {enabled: true, port: 9443}"))
	ports := find[corev1.Service](t, objects, "Service").Spec.Ports
	if len(ports) != 2 || ports[1].Port != 9443 {
		t.Errorf("the service has ports %+v", ports)
	}
	container := find[appsv1.Deployment](t, objects, "Deployment").Spec.Template.Spec.Containers[0]
	if !slices.ContainsFunc(container.Ports, func(p corev1.ContainerPort) bool {
		return p.Name == ports[1].TargetPort.StrVal && p.ContainerPort == 9443
	}) {
		t.Errorf("the container has ports %+v", container.Ports)
	}
	name := find[corev1.Service](t, objects, "Service").Name
	if !slices.Contains(container.Env, corev1.EnvVar{Name: "WEBHOOK_SERVICE", Value: name}) {
		t.Errorf("the controller does not know of the service %s: %+v", name, container.Env)
	}
	if secret := find[corev1.Secret](t, objects, "Secret"); secret.Name != name+"-webhook" || len(secret.Data) > 0 {
		t.Errorf("the Secret is %s with %d entries", secret.Name, len(secret.Data))
	}
	var rules []rbacv1.PolicyRule
	for _, rule := range find[rbacv1.ClusterRole](t, objects, "ClusterRole").Rules {
		if slices.Contains(rule.APIGroups, "apiextensions.k8s.io") {
			rules = append(rules, rule)
		}
	}
	definitions := []string{"ec2nodeclasses.karpenter.k8s.aws", "nodeclaims.karpenter.sh", "nodepools.karpenter.sh"}
	if diff := cmp.Diff([]rbacv1.PolicyRule{
		{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, ResourceNames: definitions, Verbs: []string{"get", "patch"}},
		{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions/status"}, ResourceNames: definitions, Verbs: []string{"patch"}},
	}, rules); diff != "" {
		t.Errorf("rules for definitions (-want +got):\n%s", diff)
	}
	for _, object := range objects {
		if object["kind"] != "Role" || !strings.HasSuffix(object["metadata"].(map[string]any)["name"].(string), "-webhook") {
			continue
		}
		role := find[rbacv1.Role](t, []map[string]any{object}, "Role")
		if diff := cmp.Diff([]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{name + "-webhook"}, Verbs: []string{"get", "update"}}}, role.Rules); diff != "" {
			t.Errorf("rules for the Secret (-want +got):\n%s", diff)
		}
		return
	}
	t.Error("there is no Role for the Secret")
}

// SET-111, SET-055: objects of the first generation may be read and acted on unless serveAlpha says otherwise; Karpenter's lease may be looked
// for by its name, whatever that is.
func TestOtherGenerationsPermissions(t *testing.T) {
	may := func(values, resource, verb string) []string {
		_, objects := render(t, Controller, "x", []byte(values))
		for _, rule := range find[rbacv1.ClusterRole](t, objects, "ClusterRole").Rules {
			if slices.Contains(rule.Resources, resource) && slices.Contains(rule.Verbs, verb) {
				return append([]string{"yes"}, rule.ResourceNames...)
			}
		}
		return nil
	}
	for _, c := range []struct {
		values, resource, verb string
		want                   []string
	}{
		{"", "provisioners", "watch", []string{"yes"}},
		{"", "machines", "list", []string{"yes"}},
		{"", "awsnodetemplates", "get", []string{"yes"}},
		{"", "provisioners/status", "patch", []string{"yes"}},
		{"", "provisioners", "patch", []string{"yes"}},
		{"", "provisioners", "create", nil},
		{"", "machines", "create", []string{"yes"}},
		{"", "machines/status", "patch", []string{"yes"}},
		{"", "awsnodetemplates", "patch", nil},
		{"settings: {serveAlpha: false}", "machines", "create", nil},
		{"settings: {serveAlpha: false}", "provisioners", "watch", nil},
		{"settings: {serveAlpha: false}", "awsnodetemplates", "get", nil},
		{"", "leases", "list", []string{"yes", "karpenter-leader-election"}},
		{"", "resourceslices", "list", nil},
		{"settings: {ignoreDRARequests: true}", "resourceclaims", "watch", nil},
		{"settings: {ignoreDRARequests: false}", "resourceclaims", "watch", []string{"yes"}},
		{"settings: {ignoreDRARequests: 'false'}", "resourceslices", "list", []string{"yes"}},
		{"settings: {ignoreDRARequests: false}", "resourceclaims", "patch", nil},
		{"settings: {karpenterLease: other}", "leases", "list", []string{"yes", "other"}},
	} {
		if got := may(c.values, c.resource, c.verb); !slices.Equal(got, c.want) {
			t.Errorf("%q: may the controller %s %s: %v, want %v", c.values, c.verb, c.resource, got, c.want)
		}
	}
}

package charts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// Whatever a values file of Karpenter's chart says, the controller's pod keeps to the Pod Security Standard "restricted", and has
// no empty mappings, which the API server refuses where a type is required.
func TestPodSecurity(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := psa.LevelVersion{Level: psa.LevelRestricted, Version: psa.LatestVersion()}
	all := values(t)
	for name, text := range map[string]string{
		"upstream's documented key": "controller: {securityContext: {seccompProfile: {type: RuntimeDefault}}}",
		"all of upstream's keys":    "controller: {securityContext: {seccompProfile: {type: Localhost, localhostProfile: p.json}, appArmorProfile: {type: RuntimeDefault}, seLinuxOptions: {level: s0}}}",
		"a capability":              "controller: {securityContext: {capabilities: {add: [NET_BIND_SERVICE]}}}",
		"nothing":                   "controller: {securityContext: null}",
	} {
		all[name] = []byte(text)
	}
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			_, objects := render(t, Controller, "x", text)
			spec := find[appsv1.Deployment](t, objects, "Deployment").Spec.Template
			if name == "all" || name == "values-0.26" {
				// Their sidecars and host network are their users' own; the controller itself is judged.
				spec.Spec.Containers, spec.Spec.HostNetwork = spec.Spec.Containers[:1], false
			}
			for _, result := range evaluator.EvaluatePod(restricted, &spec.ObjectMeta, &spec.Spec) {
				if !result.Allowed {
					t.Errorf("%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
				}
			}
			if at := emptyMapping("spec", at(objects, "Deployment", "spec")); at != "" && !strings.HasSuffix(at, "emptyDir") {
				t.Errorf("%s is an empty mapping", at)
			}
		})
	}
}

// emptyMapping is the path of the first empty mapping; "" without one.
func emptyMapping(path string, value any) string {
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			return path
		}
		for key, below := range value {
			if found := emptyMapping(path+"."+key, below); found != "" {
				return found
			}
		}
	case []any:
		for _, item := range value {
			if found := emptyMapping(path+"[]", item); found != "" {
				return found
			}
		}
	}
	return ""
}

// What the values say of the container's security is merged into the hardened default, field by field; null takes a field away.
func TestSecurityContextIsMerged(t *testing.T) {
	user, group, yes, no := int64(65532), int64(65532), true, false
	hardened := corev1.SecurityContext{
		Privileged: &no, AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, RunAsNonRoot: &yes, RunAsUser: &user, RunAsGroup: &group,
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	seven, profile := int64(7), "p.json"
	for _, c := range []struct {
		values string
		change func(*corev1.SecurityContext)
	}{
		{"{}", func(*corev1.SecurityContext) {}},
		{"{appArmorProfile: {}, seLinuxOptions: {}, seccompProfile: {}}", func(*corev1.SecurityContext) {}},
		{"{runAsUser: 7}", func(c *corev1.SecurityContext) { c.RunAsUser = &seven }},
		{"{runAsUser: null, runAsGroup: null}", func(c *corev1.SecurityContext) { c.RunAsUser, c.RunAsGroup = nil, nil }},
		{"{readOnlyRootFilesystem: false}", func(c *corev1.SecurityContext) { c.ReadOnlyRootFilesystem = &no }},
		{"{capabilities: {add: [NET_BIND_SERVICE]}}", func(c *corev1.SecurityContext) {
			c.Capabilities = &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"NET_BIND_SERVICE"}}
		}},
		{"{seccompProfile: {type: Localhost, localhostProfile: p.json}}", func(c *corev1.SecurityContext) {
			c.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: &profile}
		}},
		{"{appArmorProfile: {type: RuntimeDefault}}", func(c *corev1.SecurityContext) {
			c.AppArmorProfile = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
		}},
	} {
		want := *hardened.DeepCopy()
		c.change(&want)
		_, objects := render(t, Controller, "x", []byte("controller: {securityContext: "+c.values+"}"))
		got := find[appsv1.Deployment](t, objects, "Deployment").Spec.Template.Spec.Containers[0].SecurityContext
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.values, diff)
		}
	}
}

// Without a cluster's name nothing is rendered, whatever layout it could stand in; templates in settings are filled in, as
// Karpenter's chart does.
func TestClusterNameIsRequired(t *testing.T) {
	for _, values := range []string{"", "settings: {clusterName: ''}", "settings: {aws: {clusterName: ''}}", "controller: {env: [{name: AWS_REGION, value: eu-west-1}]}"} {
		if _, err := Render(Controller, "x", []byte(values)); err == nil || !strings.Contains(err.Error(), "settings.clusterName is required") {
			t.Errorf("%q: %v", values, err)
		}
	}
	for _, values := range []string{
		"settings: {clusterName: blue}", "clusterName: blue", "settings: {aws: {clusterName: blue}}", "settings: {legacyConfigMap: karpenter-global-settings}",
		"controller: {env: [{name: CLUSTER_NAME, value: blue}]}", "controller: {envFrom: [{configMapRef: {name: cluster}}]}", "settings: {provider: fake, allowSimulatedNodes: true}",
	} {
		if _, err := Render(Controller, "x", []byte(values)); err != nil {
			t.Errorf("%q: %v", values, err)
		}
	}
	_, objects := render(t, Controller, "x", []byte("global: {cluster: blue}\nsettings: {clusterName: '{{ .Values.global.cluster }}'}"))
	text, _ := at(objects, "ConfigMap", "data", "values.yaml").(string)
	var rendered struct {
		Settings struct{ ClusterName string }
	}
	if err := yaml.Unmarshal([]byte(text), &rendered); err != nil || rendered.Settings.ClusterName != "blue" {
		t.Errorf("the cluster is called %q: %v", rendered.Settings.ClusterName, err)
	}
}

// Administrators of a cluster get the API's kinds by Kubernetes' own role.
func TestAdminRole(t *testing.T) {
	_, objects := render(t, Controller, "x", nil)
	for _, object := range objects {
		if object["kind"] != "ClusterRole" || object["metadata"].(map[string]any)["name"] != "x-drawknife-admin" {
			continue
		}
		role := find[rbacv1.ClusterRole](t, []map[string]any{object}, "ClusterRole")
		if role.Labels["rbac.authorization.k8s.io/aggregate-to-admin"] != "true" {
			t.Errorf("labels %v", role.Labels)
		}
		var resources []string
		for _, rule := range role.Rules {
			resources = append(resources, rule.Resources...)
		}
		want := []string{"nodepools", "nodepools/status", "nodeclaims", "nodeclaims/status", "nodeoverlays", "nodeoverlays/status", "ec2nodeclasses"}
		if diff := cmp.Diff(want, resources); diff != "" {
			t.Errorf("resources (-want +got):\n%s", diff)
		}
		return
	}
	t.Error("there is no ClusterRole for administrators")
}

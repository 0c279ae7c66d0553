package charts

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/crds"
	"github.com/drawknife/drawknife/examples/settings"
)

var update = flag.Bool("update", false, "write the golden files again")

// values are the values files of testdata, and that of 0.26 with everything in it, which is the settings' own.
func values(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../../../examples/settings/testdata/values-0.26.yaml")
	out := make(map[string][]byte)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".yaml")] = text
	}
	return out
}

// render renders a chart. The cluster of the controller's chart is called "blue" where the values don't say.
func render(t *testing.T, chart, release string, values []byte) (string, []map[string]any) {
	t.Helper()
	if chart == Controller {
		values = named(t, values)
	}
	text, err := Render(chart, release, values)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Objects(text)
	if err != nil {
		t.Fatal(err)
	}
	return text, objects
}

func named(t *testing.T, values []byte) []byte {
	t.Helper()
	var all map[string]any
	if err := yaml.Unmarshal(values, &all); err != nil {
		t.Fatal(err)
	}
	own, _ := all["settings"].(map[string]any)
	old, _ := own["aws"].(map[string]any)
	if all["clusterName"] != nil || own["clusterName"] != nil || old["clusterName"] != nil || own["provider"] == "fake" {
		return values
	}
	if own == nil {
		own = make(map[string]any)
	}
	own["clusterName"] = "blue"
	if all == nil {
		all = make(map[string]any)
	}
	all["settings"] = own
	text, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// find decodes the object of a kind into a type, strictly: what the API server would not know is an error.
func find[T any](t *testing.T, objects []map[string]any, kind string) T {
	t.Helper()
	var out T
	for _, object := range objects {
		if object["kind"] != kind {
			continue
		}
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(text, &out); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		return out
	}
	t.Fatalf("there is no %s", kind)
	return out
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name+".yaml")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), refresh with -update:\n%s", file, diff)
	}
}

// What the chart renders with its defaults, with every value and with values of every generation: SET-068 to SET-093, S3-006
// to S3-039, SET-097 to SET-101; and that the settings in it are those of the values.
func TestController(t *testing.T) {
	for name, text := range values(t) {
		t.Run(name, func(t *testing.T) {
			manifests, objects := render(t, Controller, "drawknife", text)
			golden(t, name, manifests)
			find[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget")
			find[rbacv1.ClusterRole](t, objects, "ClusterRole")
			deployment := find[appsv1.Deployment](t, objects, "Deployment")
			for key, value := range deployment.Spec.Selector.MatchLabels {
				if deployment.Spec.Template.Labels[key] != value {
					t.Errorf("the deployment does not select its pods by %s", key)
				}
			}

			config := find[struct {
				APIVersion string            `json:"apiVersion"`
				Kind       string            `json:"kind"`
				Metadata   map[string]any    `json:"metadata"`
				Data       map[string]string `json:"data"`
			}](t, objects, "ConfigMap")
			if strings.Contains(config.Metadata["name"].(string), "extra") {
				t.Fatal("the settings come after extra objects")
			}
			in, err := settings.Combine(settings.ParseFile([]byte(config.Data["values.yaml"])))
			if err != nil {
				t.Fatalf("the controller would not start: %v", err)
			}
			want, err := settings.Combine(settings.ParseFile(text))
			if err != nil {
				t.Fatal(err)
			}
			// AWS_REGION stays in the container's environment.
			in.Settings.AWS.Region = want.Settings.AWS.Region
			if diff := cmp.Diff(want.Settings, in.Settings); diff != "" {
				t.Errorf("settings in the ConfigMap (-values +rendered):\n%s", diff)
			}
			for _, warning := range in.Warnings {
				if warning.Code == settings.CodeUnknown {
					t.Error(warning)
				}
			}
		})
	}
}

// SET-084, SET-095: the controller keeps off nodes of pools, of all generations, which makes its pods ones that planning leaves alone.
func TestControllerKeepsOffItsOwnNodes(t *testing.T) {
	_, objects := render(t, Controller, "x", values(t)["default"])
	terms := find[appsv1.Deployment](t, objects, "Deployment").Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	var absent []string
	for _, e := range terms[0].MatchExpressions {
		if e.Operator == "DoesNotExist" {
			absent = append(absent, e.Key)
		}
	}
	if diff := cmp.Diff([]string{"karpenter.sh/nodepool", "karpenter.sh/provisioner-name"}, absent); diff != "" || len(terms) != 1 {
		t.Errorf("keys that must be absent (-want +got):\n%s", diff)
	}
}

// The controller may do what its reconcilers do, and no more: nothing with all verbs or resources, no secrets, nothing that
// makes nodes unless they are simulated.
func TestPermissions(t *testing.T) {
	for name, text := range values(t) {
		_, objects := render(t, Controller, "x", text)
		for _, rule := range find[rbacv1.ClusterRole](t, objects, "ClusterRole").Rules {
			for _, list := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs} {
				for _, item := range list {
					if item == "*" || item == "secrets" || item == "deletecollection" || item == "escalate" || item == "bind" || item == "impersonate" {
						t.Errorf("%s: %v", name, rule)
					}
				}
			}
			creates := strings.Contains(strings.Join(rule.Verbs, " "), "create") && strings.Contains(" "+strings.Join(rule.Resources, " ")+" ", " nodes ")
			if creates && name != "fake" {
				t.Errorf("%s may make nodes", name)
			}
		}
	}
}

// Values that are slips are refused before anything is installed, with the path.
func TestRefusedValues(t *testing.T) {
	for _, c := range []struct{ values, says string }{
		{"settings: {clusterNam: blue}", "clusterNam"},
		{"setings: {}", "setings"},
		{"replicas: two", "replicas"},
		{"controller: {metrics: {port: 0}}", "port"},
		{"settings: {featureGates: {drfit: true}}", "drfit"},
		{"settings: {preferencePolicy: ignore}", "preferencePolicy"},
		{"logLevel: trace", "logLevel"},
		{"imagePullPolicy: Sometimes", "imagePullPolicy"},
		{"initContainers: {name: first}", "initContainers"},
	} {
		if _, err := Render(Controller, "x", []byte(c.values)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, not about %s", c.values, err, c.says)
		}
	}
	if _, err := Render(CRDs, "x", []byte("capacityBufer: {install: false}")); err == nil {
		t.Error("the chart of the definitions takes a slip")
	}
}

// SET-094, S3-003, S3-053: a chart of its own with the definitions of api/crds, which bear its version; those of others can be left out.
func TestCRDs(t *testing.T) {
	_, objects := render(t, CRDs, "crds", nil)
	var kinds []string
	for _, object := range objects {
		metadata := object["metadata"].(map[string]any)
		kinds = append(kinds, metadata["name"].(string))
		labels, annotations := metadata["labels"].(map[string]any), metadata["annotations"].(map[string]any)
		if labels["app.kubernetes.io/version"] == nil || annotations["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s has labels %v and annotations %v", metadata["name"], labels, annotations)
		}
	}
	var want []string
	for _, c := range crds.All() {
		want = append(want, c.Name())
		text, err := os.ReadFile(filepath.Join(CRDs, "files", c.Group+"_"+c.Plural+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, c.YAML()) {
			t.Errorf("%s is another in the chart: go generate ./api/crds", c.Name())
		}
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("definitions (-want +got):\n%s", diff)
	}
	_, objects = render(t, CRDs, "crds", []byte("capacityBuffer: {install: false}\nprovisioningRequest: {install: false}\nec2NodeClass: {install: false}\nadditionalLabels: {a: b}\n"))
	if len(objects) != 3 || objects[0]["metadata"].(map[string]any)["labels"].(map[string]any)["a"] != "b" {
		t.Errorf("%d definitions are left", len(objects))
	}
}

// SET-111, API-002, API-003: with the webhook on, v1beta1 is served next to v1, through the controller's service; without it there
// is no v1beta1. The kinds of the first generation are installed when asked for.
func TestCRDsOfOlderGenerations(t *testing.T) {
	for _, c := range append(crds.WithV1Beta1(), crds.Alpha()...) {
		folder := "alpha"
		if len(c.Versions) == 2 {
			folder = "v1beta1"
		}
		text, err := os.ReadFile(filepath.Join(CRDs, "files", folder, c.Group+"_"+c.Plural+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, c.YAML()) {
			t.Errorf("%s is another in the chart: go generate ./api/crds", c.Name())
		}
	}
	shape := func(values string) map[string]string {
		_, objects := render(t, CRDs, "crds", []byte(values))
		out := make(map[string]string)
		for _, object := range objects {
			spec := object["spec"].(map[string]any)
			shown := ""
			for _, v := range spec["versions"].([]any) {
				version := v.(map[string]any)
				if version["served"] == true {
					shown += version["name"].(string) + " "
				}
			}
			if conversion, ok := spec["conversion"].(map[string]any); ok {
				service := conversion["webhook"].(map[string]any)["clientConfig"].(map[string]any)
				text, err := yaml.Marshal(service)
				if err != nil {
					t.Fatal(err)
				}
				shown += strings.Join(strings.Fields(string(text)), " ")
			}
			out[spec["names"].(map[string]any)["kind"].(string)] = strings.TrimSpace(shown)
		}
		return out
	}
	const through = "v1beta1 v1 service: name: drawknife namespace: autoscaling path: /convert port: 8443"
	if diff := cmp.Diff(map[string]string{
		"NodePool": through, "NodeClaim": through, "EC2NodeClass": through, "NodeOverlay": "v1alpha1", "CapacityBuffer": "v1beta1", "ProvisioningRequest": "v1beta1 v1",
	}, shape("webhook: {enabled: true}")); diff != "" {
		t.Errorf("with the webhook (-want +got):\n%s", diff)
	}
	const another = "v1beta1 v1 caBundle: Y2E= service: name: other namespace: kube-system path: /convert port: 443"
	if diff := cmp.Diff(map[string]string{
		"NodePool": another, "NodeClaim": another, "NodeOverlay": "v1alpha1", "CapacityBuffer": "v1beta1", "ProvisioningRequest": "v1beta1 v1", "Provisioner": "v1alpha5", "Machine": "v1alpha5",
	}, shape("webhook: {enabled: true, serviceName: other, serviceNamespace: kube-system, port: 443, caBundle: Y2E=}\nalpha: {install: true}\nec2NodeClass: {install: false}")); diff != "" {
		t.Errorf("with everything (-want +got):\n%s", diff)
	}
}

package userdata

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

func renderTOML(t *testing.T, c Config) (settings map[string]any, warnings []string) {
	t.Helper()
	rendered, err := Render(c)
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Settings map[string]any }
	if err := toml.Unmarshal([]byte(rendered.Text), &document); err != nil {
		t.Fatalf("not TOML: %v\n%s", err, rendered.Text)
	}
	return document.Settings, rendered.Warnings
}

// AWN-210, AWN-212 to AWN-214, AWN-216, AWN-217: which of the user's settings stay, which are replaced, which are joined.
func TestBottlerocketMerge(t *testing.T) {
	const text = `
top = 1
[other.table]
x = "y"
[settings.kubernetes]
api-server = "https://mine"
cluster-certificate = "mine"
max-pods = 3
image-gc-high-threshold-percent = "1"
server-tls-bootstrap = true
some-future-setting = [1, 2.5, 1979-05-27T07:32:00Z]
[settings.kubernetes.kube-reserved]
cpu = "9"
[settings.kubernetes.node-labels]
team = "mine"
"node.kubernetes.io/mine" = "kept"
[settings.bootstrap-commands.000-mount-instance-storage]
commands = [["mine"]]
mode = "off"
essential = false
[settings.bootstrap-commands.z]
commands = [["echo", "hi"]]
mode = "always"
essential = true
[[settings.boot.list]]
a = 1
`
	settings, warnings := renderTOML(t, with(demo(awsv1.AMIFamilyBottlerocket), user(text), raid0, kubeletOfB, version("v1.50.1"), func(c *Config) {
		c.Kubelet.PodsPerCore = nil
		c.Taints = append(c.Taints, corev1.Taint{Key: "dedicated", Effect: corev1.TaintEffectNoExecute})
	}))
	kubernetes := settings["kubernetes"].(map[string]any)
	for key, want := range map[string]any{
		"api-server":                      "https://api.demo.example",
		"cluster-certificate":             "QUJDRA==",
		"cluster-name":                    "demo",
		"max-pods":                        int64(29),
		"image-gc-high-threshold-percent": "80",
		"image-gc-low-threshold-percent":  "60",
		"server-tls-bootstrap":            true,
		"kube-reserved":                   map[string]any{"memory": "512Mi"},
		"system-reserved":                 map[string]any{"cpu": "100m"},
		"eviction-soft-grace-period":      map[string]any{"memory.available": "1m30s"},
		"eviction-max-pod-grace-period":   int64(60),
		"cpu-cfs-quota-enforced":          false,
		"node-taints": map[string]any{ // AWN-215
			"dedicated":                 []any{"batch:NoSchedule", ":NoExecute"},
			"karpenter.sh/unregistered": []any{":NoExecute"},
		},
	} {
		if diff := cmp.Diff(want, kubernetes[key]); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	if list, ok := kubernetes["some-future-setting"].([]any); !ok || len(list) != 3 {
		t.Errorf("AWN-212: an unknown setting became %v", kubernetes["some-future-setting"])
	}
	labels := kubernetes["node-labels"].(map[string]any)
	if labels["team"] != "infra" || labels["node.kubernetes.io/mine"] != "kept" || labels["node.kubernetes.io/instance-type"] != nil {
		t.Errorf("labels are %v", labels)
	}
	want := map[string]any{
		"000-mount-instance-storage": map[string]any{
			"commands":  []any{[]any{"apiclient", "ephemeral-storage", "init"}, []any{"apiclient", "ephemeral-storage", "bind"}},
			"mode":      "always",
			"essential": true,
		},
		"z": map[string]any{"commands": []any{[]any{"echo", "hi"}}, "mode": "always", "essential": true},
	}
	if diff := cmp.Diff(want, settings["bootstrap-commands"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"list": []any{map[string]any{"a": int64(1)}}}, settings["boot"]); diff != "" {
		t.Error(diff)
	}
	// AWN-211: only settings is read, and what is left out is told. AWN-212: so is what Karpenter left out.
	if len(warnings) != 3 || !strings.Contains(warnings[0], `"other"`) || !strings.Contains(warnings[1], `"top"`) ||
		!strings.Contains(warnings[2], `"some-future-setting" of settings.kubernetes is passed on`) {
		t.Errorf("warnings are %q", warnings)
	}
}

// AWN-213, AWN-343: an address in the kubelet block wins, then the user's own, then the discovered one.
func TestBottlerocketDNS(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		block      []string
		discovered string
		want       any
	}{
		{"discovered", "", nil, "172.20.0.10", "172.20.0.10"},
		{"the user's", "[settings.kubernetes]\ncluster-dns-ip = '10.0.0.1'", nil, "172.20.0.10", "10.0.0.1"},
		{"the kubelet block's", "[settings.kubernetes]\ncluster-dns-ip = '10.0.0.1'", []string{"10.0.0.2"}, "172.20.0.10", "10.0.0.2"},
		{"none", "", nil, "", nil},
	} {
		settings, _ := renderTOML(t, with(demo(awsv1.AMIFamilyBottlerocket), user(tc.text), func(c *Config) {
			c.DiscoveredDNS, c.Kubelet.ClusterDNS = tc.discovered, tc.block
		}))
		if got := settings["kubernetes"].(map[string]any)["cluster-dns-ip"]; got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// AWN-216, AWN-218, AWN-172: the directories are named for versions below 1.46 and for those nobody knows.
func TestBottlerocketVersions(t *testing.T) {
	for text, want := range map[string]struct{ dirs, warned bool }{
		"latest": {}, "1.46.0": {}, "v1.46.0": {}, "v2.0.0": {}, "1.100.0-rc1": {},
		"1.45.9": {dirs: true}, "v1.22.0": {dirs: true}, "": {dirs: true}, "1.46": {dirs: true}, "new": {dirs: true}, "1.x.0": {dirs: true},
		"99999999999999999999.1.1": {dirs: true},
		"1.21.9":                   {dirs: true, warned: true}, "0.99.0": {dirs: true, warned: true},
	} {
		rendered, err := Render(with(demo(awsv1.AMIFamilyBottlerocket), raid0, version(text)))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(rendered.Text, "--dirs"); got != want.dirs {
			t.Errorf("%q: directories named: %v, want %v", text, got, want.dirs)
		}
		if got := len(rendered.Warnings) > 0; got != want.warned {
			t.Errorf("%q: warnings %q", text, rendered.Warnings)
		}
	}
}

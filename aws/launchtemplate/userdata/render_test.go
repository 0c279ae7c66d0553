package userdata

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// AWN-181, AWN-182: the limit is on what is decoded; it is refused here, and a tenth before it there is a warning.
func TestSize(t *testing.T) {
	family := awsv1.AMIFamilyCustom
	for _, tc := range []struct {
		bytes           int
		warned, refused bool
	}{{NoticeAt - 1, false, false}, {NoticeAt, true, false}, {Limit, true, false}, {Limit + 1, false, true}, {maxInput + 1, false, true}} {
		text := strings.Repeat("é"[:1]+"x", tc.bytes)[:tc.bytes]
		rendered, err := Render(with(demo(family), user(text)))
		var tooLarge *TooLargeError
		if refused := errors.As(err, &tooLarge); refused != tc.refused || len(rendered.Warnings) > 0 != tc.warned {
			t.Errorf("%d bytes: %v, %q", tc.bytes, err, rendered.Warnings)
			continue
		}
		if tc.refused {
			if tooLarge.Bytes != tc.bytes {
				t.Errorf("says %d bytes, not %d", tooLarge.Bytes, tc.bytes)
			}
			continue
		}
		decoded, err := base64.StdEncoding.DecodeString(rendered.Base64())
		if err != nil || string(decoded) != text {
			t.Errorf("%d bytes did not survive the encoding: %v", tc.bytes, err)
		}
	}
	// What is generated counts as well.
	var tooLarge *TooLargeError
	if _, err := Render(with(demo(awsv1.AMIFamilyAL2), user(strings.Repeat("x", Limit-100)))); !errors.As(err, &tooLarge) {
		t.Errorf("error is %v", err)
	}
}

// AWN-176, AWN-200: what must be known, and what would break out of where it is put.
func TestConfigurationIsChecked(t *testing.T) {
	label := func(key, value string) func(*Config) {
		return func(c *Config) { c.Labels = map[string]string{key: value} }
	}
	taint := func(key, value, effect string) func(*Config) {
		return func(c *Config) {
			c.Taints = []corev1.Taint{{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}}
		}
	}
	for _, tc := range []struct {
		name   string
		change func(*Config)
		field  string
	}{
		{"no name", func(c *Config) { c.ClusterName = "" }, "clusterName"},
		{"a name of two lines", func(c *Config) { c.ClusterName = "a\nb" }, "clusterName"},
		{"no endpoint", func(c *Config) { c.Endpoint = "" }, "endpoint"},
		{"an endpoint that is no URL", func(c *Config) { c.Endpoint = "api.demo.example" }, "endpoint"},
		{"CA that is not base64", func(c *Config) { c.CABundle = "-----BEGIN CERTIFICATE-----" }, "caBundle"},
		{"CA on two lines", func(c *Config) { c.CABundle = "QUJD\nRA==" }, "caBundle"},
		{"range that is none", func(c *Config) { c.ServiceCIDR = "172.20.0.0" }, "serviceCIDR"},
		{"no range", func(c *Config) { c.ServiceCIDR = "" }, "serviceCIDR"},
		{"DNS that is no address", func(c *Config) { c.DiscoveredDNS = "kube-dns" }, "discoveredDNS"},
		{"DNS of the block", func(c *Config) { c.Kubelet.ClusterDNS = []string{"$(id)"} }, "kubelet.clusterDNS"},
		{"a label key", label(`a" --x="`, "b"), "labels"},
		{"a label value", label("a", "$(id)"), "labels[a]"},
		{"a taint key", taint("a b", "", "NoSchedule"), "taints"},
		{"a taint value", taint("a", "'", "NoSchedule"), "taints[a]"},
		{"a taint effect", taint("a", "b", "Never"), "taints[a]"},
		{"an expression", func(c *Config) { c.Kubelet.MaxPods = ptr(intstr.FromString("vcpus * 10")) }, "kubelet.maxPods"},
		{"a reserved expression", func(c *Config) { c.Kubelet.KubeReserved = map[string]string{"cpu": "vcpus * 10"} }, "kubelet.kubeReserved[cpu]"},
		{"a threshold", func(c *Config) { c.Kubelet.EvictionHard = map[string]string{"memory.available": `5%" `} }, "kubelet.evictionHard[memory.available]"},
	} {
		_, err := Render(with(demo(awsv1.AMIFamilyAL2023), serviceCIDR, tc.change))
		var bad *ConfigError
		if !errors.As(err, &bad) || bad.Field != tc.field {
			t.Errorf("%s: error is %v, want one of %s", tc.name, err, tc.field)
		}
	}
	var bad *ConfigError
	_, err := Render(with(demo(awsv1.AMIFamilyAL2), func(c *Config) {
		c.Kubelet.EvictionSoftGracePeriod = map[string]string{"memory.available": "90"}
	}))
	if !errors.As(err, &bad) || bad.Field != "kubelet.evictionSoftGracePeriod[memory.available]" {
		t.Errorf("error is %v", err)
	}
	if _, err := Render(Config{Family: awsv1.AMIFamilyCustom}); err != nil {
		t.Errorf("AWN-228: Custom needs nothing, got %v", err)
	}
	// AWN-054: Custom is told nothing of the kubelet block.
	if rendered, err := Render(with(demo(awsv1.AMIFamilyCustom), user("mine"), kubeletOfB, raid0)); err != nil || rendered.Text != "mine" {
		t.Errorf("Custom is %q, %v", rendered.Text, err)
	}
	if rendered, err := Render(with(demo(""), serviceCIDR)); err != nil || !strings.Contains(rendered.Text, "NodeConfig") {
		t.Errorf("no family is not AL2023: %v", err)
	}
	if rendered, err := Render(demo("Plan9")); err != nil || !strings.Contains(rendered.Text, "bootstrap.sh") {
		t.Errorf("AWN-173: an unknown family is not AL2: %v", err)
	}
}

// AWN-188, AWN-224: values can't leave their quotes.
func TestQuoting(t *testing.T) {
	name := func(c *Config) { c.ClusterName = "it's ‘mine’" }
	for family, want := range map[awsv1.AMIFamily]string{
		awsv1.AMIFamilyAL2:          `/etc/eks/bootstrap.sh 'it'\''s ‘mine’' --apiserver-endpoint`,
		awsv1.AMIFamilyWindows2022:  `-EKSClusterName 'it''s ‘‘mine’’' -APIServerEndpoint`,
		awsv1.AMIFamilyBottlerocket: `cluster-name = "it's ‘mine’"`,
		awsv1.AMIFamilyAL2023:       `    name: it's ‘mine’`,
	} {
		rendered, err := Render(with(demo(family), serviceCIDR, name))
		if err != nil || !strings.Contains(rendered.Text, want) {
			t.Errorf("%s lacks %q (%v):\n%s", family, want, err, rendered.Text)
		}
	}
}

// AWN-179, AWN-362: labels that a kubelet may not set on itself are left out, with every sub-domain of theirs.
func TestRestrictedLabels(t *testing.T) {
	got := nodeLabels(map[string]string{
		"kubernetes.io/x": "", "foo.k8s.io/x": "", "k8s.io/x": "", "node-restriction.kubernetes.io/x": "", "a.node-restriction.kubernetes.io/x": "",
		"topology.kubernetes.io/zone": "", "kubernetes.io": "kept", "notkubernetes.io/x": "kept", "karpenter.k8s.aws/x": "kept", "x": "kept", "example.com/kubernetes.io": "kept",
	})
	if len(got) != 5 {
		t.Errorf("kept %v", got)
	}
	for key, value := range got {
		if value != "kept" {
			t.Errorf("%s is kept", key)
		}
	}
}

// AWN-060, AWN-061: every flag with several keys, sorted.
func TestFlagsAreSorted(t *testing.T) {
	c := demo(awsv1.AMIFamilyAL2)
	c.Kubelet = awsv1.KubeletConfiguration{
		KubeReserved:            map[string]string{"memory": "1Gi", "cpu": "100m", "pid": "1000"},
		EvictionSoft:            map[string]string{"nodefs.available": "10%", "memory.available": "5%"},
		EvictionSoftGracePeriod: map[string]string{"nodefs.available": "1h", "memory.available": "90s"},
	}
	flags, err := kubeletFlags(&c)
	if err != nil {
		t.Fatal(err)
	}
	const want = ` --kube-reserved="cpu=100m,memory=1Gi,pid=1000" --eviction-soft="memory.available<5%,nodefs.available<10%"` +
		` --eviction-soft-grace-period="memory.available=1m30s,nodefs.available=1h0m0s"`
	if !strings.HasSuffix(flags, want) {
		t.Errorf("flags are %s", flags)
	}
}

// AWN-053, AWN-225: what a family can't hand on is told.
func TestWhatIsLeftOutIsTold(t *testing.T) {
	for _, tc := range []struct {
		family awsv1.AMIFamily
		want   []string
	}{
		{awsv1.AMIFamilyAL2, []string{"kubelet.containerLogMaxSize", "kubelet.clusterDNS"}},
		{awsv1.AMIFamilyBottlerocket, []string{"kubelet.containerLogMaxSize", "kubelet.clusterDNS", "kubelet.podsPerCore"}},
		{awsv1.AMIFamilyWindows2022, []string{"kubelet.containerLogMaxSize", "kubelet.clusterDNS", "instanceStorePolicy"}},
		{awsv1.AMIFamilyAL2023, nil},
	} {
		rendered, err := Render(with(demo(tc.family), serviceCIDR, kubeletOfB, raid0, version("latest"), func(c *Config) {
			c.Kubelet.Other = map[string]awsv1.RawJSON{"containerLogMaxSize": awsv1.RawJSON(`"50Mi"`)}
			c.Kubelet.ClusterDNS = []string{"10.0.0.10", "10.0.0.11"}
		}))
		if err != nil {
			t.Fatal(err)
		}
		if len(rendered.Warnings) != len(tc.want) {
			t.Errorf("%s: warnings are %q", tc.family, rendered.Warnings)
			continue
		}
		for i, want := range tc.want {
			if !strings.HasPrefix(rendered.Warnings[i], want) {
				t.Errorf("%s: %q is not about %s", tc.family, rendered.Warnings[i], want)
			}
		}
	}
}

// User data may be secret: neither fmt nor slog shows it.
func TestUserDataIsNotLogged(t *testing.T) {
	rendered, err := Render(with(demo(awsv1.AMIFamilyCustom), user("secret")))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("rendered", "userData", rendered)
	for _, text := range []string{fmt.Sprint(rendered), fmt.Sprintf("%+v %#v", rendered, rendered), log.String()} {
		if strings.Contains(text, "secret") || !strings.Contains(text, "6") {
			t.Errorf("shows %s", text)
		}
	}
}

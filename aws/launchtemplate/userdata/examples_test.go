package userdata

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

var update = flag.Bool("update", false, "write the golden files again")

func ptr[T any](v T) *T { return &v }

// demo are the inputs of the specification's example A (AWN-191), for any family.
func demo(family awsv1.AMIFamily) Config {
	return Config{
		Family:        family,
		ClusterName:   "demo",
		Endpoint:      "https://api.demo.example",
		CABundle:      "QUJDRA==",
		DiscoveredDNS: "172.20.0.10",
		Kubelet:       awsv1.KubeletConfiguration{MaxPods: ptr(intstr.FromInt32(29))},
		Labels: map[string]string{
			"karpenter.k8s.aws/ec2nodeclass":   "std",
			"karpenter.sh/nodepool":            "blue",
			"team":                             "infra",
			"karpenter.sh/capacity-type":       "spot",
			"karpenter.sh/do-not-sync-taints":  "true",
			"node.kubernetes.io/instance-type": "m5.large",
		},
		Taints: []corev1.Taint{
			{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule},
			{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute},
		},
	}
}

// demoKubelet is the kubelet block of example B (AWN-192).
func demoKubelet() awsv1.KubeletConfiguration {
	return awsv1.KubeletConfiguration{
		MaxPods:                     ptr(intstr.FromInt32(29)),
		PodsPerCore:                 ptr(int32(8)),
		SystemReserved:              map[string]string{"cpu": "100m"},
		KubeReserved:                map[string]string{"memory": "512Mi"},
		EvictionHard:                map[string]string{"memory.available": "5%"},
		EvictionSoft:                map[string]string{"memory.available": "300Mi"},
		EvictionSoftGracePeriod:     map[string]string{"memory.available": "90s"},
		EvictionMaxPodGracePeriod:   ptr(int32(60)),
		ImageGCHighThresholdPercent: ptr(int32(80)),
		ImageGCLowThresholdPercent:  ptr(int32(60)),
		CPUCFSQuota:                 ptr(false),
	}
}

func with(c Config, changes ...func(*Config)) Config {
	for _, change := range changes {
		change(&c)
	}
	return c
}

func kubeletOfB(c *Config)  { c.Kubelet = demoKubelet() }
func raid0(c *Config)       { c.InstanceStorePolicy = awsv1.InstanceStorePolicyRAID0 }
func serviceCIDR(c *Config) { c.ServiceCIDR = "172.20.0.0/16" }
func ipv6(c *Config) {
	c.IPv6, c.DiscoveredDNS, c.ServiceCIDR = true, "fd00:10::a", "fd00:10::/108"
}
func user(text string) func(*Config)    { return func(c *Config) { c.UserData = text } }
func version(text string) func(*Config) { return func(c *Config) { c.OSVersion = text } }

const userScript = "#!/bin/bash\necho hello\n"

// userTOML is the user data of example H (AWN-220).
const userTOML = `[settings.kubernetes]
cluster-name = "mine"
kube-api-qps = 30
not-a-setting = "x"
[settings.kubernetes.node-labels]
team = "other"
extra = "kept"
[settings.kubernetes.node-taints]
gone = ["x:NoSchedule"]
[settings.kubernetes.eviction-hard]
"memory.available" = "12%"
[settings.ntp]
time-servers = ["169.254.169.123"]
[settings.bootstrap-commands.010-user]
commands = [["apiclient", "set", "motd=hi"]]
mode = "once"
essential = false
`

// examples are the specification's worked examples A to L, and more of the same kind. What was decided otherwise than
// the reference shows in them: the words of the log line, the setting of H that is kept, the range K hands on.
func examples() map[string]Config {
	const al2, al2023 = awsv1.AMIFamilyAL2, awsv1.AMIFamilyAL2023
	const toml, w2022 = awsv1.AMIFamilyBottlerocket, awsv1.AMIFamilyWindows2022
	return map[string]Config{
		"A-al2":            demo(al2),                                            // AWN-191
		"B-al2-everything": with(demo(al2), user(userScript), raid0, kubeletOfB), // AWN-192
		"C-al2-ipv6":       with(demo(al2), ipv6),                                // AWN-193
		"D-al2023":         with(demo(al2023), serviceCIDR),                      // AWN-204
		"E-al2023-everything": with(demo(al2023), serviceCIDR, user(userScript), raid0, kubeletOfB, func(c *Config) { // AWN-205
			c.Kubelet.Other = map[string]awsv1.RawJSON{"containerLogMaxSize": awsv1.RawJSON(`"50Mi"`)}
		}),
		"F-al2023-nodeconfig": with(demo(al2023), serviceCIDR, // AWN-206
			user("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      registryPullQPS: 20\n")),
		"G-bottlerocket":            demo(toml),                                                                                                              // AWN-219
		"H-bottlerocket-merged":     with(demo(toml), user(userTOML), raid0, version("latest")),                                                              // AWN-220
		"I-bottlerocket-everything": with(demo(toml), user(userTOML), raid0, version("latest"), kubeletOfB, func(c *Config) { c.Kubelet.PodsPerCore = nil }), // AWN-221
		"J-bottlerocket-1.45":       with(demo(toml), user(userTOML), raid0, version("1.45.0")),                                                              // AWN-222
		"K-windows":                 with(demo(w2022), user("Write-Host hi")),                                                                                // AWN-226
		"L-custom":                  with(demo(awsv1.AMIFamilyCustom), user(userScript)),                                                                     // AWN-230

		"al2-no-ca": with(demo(al2), func(c *Config) { c.CABundle = "" }),                     // AWN-194
		"al2-bare":  {Family: al2, ClusterName: "demo", Endpoint: "https://api.demo.example"}, // AWN-062
		"al2-banana": with(demo(al2), func(c *Config) { // S1-079, S1-080
			c.Labels = map[string]string{"karpenter.sh/nodepool": "banana", "karpenter.sh/capacity-type": "on-demand", "billing-team": "my-team"}
			c.Taints = []corev1.Taint{{Key: "example.com/special-taint", Effect: corev1.TaintEffectNoSchedule}}
		}),
		"al2-archive":             with(demo(al2), user(userArchive)), // AWN-185
		"al2-cloud-config":        with(demo(al2), user("#cloud-config\nruncmd: [echo hello]\n")),
		"ubuntu":                  with(demo("Ubuntu"), raid0),                        // AWN-231
		"al2023-archive":          with(demo(al2023), serviceCIDR, user(userArchive)), // AWN-197
		"al2023-ipv6":             with(demo(al2023), ipv6, func(c *Config) { c.Kubelet.ClusterDNS = []string{"fd00:10::a", "fd00:10::b"} }),
		"al2023-no-ca-no-labels":  with(demo(al2023), serviceCIDR, func(c *Config) { c.CABundle, c.Labels, c.Taints, c.DiscoveredDNS = "", nil, nil, "" }), // AWN-200, AWN-201
		"bottlerocket-no-ca":      with(demo(toml), func(c *Config) { c.CABundle = "" }, user("[settings.kubernetes]\ncluster-certificate = 'b2xk'\n")),
		"bottlerocket-user-dns":   with(demo(toml), user("[settings.kubernetes]\ncluster-dns-ip = ['10.0.0.10', '10.0.0.11']\n")),   // AWN-343
		"windows-2019-everything": with(demo(awsv1.AMIFamilyWindows2019), serviceCIDR, kubeletOfB),                                  // AWN-342
		"windows-2025":            with(demo(awsv1.AMIFamilyWindows2025), func(c *Config) { c.CABundle, c.DiscoveredDNS = "", "" }), // AWN-224
		"custom-empty":            demo(awsv1.AMIFamilyCustom),                                                                      // AWN-228
	}
}

// userArchive has headers in upper and lower case, Content-Type first, a part with headers of its own and one that is an
// archive itself.
const userArchive = "Content-Type: multipart/mixed; boundary=\"==BOUNDARY==\"\r\n" +
	"MIME-Version: 1.0\r\n\r\nnothing that counts\r\n" +
	"--==BOUNDARY==\r\n" +
	"x-note: kept\r\nContent-Type: text/cloud-config;\r\n charset=\"us-ascii\"\r\nContent-Disposition: attachment\r\n\r\n" +
	"#cloud-config\r\nruncmd: [ls]\r\n" +
	"--==BOUNDARY==\r\n" +
	"Content-Type: multipart/mixed; boundary=\"//\"\r\n\r\n" +
	"--//\r\nContent-Type: text/x-shellscript\r\n\r\n#!/bin/bash\r\n--//--\r\n" +
	"--==BOUNDARY==--\r\n"

// AWN-055 to AWN-057, AWN-059, AWN-186, AWN-187, AWN-208, AWN-191 to AWN-193, AWN-204 to AWN-206, AWN-219 to AWN-222, AWN-226, AWN-230, AWN-362.
func TestExamples(t *testing.T) {
	for name, config := range examples() {
		t.Run(name, func(t *testing.T) {
			rendered, err := Render(config)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "examples", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(rendered.Text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), rendered.Text); diff != "" {
				t.Errorf("%s (-golden +rendered):\n%s", file, diff)
			}
		})
	}
}

// AWN-351: the same configuration gives the same bytes, whatever the order of maps.
func TestRenderingIsDeterministic(t *testing.T) {
	for name, config := range examples() {
		first, err := Render(config)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			again, err := Render(config)
			if err != nil || again.Text != first.Text || strings.Join(again.Warnings, "\n") != strings.Join(first.Warnings, "\n") {
				t.Fatalf("%s: differs from run to run", name)
			}
		}
	}
}

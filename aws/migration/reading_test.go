package migration

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/launchtemplate/userdata"
)

// karpenters is user data of each family as Karpenter writes it for the configuration of TestFamilies.
var karpenters = map[awsv1.AMIFamily]string{
	awsv1.AMIFamilyAL2: `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash -xe
exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1
/etc/eks/bootstrap.sh 'demo' --apiserver-endpoint 'https://api.demo.example' --b64-cluster-ca 'QUJDRA==' \
--dns-cluster-ip '172.20.0.10' \
--use-max-pods false \
--kubelet-extra-args '--node-labels="team=infra,karpenter.sh/nodepool=default" --register-with-taints="a=b:NoSchedule,karpenter.sh/unregistered:NoExecute" --max-pods=29'
--//--
`,
	awsv1.AMIFamilyBottlerocket: `[settings]
[settings.kubernetes]
api-server = 'https://api.demo.example'
cluster-certificate = 'QUJDRA=='
cluster-name = 'demo'
cluster-dns-ip = '172.20.0.10'
max-pods = 29

[settings.kubernetes.node-labels]
'team' = 'infra'
'karpenter.sh/nodepool' = 'default'

[settings.kubernetes.node-taints]
'karpenter.sh/unregistered' = [':NoExecute']
'a' = ['b:NoSchedule']
`,
	awsv1.AMIFamilyWindows2022: `<powershell>
[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"
& $EKSBootstrapScriptFile -EKSClusterName 'demo' -APIServerEndpoint 'https://api.demo.example' -Base64ClusterCA 'QUJDRA==' -KubeletExtraArgs '--node-labels="team=infra,karpenter.sh/nodepool=default" --register-with-taints="a=b:NoSchedule,karpenter.sh/unregistered:NoExecute" --max-pods=29' -DNSClusterIP '172.20.0.10'
</powershell>`,
}

// What Karpenter and drawknife write for the same configuration is read alike, for each family.
func TestFamilies(t *testing.T) {
	for family, theirs := range karpenters {
		t.Run(string(family), func(t *testing.T) {
			config := userdata.Config{
				Family: family, ClusterName: "demo", Endpoint: "https://api.demo.example", CABundle: "QUJDRA==", DiscoveredDNS: "172.20.0.10",
				Labels: map[string]string{"team": "infra", "karpenter.sh/nodepool": "default"},
				Taints: []corev1.Taint{{Key: "a", Value: "b", Effect: "NoSchedule"}, {Key: "karpenter.sh/unregistered", Effect: "NoExecute"}},
			}
			limit := intstr.FromInt32(29)
			config.Kubelet.MaxPods = &limit
			rendered, err := userdata.Render(config)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readUserData(family, rendered.Text)
			if err != nil {
				t.Fatal(err)
			}
			want, err := readUserData(family, theirs)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.settings, got.settings); diff != "" {
				t.Errorf("settings (-Karpenter +drawknife):\n%s", diff)
			}
			if diff := cmp.Diff(want.parts, got.parts); diff != "" {
				t.Errorf("parts (-Karpenter +drawknife):\n%s", diff)
			}
			for _, key := range []string{"labels.team", "taints.a=b:NoSchedule", "taints.karpenter.sh/unregistered=:NoExecute"} {
				if _, ok := got.settings[key]; !ok {
					t.Errorf("%s is not read: %v", key, got.settings)
				}
			}
		})
	}
}

// A command line is divided as a shell does it.
func TestShellWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                          nil,
		" 'a b'  c\\\n --d \"e'f\"": {"a b", "c", "--d", "e'f"},
		"\na b\nnext":               {"a", "b"},
		"'' x":                      {"", "x"},
		"'open":                     {"open"},
	} {
		if diff := cmp.Diff(want, shellWords(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// No text makes a reader fail otherwise than by an error.
func FuzzReadUserData(f *testing.F) {
	for _, text := range karpenters {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, family := range []awsv1.AMIFamily{awsv1.AMIFamilyAL2, awsv1.AMIFamilyAL2023, awsv1.AMIFamilyBottlerocket, awsv1.AMIFamilyWindows2022, awsv1.AMIFamilyCustom} {
			if r, err := readUserData(family, text); err == nil && (r.settings == nil || r.parts == nil) {
				t.Errorf("%s: a reading without maps", family)
			}
		}
	})
}

package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/internal/rules"
)

// docs/migration.md shows what takes the place of a node group: its command runs with its pools, and prints what it shows. S2-031,
// S2-032: the affinity that it gives the controller is one, and its replicas keep apart. S2-037, S2-041: Cluster Autoscaler is
// stopped once the pools are there and before the group shrinks, and the guide says how to watch.
func TestMigrationGuide(t *testing.T) {
	path, err := filepath.Abs("../../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := os.ReadFile("testdata/migration/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	guide := string(text)
	fence := func(marker, language string) string {
		t.Helper()
		s, err := rules.Fence(guide, marker, language)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"cluster.yaml": string(cluster), "pools.yaml": fence("<!-- pools.yaml -->", "yaml")} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const command = "\ngo run ./examples/simulate cluster.yaml pools.yaml "
	_, line, found := strings.Cut(guide, command)
	if !found {
		t.Fatalf("the guide has no line%s", command)
	}
	line, _, _ = strings.Cut(line, "\n")
	a := simulate(t, "", append([]string{"cluster.yaml", "pools.yaml"}, strings.Fields(line)...)...)
	if a.code != exitPlaced || a.stderr != "" {
		t.Fatalf("status %d: %s", a.code, a.stderr)
	}
	printed, _, _ := strings.Cut(a.stdout, "Compiled in ")
	if diff := cmp.Diff(fence("<!-- the move -->", "text"), printed); diff != "" {
		if !*update {
			t.Errorf("the move (-shown +printed); refresh with -update:\n%s", diff)
		} else if guide, err = rules.SetFence(guide, "<!-- the move -->", "text", printed); err != nil {
			t.Fatal(err)
		} else if err := os.WriteFile(path, []byte(guide), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	moveOffProvisioners(t, guide, fence)

	var values struct {
		Affinity corev1.Affinity `json:"affinity"`
	}
	if err := yaml.UnmarshalStrict([]byte(fence("<!-- values.yaml -->", "yaml")), &values); err != nil {
		t.Fatal(err)
	}
	apart := values.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	terms := values.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 1 || len(terms[0].MatchExpressions) != 3 || len(apart) != 1 || apart[0].TopologyKey != corev1.LabelHostname {
		t.Errorf("affinity %+v", values.Affinity)
	}

	_, flow, _ := strings.Cut(guide, "\n## From Cluster Autoscaler\n")
	at := 0
	for _, step := range []string{
		"--replace-nodes", "--filename definitions.yaml", "--filename drawknife.yaml", "--filename pools.yaml",
		"scale deployment cluster-autoscaler --namespace kube-system --replicas=0", "minSize=2,maxSize=2,desiredSize=2",
		"kubectl get deployments --all-namespaces --watch", "kubectl get nodes ",
	} {
		i := strings.Index(flow, step)
		if i < at {
			t.Errorf("%q is missing, or comes too early", step)
		}
		at = i
	}
}

// moveOffProvisioners runs the guide's commands for clusters of older generations: a node of the Provisioner that the guide
// converts goes with it, and a new one comes from the NodePool of its name; what is converted from v1beta1 changes nothing.
func moveOffProvisioners(t *testing.T, guide string, fence func(marker, language string) string) {
	t.Helper()
	const command = "\ngo run ./examples/simulate cluster.yaml --diff new.yaml\n"
	if !strings.Contains(guide, command) {
		t.Fatalf("the guide has no line%s", command)
	}
	const node = `
---
apiVersion: v1
kind: Node
metadata:
  name: old
  labels: {LABEL: default, node.kubernetes.io/instance-type: m5.large, topology.kubernetes.io/zone: us-east-1a, karpenter.sh/capacity-type: on-demand, kubernetes.io/arch: amd64, kubernetes.io/os: linux}
spec: {providerID: aws:///us-east-1a/i-1}
status: {capacity: {cpu: "2", memory: 8Gi, pods: "29"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, uid: p, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r, controller: true}]}
spec: {nodeName: old, containers: [{name: x, resources: {requests: {cpu: "1"}}}]}
`
	for name, c := range map[string]struct {
		label, changes string
		replaced       int
	}{
		"old.yaml":  {"karpenter.sh/provisioner-name", "default added, v1alpha5/default removed", 1},
		"beta.yaml": {"karpenter.sh/nodepool", "default unchanged", 0},
	} {
		cluster := fence("<!-- "+name+" -->", "yaml") + strings.Replace(node, "LABEL", c.label, 1)
		for file, content := range map[string]string{"cluster.yaml": cluster, "new.yaml": fence("<!-- "+name+" becomes -->", "yaml")} {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		a := simulate(t, "", "cluster.yaml", "--diff", "new.yaml", "-o", "json")
		d := decode[differenceDocument](t, a)
		var changes []string
		for _, p := range d.NodePools {
			changes = append(changes, p.Name+" "+p.Change)
		}
		if got := strings.Join(changes, ", "); a.code != exitPlaced || got != c.changes || d.Summary.Replaced != c.replaced || d.Summary.Unschedulable != 0 {
			t.Errorf("%s: status %d, %s, %+v, want %s, %d replaced\n%s", name, a.code, got, d.Summary, c.changes, c.replaced, a.stderr)
		}
	}
}

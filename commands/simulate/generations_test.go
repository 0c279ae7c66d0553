package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

func generations(more ...string) []string {
	return append([]string{"testdata/generations", "--now", "2026-05-04T10:00:00Z"}, more...)
}

// API-010, API-014, API-017, API-220, API-257, API-262: objects of three generations are planned together, those of one name
// apart: pods that ask for the Provisioner's label go to its machines, those that ask for its namesake's to that one's, and a
// kubelet block that a pool of v1beta1 brings holds for its nodes. What conversion changed is told with code and path.
func TestGenerationsTogether(t *testing.T) {
	d := checkRun(t, runCase{name: "generations", args: generations()})
	where := make(map[string]string)
	for _, n := range d.Nodes {
		for _, pod := range n.Pods {
			where[strings.TrimRight(pod, "0123456789")] = n.NodePool
		}
	}
	for workload, pool := range map[string]string{"shop/legacy-": "v1alpha5/default", "shop/crunch-": "batch", "shop/api-": "default"} {
		if where[workload] != pool {
			t.Errorf("%s is on nodes of %q, want %q", workload, where[workload], pool)
		}
	}
	codes := make(map[string]string)
	for _, n := range d.Notes {
		codes[n.Code] = n.Object + " " + n.Message
	}
	for code, want := range map[string]string{
		"W107": "Provisioner default spec.kubeletConfiguration.containerRuntime: ", "W504": "NodePool v1alpha5/default spec.disruption.expireAfter: ",
		"W401": "Pod shop/kept metadata.annotations[karpenter.sh/do-not-evict]: ",
	} {
		if !strings.HasPrefix(codes[code], want) {
			t.Errorf("%s says %q, want %q", code, codes[code], want)
		}
	}
}

// The kubelet block of a v1beta1 pool, and that of a Provisioner, bounds the pods of its machines: a pool of v1 with the same
// block on its class plans the same.
func TestKubeletOfAnOlderPool(t *testing.T) {
	text, err := os.ReadFile("testdata/generations/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for pods, most := range map[string]int{"maxPods: 50": 50, "maxPods: 7": 7} {
		file := filepath.Join(t.TempDir(), "cluster.yaml")
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), "maxPods: 50", pods, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		d := simulate(t, "", file, "--now", "2026-05-04T10:00:00Z", "-o", "json").plan(t)
		for _, n := range d.Nodes {
			if n.NodePool == "batch" && len(n.Pods) > most {
				t.Errorf("%s: a node of batch holds %d pods", pods, len(n.Pods))
			}
		}
	}
}

// --consolidate plans for nodes of all generations: the old annotation of a pod keeps its node, and a node from before there were
// Machines is one of its Provisioner (API-227, API-337).
func TestConsolidateGenerations(t *testing.T) {
	d := both(t, "generations-consolidate", exitPlaced, shortenConsolidation, generations("--consolidate")...)
	verdicts := make(map[string]verdictDocument)
	for _, n := range d.Nodes {
		verdicts[n.Name] = n
	}
	if old := verdicts["old-1"]; old.NodePool != "v1alpha5/default" || !strings.Contains(old.Reasons[0].Message, "do-not-disrupt") {
		t.Errorf("old-1: %+v", old)
	}
	if old := verdicts["old-2"]; old.NodePool != "v1alpha5/default" || old.DisruptionCost == 0 {
		t.Errorf("old-2: %+v", old)
	}
	if batch := verdicts["batch-1"]; batch.Outcome != "removed" {
		t.Errorf("batch-1: %+v", batch)
	}
}

// --diff compares pools of whatever generation: one of v1beta1 and what it is converted to are the same and drift no node; nodes
// of a Provisioner that is gone go with it, its namesake notwithstanding (API-004, API-005, API-413).
func TestDiffGenerations(t *testing.T) {
	d := both[differenceDocument](t, "generations-diff", exitUnschedulable, nil, generations("--diff", "testdata/generations-next.yaml")...)
	want := map[string]string{"batch": "unchanged", "default": "unchanged", "v1alpha5/default": "removed"}
	for _, p := range d.NodePools {
		if want[p.Name] != p.Change {
			t.Errorf("%s is %s: %v", p.Name, p.Change, p.Fields)
		}
	}
	if len(d.NodePools) != len(want) || d.Summary.Replaced != 2 || d.Nodes[0].Reason != "NodePoolGone" || d.Nodes[0].NodePool != "v1alpha5/default" {
		t.Errorf("%+v", d)
	}
	// The other way round: the file of --diff may be of older generations.
	back := decode[differenceDocument](t, simulate(t, "", "testdata/generations-next.yaml", "testdata/deployment.yaml", "--diff", "testdata/generations", "-o", "json"))
	if len(back.NodePools) != 3 || back.NodePools[2].Name != "v1alpha5/default" || back.NodePools[2].Change != "added" {
		t.Errorf("%+v", back.NodePools)
	}
	codes := make(map[string]bool)
	for _, n := range back.Notes {
		codes[n.Code] = true
	}
	if !codes["W504"] || !codes["OtherObjects"] {
		t.Errorf("notes %+v", back.Notes)
	}
}

// --replay launches from pools of all generations, and a saved snapshot keeps which is which.
func TestReplayGenerations(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "saved.yaml")
	d := decode[replayDocument](t, simulate(t, "", generations("--replay", "testdata/trace.csv", "--replay-for", "2h", "--spot-interruptions", "0", "--catalog", smallCatalog, "--save-snapshot", saved, "-o", "json")...))
	if d.Pods == 0 || len(d.Packing) == 0 {
		t.Errorf("%d pods on %d nodes", d.Pods, len(d.Packing))
	}
	file, err := os.Open(saved)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s, err := scheduling.DecodeSnapshot(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.NodePools); n != 3 || s.NodePools[2].Key != (v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: "default"}) {
		t.Errorf("%d pools: %+v", n, s.NodePools)
	}
	// With the Provisioner alone, machines are its own.
	old := "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: only}\nspec: {providerRef: {name: gone}}\n"
	a := simulate(t, old, "-", "--replay", "testdata/trace.csv", "--replay-for", "2h", "--spot-interruptions", "0", "--catalog", smallCatalog, "-o", "json")
	d = decode[replayDocument](t, a)
	if len(d.Packing) == 0 || d.Packing[0].NodePool != "v1alpha5/only" {
		t.Errorf("packing %+v", d.Packing)
	}
	if !strings.Contains(a.stderr, `AWSNodeTemplate "gone" is not in the input`) {
		t.Errorf("standard error: %s", a.stderr)
	}
}

// What can't be read or converted is refused with all that is wrong, and nothing is planned.
func TestBadOldManifests(t *testing.T) {
	const provisioner = "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec:\n"
	for name, c := range map[string]struct {
		in   string
		args []string
		want []string
	}{
		"an unknown field, strictly": {
			provisioner + "  providerRef: {name: a}\n  colour: red\n---\napiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\nspec: {colour: blue, template: {spec: {nodeClassRef: {name: a}, requirements: []}}}\n",
			[]string{"--strict"},
			[]string{"document 1, line 6: Provisioner a: spec.colour: the kind has no such field", "document 2, line 11: NodePool a: spec.colour: "},
		},
		"truncated": {provisioner + "  providerRef: {name: a", nil, []string{"standard input: document 1, line 5"}},
		"all that can't be converted": {
			provisioner + "  consolidation: {enabled: true}\n  ttlSecondsAfterEmpty: 30\n  provider: {launchTemplate: mine, colour: red}\n  weight: 101\n", nil,
			[]string{"line 6: Provisioner a: spec.ttlSecondsAfterEmpty: W113 ", "colour", "spec.weight"},
		},
		"given twice in two versions": {
			"apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {spec: {nodeClassRef: {name: a}, requirements: []}}}\n---\n" +
				"apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, requirements: []}}}\n", nil,
			[]string{"NodePool a: is given twice"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := simulate(t, c.in, append(c.args, "-")...)
			if a.code != exitInput || a.stdout != "" {
				t.Errorf("status %d, standard output %q", a.code, a.stdout)
			}
			for _, part := range c.want {
				if !strings.Contains(a.stderr, part) {
					t.Errorf("standard error lacks %q:\n%s", part, a.stderr)
				}
			}
		})
	}
	lenient := simulate(t, provisioner+"  providerRef: {name: a}\n  colour: red\n", "-", "testdata/deployment.yaml")
	if lenient.code != exitPlaced || !strings.Contains(lenient.stderr, "spec.colour: the kind has no such field; it is ignored") {
		t.Errorf("status %d: %s", lenient.code, lenient.stderr)
	}
}

// The annotation that holds a kubelet block in a live object of release 1.0 is read; one that can't be is refused.
func TestKubeletAnnotation(t *testing.T) {
	const pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a, annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: '%'}}\n" +
		"spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, requirements: []}}}\n"
	a := simulate(t, strings.Replace(pool, "%", `{"maxPods": 2}`, 1), "-", "testdata/deployment.yaml", "-o", "json")
	for _, n := range a.plan(t).Nodes {
		if len(n.Pods) > 2 {
			t.Errorf("%d pods on a node", len(n.Pods))
		}
	}
	if a := simulate(t, strings.Replace(pool, "%", "{", 1), "-", "testdata/deployment.yaml"); a.code != exitInput || !strings.Contains(a.stderr, "NodePool a: metadata: annotation compatibility.karpenter.sh") {
		t.Errorf("status %d: %s", a.code, a.stderr)
	}
}

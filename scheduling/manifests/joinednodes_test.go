package manifests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/drawknife/drawknife/api/v1"
)

func nodeOf(name, metadata, spec string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Node\nmetadata: {name: %s%s}\nspec: {%s}\n", name, metadata, spec)
}

func claimOf(name, metadata, status string) string {
	return fmt.Sprintf("---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: %s%s}\n"+
		"spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}\nstatus: {%s}\n", name, metadata, status)
}

func TestNodesAndNodeClaimsAreJoined(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // name node/claim
	}{
		"by provider ID": {
			nodeOf("n1", "", "providerID: aws:///a/i-1") + claimOf("c", "", "providerID: aws:///a/i-1"), []string{"n1 node claim c"},
		},
		"by node name": {
			nodeOf("n1", "", "") + claimOf("c", "", "nodeName: n1"), []string{"n1 node claim c"},
		},
		"by name": {
			nodeOf("n1", "", "providerID: x") + claimOf("n1", "", ""), []string{"n1 node claim n1"},
		},
		"not at all": {
			nodeOf("n1", "", "providerID: x") + claimOf("c", "", "providerID: z, nodeName: n1"), []string{"c claim c", "n1 node"},
		},
		"the provider ID before the name": {
			nodeOf("n1", "", "") + nodeOf("n2", "", "providerID: x") + claimOf("n1", "", "providerID: x"), []string{"n1 node", "n2 node claim n1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, n := range load(t, c.text).Snapshot.Nodes {
				line := n.Name
				if n.Object != nil {
					line += " node"
				}
				if n.Claim != nil {
					line += " claim " + n.Claim.Name
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMachinesThatCountTwiceAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"two nodes":  nodeOf("n1", "", "providerID: x") + nodeOf("m", "", "providerID: x"),
		"two claims": claimOf("n1", "", "providerID: x") + claimOf("m", "", "providerID: x"),
		"one name":   nodeOf("n1", "", "providerID: x") + claimOf("n1", "", "providerID: z"),
	} {
		t.Run(name, func(t *testing.T) {
			if got := refusal(t, Options{}, source("in", text)).Problems[0]; !strings.HasSuffix(got.Path, "providerID") || got.Line == 0 {
				t.Errorf("problem %+v", got)
			}
		})
	}
}

func TestPoolOfANode(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want v1.PoolKey
	}{
		"none":              {nodeOf("n1", "", ""), v1.PoolKey{}},
		"by label":          {nodeOf("n1", ", labels: {karpenter.sh/nodepool: general}", "") + "---\n" + goodPool, v1.NewPoolKey("general")},
		"by its claim":      {nodeOf("n1", "", "") + claimOf("n1", ", labels: {karpenter.sh/nodepool: general}", "") + "---\n" + goodPool, v1.NewPoolKey("general")},
		"of the first kind": {nodeOf("n1", ", labels: {karpenter.sh/provisioner-name: general}", ""), v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: "general"}},
		"in flight":         {claimOf("c", ", labels: {karpenter.sh/nodepool: general}", "") + "---\n" + goodPool, v1.NewPoolKey("general")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := onlyNode(t, load(t, c.text)).Pool; got != c.want {
				t.Errorf("pool %v, want %v", got, c.want)
			}
		})
	}
}

func TestPoolsThatAreMissingAreNamed(t *testing.T) {
	result := load(t, nodeOf("n1", ", labels: {karpenter.sh/nodepool: general}", "")+nodeOf("m", ", labels: {karpenter.sh/nodepool: general}", "")+
		nodeOf("o", ", labels: {karpenter.sh/provisioner-name: general}", "")+"---\n"+goodNodeClass)
	var got []string
	for _, w := range result.Warnings {
		got = append(got, fmt.Sprint(w.Code, " ", w.Message, " ", w.More))
	}
	want := []string{`NodePoolMissing its pool "general" is not in the input 1`, `NodePoolMissing its pool "v1alpha5/general" is not in the input 0`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestNodeClassOfAPool(t *testing.T) {
	result := load(t, goodPool)
	w := wantWarning(t, result, WarningNodeClass)
	if want := `in.yaml: document 1, line 7: NodePool general: spec.template.spec.nodeClassRef: EC2NodeClass "default" is not in the input`; w.String() != want {
		t.Errorf("warning %q, want %q", w, want)
	}
	wantNoWarnings(t, load(t, goodPool+"---\n"+goodNodeClass))
}

func TestPoolsThatAreNotReady(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a manifest": {goodPool, ""},
		"ready":      {goodPool + "status: {conditions: [{type: Ready, status: 'True'}]}\n", ""},
		"not ready":  {goodPool + "status: {conditions: [{type: Ready, status: 'False', reason: NodeClassNotFound, message: not there}]}\n", "NodeClassNotFound: not there"},
		"no reason":  {goodPool + "status: {conditions: [{type: Ready, status: 'False'}]}\n", "not ready"},
		"being deleted": {
			strings.Replace(goodPool, "name: general", "name: general, deletionTimestamp: '2026-01-01T00:00:00Z'", 1), "it is being deleted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := load(t, c.text+"---\n"+goodNodeClass)
			if got := result.Snapshot.NodePools[0].NotReady; got != c.want {
				t.Errorf("not ready: %q, want %q", got, c.want)
			}
			if c.want != "" {
				wantWarning(t, result, WarningNotReady)
			}
		})
	}
}

func TestNodesAreCompleted(t *testing.T) {
	node := onlyNode(t, load(t, "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: 4}}\n")).Object
	if got := node.Labels["kubernetes.io/hostname"]; got != "n1" {
		t.Errorf("hostname %q, want the node's name", got)
	}
	if got := node.Status.Allocatable.Cpu().Value(); got != 4 {
		t.Errorf("allocatable cpu %d, want the capacity", got)
	}
	node = onlyNode(t, load(t, "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {kubernetes.io/hostname: h}}\nstatus: {capacity: {cpu: 4}, allocatable: {cpu: 3}}\n")).Object
	if node.Labels["kubernetes.io/hostname"] != "h" || node.Status.Allocatable.Cpu().Value() != 3 {
		t.Errorf("what the node states was changed: %v %v", node.Labels, node.Status.Allocatable)
	}
}

// SCH-091, SCH-092: pods of nodes that are going away.
func TestPodsOfLeavingMachines(t *testing.T) {
	const deleted = "deletionTimestamp: '2026-01-31T11:00:00Z'"
	budget := func(name, spec string) string {
		return "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: " + name + "}\nspec: {selector: {matchLabels: {app: web}}, " + spec + "}\n"
	}
	pod := func(metadata, more string) string {
		return "---\n" + strings.Replace(simplePod("a", "  nodeName: n1\n"+more), "name: a", "name: a, labels: {app: web}, "+metadata, 1)
	}
	const ready = "status: {conditions: [{type: Ready, status: 'True'}]}\n"
	for name, c := range map[string]struct {
		text  string
		moves bool
	}{
		"active":                            {pod("", ""), true},
		"of a DaemonSet":                    {pod("ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d}]", ""), false},
		"static":                            {pod("ownerReferences: [{apiVersion: v1, kind: Node, name: n1}]", ""), false},
		"terminating":                       {pod(deleted, ""), false},
		"terminating, of a StatefulSet":     {pod(deleted+", ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: s}]", ""), true},
		"protected":                         {pod("annotations: {karpenter.sh/do-not-disrupt: 'true'}", ""), false},
		"protected for a while":             {pod("annotations: {karpenter.sh/do-not-disrupt: 2h}", "status: {startTime: '2026-01-31T11:00:00Z'}\n"), false},
		"no longer protected":               {pod("annotations: {karpenter.sh/do-not-disrupt: 30m}", "status: {startTime: '2026-01-31T11:00:00Z'}\n"), true},
		"protected, start unknown":          {pod("annotations: {karpenter.sh/do-not-disrupt: 30m}", ""), false},
		"protection nobody can read":        {pod("annotations: {karpenter.sh/do-not-disrupt: soon}", ""), true},
		"budget that allows some":           {pod("", ready) + budget("b", "maxUnavailable: 1"), true},
		"budget that allows none":           {pod("", ready) + budget("b", "maxUnavailable: 0"), false},
		"budget of 0%":                      {pod("", ready) + budget("b", "maxUnavailable: 0%"), false},
		"budget that wants all":             {pod("", ready) + budget("b", "minAvailable: 100%"), false},
		"budget that wants many":            {pod("", ready) + budget("b", "minAvailable: 5"), true},
		"two budgets":                       {pod("", ready) + budget("b", "maxUnavailable: 1") + budget("c", "maxUnavailable: 1"), false},
		"budget that spares unhealthy pods": {pod("", "") + budget("b", "maxUnavailable: 0, unhealthyPodEvictionPolicy: AlwaysAllow"), true},
		"healthy pod of such a budget":      {pod("", ready) + budget("b", "maxUnavailable: 0, unhealthyPodEvictionPolicy: AlwaysAllow"), false},
		"budget of other pods":              {strings.Replace(pod("", ready), "app: web", "app: other", 1) + budget("b", "maxUnavailable: 0"), true},
		"pod that is not evicted":           {pod("", "  tolerations: [{operator: Exists}]\n"+ready) + budget("b", "maxUnavailable: 0"), true},
		"pod that tolerates something else": {pod("", "  tolerations: [{key: other, operator: Exists}]\n"+ready) + budget("b", "maxUnavailable: 0"), false},
	} {
		t.Run(name, func(t *testing.T) {
			result := load(t, nodeOf("n1", ", "+deleted, "")+c.text)
			node := onlyNode(t, result)
			if !node.Leaving {
				t.Error("the node is not known to be leaving")
			}
			if got := len(result.Snapshot.Pods) == 1; got != c.moves {
				t.Errorf("waits for a new place: %v, want %v", got, c.moves)
			}
			if got := len(node.Pods) == 0; got != c.moves {
				t.Errorf("left the node: %v, want %v", got, c.moves)
			}
			for _, p := range result.Snapshot.Pods {
				if p.Spec.NodeName != "" {
					t.Errorf("a pod that waits is bound to %s", p.Spec.NodeName)
				}
			}
		})
	}
}

// SCH-091, SCH-092, API-244: what tolerates the cordon of a node of the first generation is not evicted from it, and what tolerates the
// taint of later ones is, if its budget ever lets it; on nodes of later pools it is the other way round.
func TestPodsOfLeavingMachinesOfBothGenerations(t *testing.T) {
	const budget = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {selector: {}, maxUnavailable: 0}\n"
	for label, moves := range map[string]string{"karpenter.sh/provisioner-name": "node.kubernetes.io/unschedulable", "karpenter.sh/nodepool": "karpenter.sh/disrupted"} {
		for _, tolerated := range []string{"node.kubernetes.io/unschedulable", "karpenter.sh/disrupted"} {
			result := load(t, nodeOf("n1", ", deletionTimestamp: '2026-01-31T11:00:00Z', labels: {"+label+": web}", "")+
				"---\n"+simplePod("a", "  nodeName: n1\n  tolerations: [{key: "+tolerated+", operator: Exists}]\n")+budget)
			if got := len(result.Snapshot.Pods) == 1; got != (tolerated == moves) {
				t.Errorf("on a node with %s, tolerating %s: planned for: %t", label, tolerated, got)
			}
		}
	}
}

func TestAMachineLeavesWithItsClaim(t *testing.T) {
	result := load(t, nodeOf("n1", "", "")+claimOf("n1", ", deletionTimestamp: '2026-01-31T11:00:00Z'", ""))
	if !onlyNode(t, result).Leaving {
		t.Error("the node stays though its claim is being deleted")
	}
}

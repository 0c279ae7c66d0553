package manifests

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

const (
	oldPool = `apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: general}
spec:
  providerRef: {name: default}
  ttlSecondsUntilExpired: 1209600
  consolidation: {enabled: true}
`
	oldTemplate = `apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: default}
spec:
  subnetSelector: {discovery: x}
  securityGroupSelector: {discovery: x}
`
	betaPool = `apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: beta}
spec:
  disruption: {expireAfter: 48h}
  template:
    spec:
      nodeClassRef: {name: beta}
      requirements: []
`
	betaClass = `apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: beta}
spec:
  amiFamily: AL2
  role: nodes
  subnetSelectorTerms: [{tags: {discovery: x}}]
  securityGroupSelectorTerms: [{tags: {discovery: x}}]
`
	betaClaim = `apiVersion: karpenter.sh/v1beta1
kind: NodeClaim
metadata: {name: beta-1, labels: {karpenter.sh/nodepool: beta}}
spec: {requirements: [], nodeClassRef: {name: beta}}
`
)

func machineOf(name, pool, providerID string) string {
	return fmt.Sprintf("apiVersion: karpenter.sh/v1alpha5\nkind: Machine\nmetadata: {name: %s, labels: {karpenter.sh/provisioner-name: %s}}\n"+
		"spec: {machineTemplateRef: {name: default}}\nstatus: {providerID: %q}\n", name, pool, providerID)
}

func documents(list ...string) string { return strings.Join(list, "---\n") }

// API-010, API-014, API-015, API-017, API-262: objects of three generations in any order and form are read together; a
// Provisioner and a NodePool of one name are two pools, each with its own node class, and a claim of v1beta1 lives as long as
// its pool says.
func TestGenerationsTogether(t *testing.T) {
	list := []string{goodPool, oldTemplate, betaClaim, goodNodeClass, machineOf("m", "general", ""), betaPool, oldPool, betaClass}
	for range 2 {
		r := load(t, documents(list...))
		var got []string
		for i := range r.Snapshot.NodePools {
			p := &r.Snapshot.NodePools[i]
			class, ok := r.NodeClassOf(p).(*awsv1.EC2NodeClass)
			if !ok {
				t.Fatalf("%s has no node class: %v", p.Key, r.Warnings)
			}
			got = append(got, fmt.Sprintf("%s of %s, hop limit %d", p.Key, class.Name, *class.Spec.MetadataOptions.HTTPPutResponseHopLimit))
		}
		for _, n := range r.Snapshot.Nodes {
			got = append(got, fmt.Sprintf("%s of %s, %s", n.Name, n.Pool, n.Claim.Spec.ExpireAfter.String()))
		}
		want := []string{
			"beta of beta, hop limit 2", "general of default, hop limit 1", "v1alpha5/general of default, hop limit 2",
			"beta-1 of beta, 48h", "m of v1alpha5/general, 336h0m0s",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if len(r.NodeClasses) != 2 || len(r.FirstNodeClasses) != 1 {
			t.Errorf("%d node classes and %d of the first generation", len(r.NodeClasses), len(r.FirstNodeClasses))
		}
		// The same as a list, and the other way round.
		for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
			list[i], list[j] = list[j], list[i]
		}
	}
	pool := scheduling.NodePool{Key: v1.NewPoolKey("x"), Object: &v1.NodePool{}}
	if class := load(t, goodNodeClass).NodeClassOf(&pool); class != nil {
		t.Errorf("a pool without a reference has node class %s", class.GetName())
	}
}

// API-276, API-285: a manifest gets the defaults that a webhook would have added, and an inline provider block is a node class;
// of a live object neither is said again. API-261, API-266: what changed is told with code, object, path and line.
func TestConversionsAreTold(t *testing.T) {
	inline := "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: general}\nspec:\n  kubeletConfiguration:\n    containerRuntime: dockerd\n" +
		"  provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, instanceProfile: p}\n"
	r := load(t, inline)
	if n := len(r.Snapshot.NodePools[0].Object.Spec.Template.Spec.Requirements); n != 5 || r.NodeClassOf(&r.Snapshot.NodePools[0]) == nil {
		t.Errorf("%d requirements; class %v", n, r.NodeClassOf(&r.Snapshot.NodePools[0]))
	}
	wantWarning(t, r, WarningCode(conversion.CodeRequirementsAdded))
	const want = "in.yaml: document 1, line 6: Provisioner general: spec.kubeletConfiguration.containerRuntime: W107 containerRuntime dockerd dropped; containerd is used"
	if w := wantWarning(t, r, WarningCode(conversion.CodeContainerRuntime)); w.String() != want {
		t.Errorf("%s, want %s", w, want)
	}
	live := load(t, strings.Replace(inline, "{name: general}", "{name: general, uid: x}", 1))
	if n := len(live.Snapshot.NodePools[0].Object.Spec.Template.Spec.Requirements); n != 0 {
		t.Errorf("%d requirements of a live object", n)
	}
}

// API-016: what a kind of an older generation does not have is told of with its path, or refused.
func TestUnknownFieldsOfOldKinds(t *testing.T) {
	text := strings.Replace(oldPool, "  providerRef:", "  colour: red\n  weight: 1\n  weight: 2\n  providerRef:", 1) + "---\n" + simplePod("a", "  colour: red\n")
	r := load(t, text)
	if w := wantWarning(t, r, WarningUnknownField); w.Path != "spec.colour" || w.Line != 5 || w.Object != "Provisioner general" {
		t.Errorf("warning %s", w)
	}
	err := refusal(t, Options{Strict: true}, Source{Name: "in.yaml", Data: []byte(text)})
	var got []string
	for _, p := range err.Problems {
		got = append(got, string(p.Code)+" "+p.Error())
	}
	want := []string{
		"UnknownField in.yaml: document 1, line 5: Provisioner general: spec.colour: the kind has no such field; take it out",
		"UnknownField in.yaml: document 1, line 7: Provisioner general: spec.weight: the field is given twice; leave one of them",
		"UnknownField in.yaml: document 2, line 17: Pod a: spec.colour: the kind has no such field; take it out",
	}
	for i := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], want[i][:40]) {
			t.Fatalf("problems %q, want %q", got, want)
		}
	}
	if len(got) != len(want) {
		t.Errorf("problems %q", got)
	}
}

// S0-002, API-002: a reader may take the newer generations alone.
func TestOldestGeneration(t *testing.T) {
	for oldest, want := range map[string][]string{
		"": nil, "v1alpha5": nil, "v1beta1": {"Provisioner", "AWSNodeTemplate"}, "v1": {"Provisioner", "AWSNodeTemplate", "NodePool", "EC2NodeClass"},
	} {
		text := documents(oldPool, oldTemplate, betaPool, betaClass, goodPool, goodNodeClass)
		_, err := Load([]Source{{Name: "in.yaml", Data: []byte(text)}}, onAWS(Options{Oldest: oldest}))
		var got []string
		var refused *LoadError
		if errors.As(err, &refused) {
			for _, p := range refused.Problems {
				if p.Code != ProblemVersion || p.Path != "apiVersion" {
					t.Errorf("%q: %s", oldest, p)
				}
				got = append(got, p.Object)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q refuses (-want +got):\n%s", oldest, diff)
		}
	}
}

// What can't be converted is refused with everything that is wrong with it, in addition to the problems of other objects.
func TestUnconvertibleObjectsAreRefused(t *testing.T) {
	text := documents(
		strings.Replace(oldPool, "  providerRef: {name: default}\n", "  providerRef: {name: default}\n  provider: {colour: red}\n  ttlSecondsAfterEmpty: 30\n  weight: 101\n", 1),
		strings.Replace(oldTemplate, "spec:\n", "spec:\n  launchTemplate: mine\n  amiSelector: {aws-ids: nonsense}\n", 1), betaPool, goodPool+"  weight: 0\n",
		strings.Replace(betaPool, "name: beta}", "name: general}", 1))
	err := refusal(t, Options{}, Source{Name: "in.yaml", Data: []byte(text)})
	said := make(map[string]bool)
	for _, p := range err.Problems {
		code, _, _ := strings.Cut(p.Message, " ")
		said[fmt.Sprintf("%d %s %s %s %s", p.Line, p.Code, p.Object, p.Path, code)] = true
	}
	for _, want := range []string{
		"6 NotConvertible Provisioner general spec.provider W112", "9 NotConvertible Provisioner general spec.ttlSecondsAfterEmpty W113",
		"16 NotConvertible AWSNodeTemplate default spec.launchTemplate W201",
	} {
		found := false
		for line := range said {
			found = found || strings.HasSuffix(line, want[strings.Index(want, " "):])
		}
		if !found {
			t.Errorf("missing %q in\n%s", want, err)
		}
	}
	if !strings.Contains(err.Error(), "W225") || !strings.Contains(err.Error(), "NodePool general: is given twice") {
		t.Errorf("not all that is wrong:\n%s", err)
	}
}

// A document that breaks off is refused with its line, whatever the generation.
func TestTruncatedOldManifest(t *testing.T) {
	text := oldPool + "---\n" + oldTemplate[:strings.Index(oldTemplate, "default}")]
	err := refusal(t, Options{}, Source{Name: "in.yaml", Data: []byte(text)})
	if p := err.Problems[0]; p.Code != ProblemMalformed || p.Document != 2 || p.Line < 10 {
		t.Errorf("%v", err)
	}
}

// API-037, API-220, API-232, API-337: nodes belong to the generation that their label names; the first one's say in an annotation
// since when they are empty.
func TestNodesOfTheFirstGeneration(t *testing.T) {
	const since = "2026-01-30T00:00:00Z"
	r := load(t, documents(oldPool, oldTemplate, machineOf("m", "general", "x"),
		nodeOf("n1", ", labels: {karpenter.sh/provisioner-name: general}, annotations: {karpenter.sh/emptiness-timestamp: '"+since+"'}", "providerID: x"),
		nodeOf("n2", ", labels: {karpenter.sh/provisioner-name: gone}", "")))
	n := r.Snapshot.Nodes[0]
	if n.Claim == nil || n.Claim.Name != "m" || n.Pool != (v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: "general"}) {
		t.Fatalf("node %+v", n)
	}
	if got := n.Claim.Status.LastPodEventTime.UTC().Format(time.RFC3339); got != since {
		t.Errorf("empty since %s, want %s", got, since)
	}
	if w := wantWarning(t, r, WarningNodePool); !strings.Contains(w.Message, `"v1alpha5/gone"`) || w.More != 0 {
		t.Errorf("warning %s", w)
	}
}

// A Machine and a NodeClaim may bear one name when each has its node; without nodes they can't be told apart.
func TestMachineAndNodeClaimOfOneName(t *testing.T) {
	pools := documents(goodPool, goodNodeClass, oldPool, oldTemplate, machineOf("a", "general", "old"), claimOf("a", ", labels: {karpenter.sh/nodepool: general}", "providerID: new"))
	r := load(t, documents(pools, nodeOf("n1", ", labels: {karpenter.sh/provisioner-name: general}", "providerID: old"), nodeOf("n2", ", labels: {karpenter.sh/nodepool: general}", "providerID: new")))
	if len(r.Snapshot.Nodes) != 2 || r.Snapshot.Nodes[0].Pool == r.Snapshot.Nodes[1].Pool || r.Snapshot.Nodes[0].Claim == r.Snapshot.Nodes[1].Claim {
		t.Errorf("nodes %+v", r.Snapshot.Nodes)
	}
	if err := refusal(t, Options{}, Source{Name: "in.yaml", Data: []byte(pools)}); !strings.Contains(err.Error(), "nodes must have different names") {
		t.Error(err)
	}
}

// API-227, API-229: the old annotation of a pod counts under its present name, and is told of. API-338: a pod that asks for a
// Provisioner's node is told of where there is none, and its words are left: in the cluster it would wait.
func TestOldNamesOfPods(t *testing.T) {
	old := strings.Replace(simplePod("a", "  nodeSelector: {karpenter.sh/provisioner-name: general}\n"), "name: a", "name: a, annotations: {karpenter.sh/do-not-evict: 'true'}", 1)
	r := load(t, documents(old, goodPool, goodNodeClass))
	if got := r.Snapshot.Pods[0].Annotations; got[v1.DoNotDisruptAnnotationKey] != "true" || len(got) != 1 {
		t.Errorf("annotations %v", got)
	}
	if w := wantWarning(t, r, WarningCode(conversion.CodeWorkloadKeyRenamed)); w.Path != "metadata.annotations[karpenter.sh/do-not-evict]" || w.Object != "Pod default/a" {
		t.Errorf("warning %s", w)
	}
	if w := wantWarning(t, r, WarningOldLabel); w.Path != "spec.nodeSelector[karpenter.sh/provisioner-name]" || len(r.Snapshot.Pods[0].Spec.NodeSelector) != 1 {
		t.Errorf("warning %s", w)
	}
	for _, present := range []string{documents(oldPool, oldTemplate), nodeOf("n1", ", labels: {karpenter.sh/provisioner-name: x}", "")} {
		for _, w := range load(t, documents(old, present)).Warnings {
			if w.Code == WarningOldLabel {
				t.Errorf("next to the first generation: %s", w)
			}
		}
	}
	const affinity = "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: karpenter.sh/provisioner-name, operator: %s}]}]}}}\n"
	for more, want := range map[string]string{
		fmt.Sprintf(affinity, "Exists"):       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key",
		fmt.Sprintf(affinity, "DoesNotExist"): "",
		"  topologySpreadConstraints: [{maxSkew: 1, topologyKey: karpenter.sh/provisioner-name, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]\n": "spec.topologySpreadConstraints[0].topologyKey",
	} {
		got := ""
		for _, w := range load(t, simplePod("a", more)).Warnings {
			if w.Code == WarningOldLabel {
				got = w.Path
			}
		}
		if got != want {
			t.Errorf("%s: told of %q, want %q", more, got, want)
		}
	}
}

package simulate

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// calendarCluster has a node for each thing that forbids that it goes.
const calendarCluster = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption:
    consolidateAfter: 30m
    budgets: [{nodes: "0", schedule: "0 9 * * *", duration: 8h}]
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: stays, namespace: default}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: pdb}}}
status: {disruptionsAllowed: 0, expectedPods: 1, currentHealthy: 1, desiredHealthy: 1, observedGeneration: 1}
`

// calendarNode is a node with a pod, quiet for long unless its pod began lately.
func calendarNode(name, annotation, app, began string) string {
	return strings.NewReplacer("NAME", name, "ANNOTATION", annotation, "APP", app, "BEGAN", began).Replace(`---
apiVersion: v1
kind: Node
metadata:
  name: NAME
  creationTimestamp: "2026-05-03T08:00:00Z"
  annotations: {ANNOTATION}
  labels: {karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: m5.4xlarge, topology.kubernetes.io/zone: us-east-1a,
    karpenter.sh/capacity-type: on-demand, kubernetes.io/arch: amd64, kubernetes.io/os: linux, kubernetes.io/hostname: NAME}
status:
  allocatable: {cpu: "15", memory: 58Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: v1
kind: Pod
metadata: {name: on-NAME, namespace: default, labels: {app: APP}}
spec:
  nodeName: NAME
  containers: [{name: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]
status: {phase: Running, startTime: "BEGAN"}
`)
}

// For each node the calendar says which budget, PodDisruptionBudget, annotation or window keeps it, and until when.
func TestConsolidateCalendar(t *testing.T) {
	const old = "2026-05-03T08:01:00Z"
	input := calendarCluster + calendarNode("plain", "", "x", old) + calendarNode("kept", `karpenter.sh/do-not-disrupt: "true"`, "x", old) +
		calendarNode("guarded", "", "pdb", old) + calendarNode("busy", "", "x", "2026-05-04T16:50:00Z")
	args := []string{"-", "--consolidate", "--now", "2026-05-04T16:55:00Z"}
	d := decode[consolidationDocument](t, simulate(t, input, append(args, "-o", "json")...))
	at := func(text string) *time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return &when
	}
	want := map[string]struct {
		mayGo *time.Time
		gates []string
	}{
		"plain":   {at("2026-05-04T17:00:00Z"), []string{"budget Budget 2026-05-04T17:00:00Z"}},
		"kept":    {nil, []string{"annotation Annotation never"}},
		"guarded": {nil, []string{"podDisruptionBudget PodDisruptionBudget never"}},
		"busy":    {at("2026-05-04T17:20:00Z"), []string{"budget Budget 2026-05-04T17:00:00Z", "consolidateAfter ConsolidateAfter 2026-05-04T17:20:00Z"}},
	}
	for _, n := range d.Nodes {
		var gates []string
		for _, g := range n.Calendar.Gates {
			until := "never"
			if g.Until != nil {
				until = g.Until.Format(time.RFC3339)
			}
			gates = append(gates, g.Kind+" "+g.Code+" "+until)
		}
		if w := want[n.Name]; !reflect.DeepEqual(n.Calendar.MayGo, w.mayGo) || !reflect.DeepEqual(gates, w.gates) {
			t.Errorf("%s may go %v, held by %q; want %v, %q", n.Name, n.Calendar.MayGo, gates, w.mayGo, w.gates)
		}
	}
	text := simulate(t, input, args...).stdout
	for _, want := range []string{
		"2026-05-04T17:00:00Z: 1 node, since spec.disruption.budgets[0] of nodepool default allows 0", "no time known: 1 node, since pod disruption budget default/stays does not let pod",
		"no time known: 1 node, since the node bears the annotation karpenter.sh/do-not-disrupt",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	// Once the budget's window has closed, the plain node goes.
	later := decode[consolidationDocument](t, simulate(t, input, "-", "--consolidate", "--now", "2026-05-04T17:30:00Z", "-o", "json"))
	for _, n := range later.Nodes {
		if n.Name == "plain" && (n.Calendar.MayGo == nil || len(n.Calendar.Gates) != 0) {
			t.Errorf("after the window: %+v", n.Calendar)
		}
	}
}

// The plan as YAML says what the plan as JSON says; its digests are the same whenever it is made, and others for another plan.
func TestConsolidateDocument(t *testing.T) {
	asJSON, asYAML := simulate(t, "", fleet("--consolidate", "-o", "json")...), simulate(t, "", fleet("--consolidate", "-o", "yaml")...)
	var one, other map[string]any
	if err := json.Unmarshal([]byte(timeless(asJSON.stdout)), &one); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(asYAML.stdout), &other); err != nil {
		t.Fatal(err)
	}
	other["summary"].(map[string]any)["planMillis"] = one["summary"].(map[string]any)["planMillis"]
	if !reflect.DeepEqual(one, other) || asYAML.code != exitPlaced || asYAML.stderr != asJSON.stderr {
		t.Errorf("as YAML:\n%s\nas JSON:\n%s", asYAML.stdout, asJSON.stdout)
	}
	first := decode[consolidationDocument](t, asJSON)
	if first.APIVersion != "simulate.drawknife.dev/v1" || first.Kind != "ConsolidationPlan" || len(first.Digest) != 32 {
		t.Errorf("%s %s with digest %q", first.APIVersion, first.Kind, first.Digest)
	}
	again := decode[consolidationDocument](t, simulate(t, "", "testdata/fleet", "--now", "2026-05-04T10:05:00Z", "--consolidate", "-o", "json"))
	if again.Digest != first.Digest || again.Commands[0].ID == first.Commands[0].ID || again.Commands[0].Digest != first.Commands[0].Digest {
		t.Errorf("five minutes later the digest is %s, before %s", again.Digest, first.Digest)
	}
	less := decode[consolidationDocument](t, simulate(t, "", fleet("--consolidate", "-o", "json", "--disruption-min-saving", "1000")...))
	if less.Digest == first.Digest || less.Summary.EvictionCost != 0 || first.Summary.EvictionCost <= 0 {
		t.Errorf("a plan that does less has the digest %s; evictions are worth %v, of the whole plan %v", less.Digest, less.Summary.EvictionCost, first.Summary.EvictionCost)
	}
	free := decode[consolidationDocument](t, simulate(t, "", fleet("--consolidate", "-o", "json", "--disruption-price", "0")...))
	if free.Summary.EvictionCost != 0 {
		t.Errorf("pods that are worth nothing cost %v", free.Summary.EvictionCost)
	}
}

// Other answers come as YAML, too.
func TestOutputAsYAML(t *testing.T) {
	for _, args := range [][]string{{"testdata/deployment.yaml"}, fleet("--diff", "testdata/otherpools.yaml")} {
		a := simulate(t, "", append(args, "-o", "yaml")...)
		var d map[string]any
		if err := yaml.UnmarshalStrict([]byte(a.stdout), &d); err != nil || d["summary"] == nil || strings.HasPrefix(a.stdout, "{") {
			t.Errorf("%q: %v\n%s", args, err, a.stdout)
		}
	}
}

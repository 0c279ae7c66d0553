package simulate

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// requestFor asks for workers of two cores.
func requestFor(name, class string, workers string) string {
	return "---\n{apiVersion: autoscaling.x-k8s.io/v1, kind: ProvisioningRequest, metadata: {name: " + name + "}, spec: {provisioningClassName: " + class +
		", podSets: [{podTemplateRef: {name: worker}, count: " + workers + "}]}}\n"
}

const requestNodes = "{apiVersion: v1, kind: PodTemplate, metadata: {name: worker}, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}}\n" +
	"---\n{apiVersion: v1, kind: Node, metadata: {name: node, labels: {kubernetes.io/arch: amd64, kubernetes.io/os: linux}}, status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}, capacity: {cpu: 4, memory: 16Gi, pods: 110}}}\n"

// The exit status says whether all requests have room, as it does of pods.
func TestRequestsExitStatus(t *testing.T) {
	for name, c := range map[string]struct {
		request string
		code    int
	}{
		"room":             {requestFor("r", "check-capacity.autoscaling.x-k8s.io", "2"), exitPlaced},
		"no room":          {requestFor("r", "check-capacity.autoscaling.x-k8s.io", "3"), exitUnschedulable},
		"room if launched": {requestFor("r", "best-effort-atomic-scale-up.autoscaling.x-k8s.io", "3"), exitPlaced},
		"no template":      {strings.Replace(requestFor("r", "plan.drawknife.dev", "3"), "worker", "other", 1), exitUnschedulable},
	} {
		if a := simulate(t, requestNodes+c.request, "-"); a.code != c.code {
			t.Errorf("%s: exit status %d, want %d\n%s%s", name, a.code, c.code, a.stdout, a.stderr)
		}
	}
}

// Requests of other classes are named, and so are pods that nothing is launched for.
func TestRequestsOfOthers(t *testing.T) {
	pods := "---\n{apiVersion: v1, kind: Pod, metadata: {name: w, annotations: {autoscaling.x-k8s.io/consume-provisioning-request: r}}, spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}\n"
	d := simulate(t, requestNodes+requestFor("q", "queued.example.com", "3")+requestFor("r", "check-capacity.autoscaling.x-k8s.io", "9")+pods, "-", "-o", "json").plan(t)
	said := map[string]string{}
	for _, n := range d.Notes {
		said[n.Code] = n.Message
	}
	if !strings.Contains(said["RequestNotAnswered"], "default/q is of class queued.example.com") || !strings.Contains(said["PodHeldBack"], "pod default/w waits") {
		t.Errorf("notes: %v", said)
	}
	if len(d.Requests) != 1 || d.Requests[0].Name != "default/r" || d.Summary.NewNodes != 0 {
		t.Errorf("requests %+v, %d new nodes", d.Requests, d.Summary.NewNodes)
	}
}

// A saved snapshot makes the same plan: what requests hold and ask for is part of it.
func TestRequestsSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "snapshot.yaml")
	input := requestNodes + requestFor("c", "check-capacity.autoscaling.x-k8s.io", "1") + requestFor("r", "best-effort-atomic-scale-up.autoscaling.x-k8s.io", "3")
	first := simulate(t, input, "-", "--catalog", smallCatalog, "--save-snapshot", file, "-o", "json").plan(t)
	again := simulate(t, "", "--snapshot", file, "-o", "json").plan(t)
	if diff := cmp.Diff(first.Nodes, again.Nodes); diff != "" || len(first.Nodes) == 0 {
		t.Errorf("%d new nodes (-first +again):\n%s", len(first.Nodes), diff)
	}
}

// Consolidation leaves room alone that is booked.
func TestRequestsHoldNodes(t *testing.T) {
	pool := "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {disruption: {consolidateAfter: 0s}, template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.xlarge]}]}}}}\n" +
		"---\n{apiVersion: v1, kind: Node, metadata: {name: spare, labels: {karpenter.sh/nodepool: p, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true', node.kubernetes.io/instance-type: m5.xlarge, " +
		"topology.kubernetes.io/zone: us-east-1a, karpenter.sh/capacity-type: on-demand, kubernetes.io/arch: amd64, kubernetes.io/os: linux}}, status: {conditions: [{type: Ready, status: 'True'}], allocatable: {cpu: 4, memory: 14Gi, pods: 58}, capacity: {cpu: 4, memory: 16Gi, pods: 58}}}\n"
	for status, want := range map[string]bool{
		"": true,
		", status: {conditions: [{type: Provisioned, status: 'True', lastTransitionTime: '2026-01-01T12:00:00Z'}], provisioningClassDetails: {booking: \"spare 2\\n\"}}": false,
	} {
		request := strings.TrimSuffix(requestFor("r", "check-capacity.autoscaling.x-k8s.io", "2"), "}\n") + status + "}\n"
		a := simulate(t, requestNodes+pool+request, "-", "--consolidate", "--now", "2026-01-01T12:01:00Z", "-o", "json")
		var d consolidationDocument
		if err := json.Unmarshal([]byte(a.stdout), &d); err != nil {
			t.Fatalf("%v\n%s%s", err, a.stdout, a.stderr)
		}
		removed := len(d.Commands) > 0
		if removed != want {
			t.Errorf("booked %t: the node is removed: %t\n%s", status != "", removed, a.stdout)
		}
		if !strings.Contains(a.stdout, "RequestsNotAnswered") {
			t.Errorf("nothing is said of requests:\n%s", a.stdout)
		}
	}
}

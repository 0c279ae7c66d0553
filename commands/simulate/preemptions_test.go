package simulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// crowded is a node that pods of low priority fill, and so many pods of high priority that wait.
func crowded(waiting int) string {
	var b strings.Builder
	pod := func(name, place string, priority, cpu int) {
		fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: %s}, spec: {%spriority: %d, containers: [{name: c, resources: {requests: {cpu: %d}}}]}}\n",
			name, place, priority, cpu)
	}
	b.WriteString("{apiVersion: v1, kind: Node, metadata: {name: full, labels: {kubernetes.io/hostname: full, kubernetes.io/arch: amd64, kubernetes.io/os: linux, topology.kubernetes.io/zone: us-east-1a}}, " +
		"status: {capacity: {cpu: 16, memory: 64Gi, pods: 110}, allocatable: {cpu: 16, memory: 64Gi, pods: 110}}}\n")
	for i := range 16 {
		pod(fmt.Sprintf("batch-%02d", i), "nodeName: full, ", 0, 1)
	}
	for i := range waiting {
		pod(fmt.Sprintf("web-%02d", i), "", 1000, 1)
	}
	return b.String()
}

// For whom kube-scheduler makes room itself is said, in text and in JSON, and only then.
func TestPreemptionsAreTold(t *testing.T) {
	d := simulate(t, crowded(1), "-", "-o", "json").plan(t)
	if diff := cmp.Diff([]preemption{{Pod: "shop/web-00", Node: "full", Victims: []string{"shop/batch-15"}}}, d.Preemptions); diff != "" || d.Summary.NewNodes != 1 {
		t.Errorf("%d new nodes (-want +got):\n%s", d.Summary.NewNodes, diff)
	}
	text := simulate(t, crowded(12), "-").stdout
	if n := strings.Count(text, " preempts "); !strings.Contains(text, "kube-scheduler may preempt others for 12 pods:\n") || n != 10 || !strings.Contains(text, "and 2 more (--verbose lists them)\n") {
		t.Errorf("%d preemptions listed in:\n%s", n, text)
	}
	if text := simulate(t, crowded(12), "-", "--verbose").stdout; strings.Count(text, " preempts ") != 12 {
		t.Errorf("not all listed:\n%s", text)
	}
	if text := simulate(t, crowded(12), "-", "--preemption", "expect").stdout; !strings.Contains(text, "No node is planned for 12 pods, for which kube-scheduler preempts others:\n") {
		t.Errorf("that no node is planned is not said:\n%s", text)
	}
	if quiet := simulate(t, crowded(0)+"---\n{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}\n", "-").stdout; strings.Contains(quiet, "preempt") {
		t.Errorf("nobody preempts in:\n%s", quiet)
	}
}

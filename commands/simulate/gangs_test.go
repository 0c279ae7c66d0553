package simulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gangsOf are PodGroups with four pods each, all of which they need in one zone, for a pool with room for so many cores.
func gangsOf(groups, cores int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: batch}, spec: {limits: {cpu: %d}, template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, "+
		"requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.xlarge]}, {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}}\n", cores)
	for g := range groups {
		fmt.Fprintf(&b, "---\n{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: train-%02d}, spec: {schedulingPolicy: {gang: {minCount: 4}}, schedulingConstraints: {topology: [{key: topology.kubernetes.io/zone}]}}}\n", g)
		for i := range 4 {
			fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: Pod, metadata: {name: train-%02d-%d}, spec: {schedulingGroup: {podGroupName: train-%02d}, containers: [{name: c, resources: {requests: {cpu: 3}}}]}}\n", g, i, g)
		}
	}
	return b.String()
}

// A gang has a row, in text and in JSON: where it is placed, or why not.
func TestGangsAreShown(t *testing.T) {
	d := simulate(t, gangsOf(2, 24), "-", "-o", "json").plan(t)
	if len(d.Gangs) != 2 || d.Summary.NewNodes != 4 || d.Summary.Unschedulable != 4 {
		t.Fatalf("%+v, gangs %+v", d.Summary, d.Gangs)
	}
	zone := d.Nodes[0].Zone
	if diff := cmp.Diff(gang{Name: "default/train-00", Members: 4, Minimum: 4, Placed: 4, Domains: map[string]string{"topology.kubernetes.io/zone": zone}}, d.Gangs[0]); diff != "" {
		t.Errorf("placed (-want +got):\n%s", diff)
	}
	if g := d.Gangs[1]; g.Placed != 0 || g.Code != "DomainsForbidden" || !strings.Contains(g.Message, "2 of 4 members fit") || !strings.Contains(g.Message, "if limit cpu were raised by 8") {
		t.Errorf("not placed: %+v", g)
	}
	text := strings.Join(strings.Fields(simulate(t, gangsOf(2, 24), "-").stdout), " ")
	for _, want := range []string{
		"2 gangs, placed whole or not at all gang default/train-01 has no place: 2 of 4 members fit",
		"gang default/train-00 is placed with 4 of 4 members in topology.kubernetes.io/zone=" + zone,
		"Not placed: 4 pods",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if text := simulate(t, gangsOf(25, 0), "-").stdout; !strings.Contains(text, "and 5 more (--verbose lists them)") {
		t.Errorf("the list is not cut short:\n%s", text)
	}
}

package simulate

import (
	"strings"
	"testing"
)

// The controller's settings of instance types are flags here, by the same names, and count.
func TestInstanceTypeFlags(t *testing.T) {
	const pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [TYPE]}]}}}\n---\n"
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, resources: {requests: REQUESTS, limits: REQUESTS}}]}\n"
	for _, c := range []struct {
		name, instanceType, requests string
		flags                        []string
		without                      int
	}{
		{"a part of a GPU", "g6f.large", "{nvidia.com/gpu: 1}", []string{"--fractional-gpus"}, exitUnschedulable},
		{"huge pages", "m5.large", "{memory: 64Mi, hugepages-2Mi: 256Mi}", []string{"--huge-pages", "hugepages-2Mi=512Mi"}, exitUnschedulable},
		{"branch interfaces", "m5.large", "{vpc.amazonaws.com/pod-eni: 1}", nil, exitPlaced},
	} {
		input := strings.Replace(pool, "TYPE", c.instanceType, 1) + strings.ReplaceAll(pod, "REQUESTS", c.requests)
		if a := simulate(t, input, "-"); a.code != c.without {
			t.Errorf("%s, no flag: status %d\n%s%s", c.name, a.code, a.stdout, a.stderr)
		}
		if a := simulate(t, input, append([]string{"-"}, c.flags...)...); a.code != exitPlaced {
			t.Errorf("%s, %v: status %d\n%s%s", c.name, c.flags, a.code, a.stdout, a.stderr)
		}
	}
	branches := strings.Replace(pool, "TYPE", "m5.large", 1) + strings.ReplaceAll(pod, "REQUESTS", "{vpc.amazonaws.com/pod-eni: 1}")
	if a := simulate(t, branches, "-", "--without-pod-eni"); a.code != exitUnschedulable {
		t.Errorf("without branch interfaces: status %d\n%s", a.code, a.stdout)
	}
	many := strings.Replace(pool, "TYPE", "m5.large", 1) + strings.Repeat("---\n", 1)
	for i := range 60 {
		many += strings.Replace(strings.ReplaceAll(pod, "REQUESTS", "{cpu: 1m}"), "name: a}", "name: p"+number(i)+"}", 1) + "---\n"
	}
	few, lots := simulate(t, many, "-", "-o", "json").plan(t), simulate(t, many, "-", "-o", "json", "--vpc-cni-prefix-delegation").plan(t)
	if len(few.Nodes) != 3 || len(lots.Nodes) != 1 {
		t.Errorf("60 pods take %d nodes, with prefixes %d", len(few.Nodes), len(lots.Nodes))
	}
	for _, args := range [][]string{{"--huge-pages", "x"}, {"--device-resources", "U30=-"}, {"--snapshot", "x.yaml", "--fractional-gpus"}} {
		if a := simulate(t, "", args...); a.code != exitInput {
			t.Errorf("%v: status %d: %s", args, a.code, a.stderr)
		}
	}
}

// A NodePool that requires dedicated tenancy, or whose EC2NodeClass chooses it, is planned at its price. Types that run on no Dedicated Host are
// not planned for one.
func TestDedicatedHardware(t *testing.T) {
	const pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: [" +
		"{key: node.kubernetes.io/instance-type, operator: In, values: [TYPE]}, {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}TENANCY]}}}\n---\n" +
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n---\n"
	const class = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: d}\nspec: {role: r, amiSelectorTerms: [{alias: al2023@latest}], subnetSelectorTerms: [{id: subnet-0123456789abcdef0}], " +
		"securityGroupSelectorTerms: [{id: sg-0123456789abcdef0}], placement: {tenancy: TENANCY}}\n"
	required := strings.Replace(pool, "TENANCY", ", {key: karpenter.k8s.aws/instance-tenancy, operator: In, values: [dedicated]}", 1)
	open := strings.Replace(pool, "TENANCY", "", 1)
	for _, c := range []struct {
		name, input, instanceType, cost string
		code                            int
	}{
		{"shared", open, "m5.large", "$0.0960/h", exitPlaced},
		{"required by the pool", required, "m5.large", "$0.1056/h", exitPlaced},
		{"chosen by the class", open + strings.Replace(class, "TENANCY", "dedicated", 1), "m5.large", "$0.1056/h", exitPlaced},
		{"on hosts", open + strings.Replace(class, "TENANCY", "host", 1), "m5.large", "$0.1056/h", exitPlaced},
		{"on hosts that do not have it", open + strings.Replace(class, "TENANCY", "host", 1), "m5a.large", "", exitUnschedulable},
	} {
		a := simulate(t, strings.Replace(c.input, "TYPE", c.instanceType, 1), "-")
		if a.code != c.code || !strings.Contains(a.stdout, c.cost) {
			t.Errorf("%s: status %d, want %d and %q in\n%s%s", c.name, a.code, c.code, c.cost, a.stdout, a.stderr)
		}
	}
}

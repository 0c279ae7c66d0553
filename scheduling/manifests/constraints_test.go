package manifests

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPodsWithoutContainersAreRefused(t *testing.T) {
	const (
		rule = "Required value: a pod needs at least one container; add it, or see whether the text was cut off here"
		init = "initContainers: [{name: i}]"
	)
	for name, c := range map[string]struct{ text, want string }{
		"pod without spec": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
			"in.yaml: document 1, line 1: Pod default/a: spec.containers: " + rule,
		},
		"pod with init containers only": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {" + init + "}\n",
			"in.yaml: document 1, line 4: Pod default/a: spec.containers: " + rule,
		},
		"empty list": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  nodeName: n1\n  containers: []\n",
			"in.yaml: document 1, line 6: Pod default/a: spec.containers: " + rule,
		},
		"text cut off inside the template": {
			"kind: Secret\napiVersion: v1\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replicas: 3\n" +
				"  template:\n    metadata: {labels: {app: a}}\n    spec:\n",
			"in.yaml: document 2, line 11: Deployment default/a: spec.template.spec.containers: " + rule,
		},
		"StatefulSet":  {"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\n", "in.yaml: document 1, line 1: StatefulSet default/a: spec.template.spec.containers: " + rule},
		"ReplicaSet":   {"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a}\n", "in.yaml: document 1, line 1: ReplicaSet default/a: spec.template.spec.containers: " + rule},
		"DaemonSet":    {"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\n", "in.yaml: document 1, line 1: DaemonSet default/a: spec.template.spec.containers: " + rule},
		"Job":          {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n", "in.yaml: document 1, line 1: Job default/a: spec.template.spec.containers: " + rule},
		"CronJob":      {"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\n", "in.yaml: document 1, line 1: CronJob default/a: spec.jobTemplate.spec.template.spec.containers: " + rule},
		"PodTemplate":  {"apiVersion: v1\nkind: PodTemplate\nmetadata: {name: a}\n", "in.yaml: document 1, line 1: PodTemplate default/a: template.spec.containers: " + rule},
		"RC, empty":    {"apiVersion: v1\nkind: ReplicationController\nmetadata: {name: a}\nspec: {template: {}}\n", "in.yaml: document 1, line 4: ReplicationController default/a: spec.template.spec.containers: " + rule},
		"RC, cut off":  {"apiVersion: v1\nkind: ReplicationController\nmetadata: {name: a}\nspec:\n  template:\n", "in.yaml: document 1, line 5: ReplicationController default/a: spec.template: Required value: must say what its pods are; add it, or see whether the text was cut off here"},
		"item of JSON": {"{\"kind\":\"List\",\"apiVersion\":\"v1\",\n\"items\":[\n{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}]}", "in.yaml: document 1, item 1, line 3: Pod default/a: spec.containers: " + rule},
	} {
		t.Run(name, func(t *testing.T) { wantProblems(t, c.text, c.want) })
	}
}

// wantProblems wants the text refused with just these problems, each of them of a rule that was broken.
func wantProblems(t *testing.T, text string, want ...string) {
	t.Helper()
	refused := refusal(t, Options{}, Source{"in.yaml", []byte(text)})
	for _, p := range refused.Problems {
		if p.Code != ProblemInvalid {
			t.Errorf("code %s, want %s", p.Code, ProblemInvalid)
		}
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), refused.Error()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestImpossibleSpreadsAndAffinitiesAreRefused(t *testing.T) {
	const (
		key     = `Required value: must name a label of nodes, such as "topology.kubernetes.io/zone"`
		zero    = "must be greater than zero; 1 spreads most evenly"
		actions = `supported values: "DoNotSchedule", "ScheduleAnyway"`
		domains = "must be greater than zero; leave it out to ask for no number of domains"
		spread  = "topologySpreadConstraints[1]."
		fine    = "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}"
	)
	spreads := func(fields string) string { return "topologySpreadConstraints: [" + fine + ", {" + fields + "}]" }
	for name, c := range map[string]struct{ spec, path, want string }{
		"no skew":        {spreads("topologyKey: z, whenUnsatisfiable: DoNotSchedule"), spread + "maxSkew", "Invalid value: 0: " + zero},
		"negative skew":  {spreads("maxSkew: -2, topologyKey: z, whenUnsatisfiable: DoNotSchedule"), spread + "maxSkew", "Invalid value: -2: " + zero},
		"no action":      {spreads("maxSkew: 1, topologyKey: z"), spread + "whenUnsatisfiable", `Unsupported value: "": ` + actions},
		"unknown action": {spreads("maxSkew: 1, topologyKey: z, whenUnsatisfiable: Never"), spread + "whenUnsatisfiable", `Unsupported value: "Never": ` + actions},
		"no key":         {spreads("maxSkew: 1, whenUnsatisfiable: ScheduleAnyway"), spread + "topologyKey", key},
		"no domains": {
			spreads("maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, minDomains: 0"), spread + "minDomains", "Invalid value: 0: " + domains,
		},
		"domains that are only wished for": {
			spreads("maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2"), spread + "minDomains",
			"Invalid value: 2: goes with whenUnsatisfiable DoNotSchedule only; leave out one of the two",
		},
		"required affinity": {
			"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z}, {labelSelector: {}}]}}",
			"affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].topologyKey", key,
		},
		"preferred affinity": {
			"affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {labelSelector: {}}}]}}",
			"affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey", key,
		},
		"required anti-affinity": {
			"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}}]}}",
			"affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey", key,
		},
		"preferred anti-affinity": {
			"affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {labelSelector: {}}}]}}",
			"affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey", key,
		},
	} {
		t.Run(name, func(t *testing.T) {
			wantProblems(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: x}]\n  "+c.spec+"\n",
				"in.yaml: document 1, line 6: Pod default/a: spec."+c.path+": "+c.want)
			wantProblems(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n      containers: [{name: x}]\n      "+c.spec+"\n",
				"in.yaml: document 1, line 8: Deployment default/a: spec.template.spec."+c.path+": "+c.want)
		})
	}
}

func TestSpreadsAndAffinitiesOfTheAPIAreAccepted(t *testing.T) {
	result := load(t, simplePod("a", `
		  topologySpreadConstraints:
		  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3, labelSelector: {}}
		  - {maxSkew: 5, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}
		  affinity:
		    podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {}}]}
		    podAntiAffinity:
		      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone, labelSelector: {}}}]
	`))
	wantPods(t, result.Snapshot.Pods, "default/a")
	wantNoWarnings(t, result)
}

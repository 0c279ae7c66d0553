package simulate

import (
	"os"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/examples/settings"
)

// firstGeneration is a Provisioner of one type and a hundred pods that hardly ask for anything.
const firstGeneration = `apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: old}
spec:
  providerRef: {name: old}
  requirements:
  - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}
  - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
---
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: old}
spec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: many, namespace: shop}
spec:
  replicas: 100
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1m, memory: 1Mi}}}]}
`

func configMapText(name, data string) string {
	return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: karpenter}\ndata: {" + data + "}\n"
}

// SET-019, SET-020, SET-022, SET-133, SET-164, SET-179: what the ConfigMap of the input says of nodes counts, and is told of.
func TestGlobalSettings(t *testing.T) {
	for name, c := range map[string]struct {
		data  string
		nodes int
		says  []string
	}{
		"none of it":  {`aws.clusterName: demo`, 4, []string{"note: ConfigMap karpenter/karpenter-global-settings: is of no bearing on planning: aws.clusterName"}},
		"pod density": {`aws.enableENILimitedPodDensity: "false"`, 1, []string{"planning heeds aws.enableENILimitedPodDensity false"}},
		"reserved":    {`aws.reservedENIs: "1"`, 5, []string{"planning heeds aws.reservedENIs 1"}},
		"unknown key": {`aws.reserveENIs: "1"`, 4, []string{"standard input: document 4", "W701 (file): unknown settings key aws.reserveENIs ignored"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := simulate(t, firstGeneration+configMapText(settings.GlobalSettingsName, c.data), "-", "-o", "json")
			if got := a.plan(t).Summary.NewNodes; got != c.nodes {
				t.Errorf("%d nodes, want %d: %s", got, c.nodes, a.stderr)
			}
			for _, says := range c.says {
				if !strings.Contains(a.stderr, says) {
					t.Errorf("standard error lacks %q:\n%s", says, a.stderr)
				}
			}
			if !strings.Contains(a.stdout, `"object": "ConfigMap karpenter/karpenter-global-settings"`) {
				t.Error("the notes of the document lack it")
			}
		})
	}
}

// SET-022, SET-121: a pod that fills a node but for what the hypervisor is known to keep has no place on one that keeps more.
func TestGlobalSettingsOfMemory(t *testing.T) {
	pods := strings.Replace(strings.Replace(firstGeneration, "memory: 1Mi", "memory: 6500Mi", 1), "replicas: 100", "replicas: 2", 1)
	for data, want := range map[string]int{`aws.vmMemoryOverheadPercent: "0.05"`: exitPlaced, `aws.vmMemoryOverheadPercent: "0.25"`: exitUnschedulable} {
		if a := simulate(t, pods+configMapText(settings.GlobalSettingsName, data), "-"); a.code != want || !strings.Contains(a.stderr, "planning heeds aws.vmMemoryOverheadPercent") {
			t.Errorf("%s: exit status %d, want %d: %s", data, a.code, want, a.stderr)
		}
	}
}

// SET-018, SET-132: machines of Provisioners have branch interfaces for pods only where that was switched on.
func TestGlobalSettingsOfPodENI(t *testing.T) {
	pods := strings.Replace(firstGeneration, "memory: 1Mi", "memory: 1Mi, vpc.amazonaws.com/pod-eni: 1}, limits: {vpc.amazonaws.com/pod-eni: 1", 1)
	for data, want := range map[string]int{`aws.enablePodENI: "true"`: exitPlaced, `aws.clusterName: demo`: exitUnschedulable} {
		if a := simulate(t, pods+configMapText(settings.GlobalSettingsName, data), "-"); a.code != want {
			t.Errorf("%s: exit status %d, want %d: %s", data, a.code, want, a.stderr)
		}
	}
}

// SET-065, SET-161, SET-164, SET-167: what can't be is refused with its place, keys that nobody knows with --strict; what
// means nothing without a Provisioner is warned of, and how Karpenter logged is passed over.
func TestGlobalSettingsRefusedAndIgnored(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		args []string
		code int
		says []string
	}{
		"not a number and not a boolean": {firstGeneration + configMapText(settings.GlobalSettingsName, `aws.reservedENIs: "-1", aws.enablePodENI: maybe`), nil, exitInput, []string{
			"standard input: document 4, line 28: ConfigMap karpenter/karpenter-global-settings: data: W706 (file): aws.enablePodENI: ", `W706 (file): aws.reservedENIs: "-1"`}},
		"unknown key, strictly": {firstGeneration + configMapText(settings.GlobalSettingsName, `aws.reserveENIs: "1"`), []string{"--strict"}, exitInput, []string{"--strict: unknown settings aws.reserveENIs"}},
		"two of them": {firstGeneration + configMapText(settings.GlobalSettingsName, "a: b") + strings.Replace(configMapText(settings.GlobalSettingsName, "a: b"), "namespace: karpenter", "namespace: other", 1), nil, exitInput,
			[]string{"ConfigMap other/karpenter-global-settings: data: namespace karpenter also has this ConfigMap"}},
		"values that are no text": {firstGeneration + configMapText(settings.GlobalSettingsName, "aws.reservedENIs: 1"), nil, exitInput, []string{"data[aws.reservedENIs]"}},
		"of another kind of use":  {firstGeneration + configMapText("other", "a: 1"), nil, exitPlaced, []string{"skipped 1 object of kinds that planning does not read: ConfigMap x1"}},
		"logging":                 {firstGeneration + configMapText(settings.LoggingConfigName, "loglevel.controller: debug"), nil, exitPlaced, []string{"ConfigMap karpenter/config-logging says how Karpenter logged"}},
		"without a Provisioner": {configMapText(settings.GlobalSettingsName, `aws.enablePodENI: "true"`), []string{"testdata/deployment.yaml"}, exitPlaced,
			[]string{"warning: standard input: document 1", "W704 (file): aws.enablePodENI has no effect since Karpenter 0.32"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := simulate(t, c.in, append(c.args, "-")...)
			if a.code != c.code {
				t.Errorf("exit status %d, want %d", a.code, c.code)
			}
			for _, says := range c.says {
				if !strings.Contains(a.stderr, says) {
					t.Errorf("standard error lacks %q:\n%s", says, a.stderr)
				}
			}
		})
	}
}

// Knative and Tekton also have a ConfigMap config-logging, with the same keys. It is an object like others that planning does not read.
func TestLoggingConfigOfOthers(t *testing.T) {
	logging := func(metadata string) string {
		return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: config-logging, " + metadata + "}\ndata: {loglevel.controller: info, zap-logger-config: \"{}\"}\n"
	}
	global := strings.Replace(configMapText(settings.GlobalSettingsName, "aws.clusterName: demo"), "namespace: karpenter", "namespace: infra", 1)
	const said, skipped = "says how Karpenter logged", "skipped 1 object of kinds that planning does not read: ConfigMap x1"
	for name, c := range map[string]struct {
		in, says, lacks string
	}{
		"Karpenter's namespace":      {logging("namespace: karpenter"), "ConfigMap karpenter/config-logging " + said, skipped},
		"Karpenter's label":          {logging("namespace: kube-system, labels: {app.kubernetes.io/name: karpenter}"), "ConfigMap kube-system/config-logging " + said, skipped},
		"namespace of its settings":  {logging("namespace: infra") + global, "ConfigMap infra/config-logging " + said, skipped},
		"another than its settings'": {logging("namespace: knative-serving") + global, skipped, said},
		"Knative":                    {logging("namespace: knative-serving, labels: {app.kubernetes.io/name: knative-serving}"), skipped, said},
		"Tekton":                     {logging("namespace: tekton-pipelines, labels: {app.kubernetes.io/part-of: tekton-pipelines}"), skipped, said},
		"no namespace":               {logging("labels: {}"), skipped, said},
	} {
		a := simulate(t, firstGeneration+c.in, "-")
		if a.code != exitPlaced || !strings.Contains(a.stderr, c.says) || strings.Contains(a.stderr, c.lacks) {
			t.Errorf("%s: exit status %d, %s", name, a.code, a.stderr)
		}
	}
}

// SET-036, SET-137: where drift is switched off no node is replaced for it, and --diff says that its answer is about drift.
func TestGlobalSettingsWithoutDrift(t *testing.T) {
	text, err := os.ReadFile("testdata/fleet/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const condition = "    - {type: Launched, status: \"True\", reason: Launched, lastTransitionTime: \"2026-05-01T08:00:00Z\"}\n"
	drifted := strings.ReplaceAll(string(text), condition, condition+strings.Replace(strings.Replace(condition, "type: Launched", "type: Drifted", 1), "reason: Launched", "reason: NodePoolDrifted", 1))
	off := configMapText(settings.GlobalSettingsName, `featureGates.driftEnabled: "false"`)
	for name, c := range map[string]struct {
		in    string
		drift bool
	}{"on": {drifted, true}, "off": {drifted + off, false}} {
		a := simulate(t, c.in, "-", "--now", "2026-05-04T10:00:00Z", "--consolidate", "-o", "json")
		d := decode[consolidationDocument](t, a)
		got := false
		for _, cmd := range d.Commands {
			got = got || cmd.Reason == "Drifted"
		}
		if got != c.drift {
			t.Errorf("drift %s: commands %+v", name, d.Commands)
		}
	}
	a := simulate(t, string(text)+off, "-", "--now", "2026-05-04T10:00:00Z", "--diff", "testdata/otherpools.yaml")
	if a.code != exitPlaced || !strings.Contains(a.stderr, "switches drift off") {
		t.Errorf("status %d: %s", a.code, a.stderr)
	}
}

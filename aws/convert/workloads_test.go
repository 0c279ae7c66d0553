package convert

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// API-338, API-339, API-367, API-412: pods that speak of nodes of old speak of those of today too.
func TestWorkloads(t *testing.T) {
	const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  template:
    metadata: {annotations: {karpenter.sh/do-not-evict: "true", a: b}}
    spec:
      nodeSelector: {karpenter.sh/provisioner-name: default}
      tolerations: [{key: karpenter.sh/disruption, operator: Equal, value: disrupting, effect: NoSchedule}]
      topologySpreadConstraints: [{topologyKey: karpenter.sh/provisioner-name, maxSkew: 1}]
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{matchExpressions: [{key: karpenter.sh/provisioner-name, operator: DoesNotExist}, {key: c, operator: Exists}]}]
          preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: karpenter.sh/provisioner-name, operator: In, values: [a]}]}}]
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: karpenter.sh/provisioner-name}]
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: karpenter.sh/provisioner-name}}]
`
	const want = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  template:
    metadata:
      annotations:
        a: b
        karpenter.sh/do-not-disrupt: "true"
    spec:
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - preference:
              matchExpressions:
              - key: karpenter.sh/nodepool
                operator: In
                values:
                - a
            weight: 1
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions:
              - key: karpenter.sh/provisioner-name
                operator: DoesNotExist
              - key: karpenter.sh/nodepool
                operator: DoesNotExist
              - key: c
                operator: Exists
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: karpenter.sh/nodepool
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - podAffinityTerm:
              topologyKey: karpenter.sh/nodepool
            weight: 1
      nodeSelector:
        karpenter.sh/nodepool: default
      tolerations:
      - effect: NoSchedule
        key: karpenter.sh/disruption
        operator: Equal
        value: disrupting
      - effect: NoSchedule
        key: karpenter.sh/disrupted
        operator: Exists
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: karpenter.sh/nodepool`
	documents := decode(t, deployment)
	r := Rewrite(documents, Options{Workloads: true})
	if diff := cmp.Diff(want, written(t, r)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := codes(r.Warnings); got != "W401 W401 W401 W401 W401 W401 W401 W516" {
		t.Error(got, r.Warnings)
	}
	again := Rewrite([]Document{{Object: r.Objects[0].Object}}, Options{Workloads: true})
	if diff := cmp.Diff(want, written(t, again)); diff != "" || len(again.Warnings) > 0 {
		t.Errorf("a second time:\n%s\n%v", diff, again.Warnings)
	}
	if beta := Rewrite(documents, Options{Workloads: true, Target: V1Beta1}); strings.Contains(written(t, beta), "karpenter.sh/disrupted") {
		t.Error("v1beta1 has no such taint")
	}
	for kind, path := range map[string]string{"Pod": "", "CronJob": "spec.jobTemplate.spec.template.", "Job": "spec.template.", "PodTemplate": "template."} {
		inner := "metadata: {annotations: {karpenter.sh/do-not-evict: 'true'}}"
		for _, name := range []string{"template", "spec", "jobTemplate", "spec"} {
			if strings.HasSuffix(path, name+".") {
				path = strings.TrimSuffix(path, name+".")
				inner = name + ": {" + inner + "}"
			}
		}
		if r := rewrite(t, "{apiVersion: v1, kind: "+kind+", "+inner+"}", Options{Workloads: true}); codes(r.Warnings) != "W401" {
			t.Errorf("%s: %v", kind, r.Warnings)
		}
	}
	if r := rewrite(t, "{apiVersion: v1, kind: Pod, spec: x, metadata: {annotations: {karpenter.sh/do-not-evict: 'false', karpenter.sh/do-not-disrupt: 'true'}}}", Options{Workloads: true}); !strings.Contains(written(t, r), `karpenter.sh/do-not-disrupt: "true"`) {
		t.Errorf("what was said in words of today is overruled:\n%s", written(t, r))
	}
}

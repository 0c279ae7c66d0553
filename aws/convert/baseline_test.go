package convert

import (
	"encoding/json"
	"strings"
	"testing"
)

// later has every field that v1 gained after its first release (API-024, API-184, API-190, API-202, API-214, API-064).
const later = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  replicas: 3
  limits: {nodes: "5"}
  disruption: {consolidationPolicy: Balanced, consolidateAfter: 0s, budgets: [{nodes: "1", reasons: [Drifted], schedule: "@daily", duration: 1h}]}
  template:
    spec:
      expireAfter: 720h
      terminationGracePeriod: 1h
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}
      requirements: [{key: a, operator: Exists, minValues: 2}]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  role: nodes
  amiSelectorTerms: [{ssmParameter: /a}]
  amiFamily: AL2023
  subnetSelectorTerms: [{id: subnet-1}]
  securityGroupSelectorTerms: [{name: a}]
  kubelet: {maxPods: 1}
  blockDeviceMappings: [{rootVolume: true, ebs: {snapshotID: snap-1, volumeInitializationRate: 100}}]
  capacityReservationSelectorTerms: [{tags: {a: b}, ownerID: "111122223333", instanceMatchCriteria: open}]
  ipPrefixCount: 1
  placementGroupSelector: {name: a}
  networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}]
  connectionTracking: {tcpEstablishedTimeout: 60, udpStreamTimeout: 60, udpTimeout: 30}
  cpuOptions: {nestedVirtualization: enabled}
`

// API-218: the types of v1 hold each field that some release has, so that none is lost: read strictly and written again, every
// value is there.
func TestHubHoldsLaterFields(t *testing.T) {
	documents, err := Decode(DecodeOptions{Strict: true}, Source{Name: "in.yaml", Data: []byte(later)})
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	for _, d := range documents {
		text, err := json.Marshal(d.Object)
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, string(text))
	}
	all := strings.Join(written, "\n")
	for _, want := range []string{
		`"replicas":3`, `"nodes":"5"`, `"Balanced"`, `"reasons":["Drifted"]`, `"terminationGracePeriod":"1h`, `"minValues":2`, `"ssmParameter":"/a"`,
		`"volumeInitializationRate":100`, `"ownerID":"111122223333"`, `"instanceMatchCriteria":"open"`, `"ipPrefixCount":1`, `"placementGroupSelector":{"name":"a"}`,
		`"interfaceType":"interface"`, `"udpTimeout":30`, `"nestedVirtualization":"enabled"`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is lost in\n%s", want, all)
		}
	}
}

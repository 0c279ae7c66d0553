package dra_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/dra"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// A NodePool, NVIDIA's class and Deployments whose pods claim GPUs, as kubectl prints them.
const nvidia = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec:
  selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: claim, namespace: default}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.nvidia.com
          count: COUNT
          selectors: [{cel: {expression: "SELECTOR"}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: inference, namespace: default}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: inference}}
  template:
    metadata: {labels: {app: inference}}
    spec:
      resourceClaims: [{name: gpus, resourceClaimTemplateName: claim}]
      containers: [{name: server, resources: {requests: {cpu: "2", memory: 4Gi}, claims: [{name: gpus}]}}]
`

// Claims of GPUs are planned on EC2's types by what NVIDIA's driver will publish there.
func TestClaimsOfNVIDIA(t *testing.T) {
	facts, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	types, err := instancetype.Resolve(facts, nil, instancetype.Options{DeviceDrivers: map[string]string{instancetype.DevicesNVIDIA: instancetype.NVIDIADriver}, Zones: []catalog.Zone{{Name: "us-east-1a"}}})
	if err != nil {
		t.Fatal(err)
	}
	matcher := dra.New()
	const gpu = `device.attributes['gpu.nvidia.com'].`
	const memory = `device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('%s')) >= 0`
	for _, c := range []struct {
		selector        string
		count, replicas int
		want            string // models of the new nodes, or what the reason says
	}{
		{"true", 1, 1, "t4"},
		{gpu + `productName.contains('L4')`, 1, 4, "l4"},
		{fmt.Sprintf(memory, "40Gi"), 1, 2, "l40s"},
		{gpu + `architecture == 'Ampere' && ` + fmt.Sprintf(memory, "40Gi"), 8, 1, "a100"},
		{gpu + `cudaComputeCapability.compareTo(semver('9.0.0')) >= 0`, 8, 1, "h100"},
		{gpu + `productName == 'NVIDIA A100-SXM4-40GB' && ` + fmt.Sprintf(memory, "80Gi"), 1, 1, "they have productName"},
		{gpu + `driverVersion.compareTo(semver('550.0.0')) >= 0`, 1, 1, "no such key: driverVersion"},
	} {
		t.Run(c.selector, func(t *testing.T) {
			text := strings.NewReplacer("COUNT", fmt.Sprint(c.count), "SELECTOR", c.selector, "REPLICAS", fmt.Sprint(c.replicas)).Replace(nvidia)
			loaded, err := manifests.Load([]manifests.Source{{Name: "in.yaml", Data: []byte(text)}}, manifests.Options{Kinds: convert.Kinds()})
			if err != nil {
				t.Fatal(err)
			}
			s := loaded.Snapshot
			s.Catalogs = map[string][]*cloudprovider.InstanceType{"ec2": types}
			for i := range s.NodePools {
				s.NodePools[i].Catalog = "ec2"
			}
			m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(matcher))
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Solve(context.Background(), scheduling.Query{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			placed := 0
			for _, n := range p.NewNodes {
				placed += len(n.Pods)
				for _, it := range types {
					if it.Name == n.InstanceTypes[0].Name {
						got = append(got, it.Requirements.Get(awsv1.LabelInstanceGPUName).Values()...)
						if gpus := len(it.Devices[0].Devices); gpus < c.count*len(n.Pods) {
							t.Errorf("%s has %d GPUs, planned are %d pods of %d", it.Name, gpus, len(n.Pods), c.count)
						}
						if q := it.Capacity[corev1.ResourceName("nvidia.com/gpu")]; !q.IsZero() {
							t.Errorf("%s has the device plugin's resource", it.Name)
						}
					}
				}
			}
			if placed == 0 {
				got = append(got, fmt.Sprint(p.Unschedulable[0].Reasons))
			}
			for _, g := range got {
				if !strings.Contains(g, c.want) {
					t.Errorf("got %s, want %s", g, c.want)
				}
			}
			if len(got) == 0 || placed != 0 && placed != c.replicas {
				t.Errorf("%d pods are placed: %v", placed, p.Unschedulable)
			}
		})
	}
}

package instancetype_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
)

func nodeClass(t testing.TB, manifest string) *awsv1.EC2NodeClass {
	t.Helper()
	var class awsv1.EC2NodeClass
	if err := yaml.UnmarshalStrict([]byte(manifest), &class); err != nil {
		t.Fatal(err)
	}
	return &class
}

// AWI-021: all of a class that resolution reads.
func TestSettingsOfANodeClass(t *testing.T) {
	class := nodeClass(t, `
metadata: {name: big}
spec:
  amiSelectorTerms: [{alias: bottlerocket@latest}]
  kubelet:
    maxPods: 200
    podsPerCore: 8
    systemReserved: {cpu: 100m}
    kubeReserved: {memory: 1Gi}
    evictionHard: {memory.available: 5%}
  blockDeviceMappings:
  - {deviceName: /dev/xvda, ebs: {volumeSize: 8Gi}}
  - {deviceName: /dev/xvdb, rootVolume: true, ebs: {volumeSize: 100G}}
  - {ebs: {snapshotID: snap-1}}
  instanceStorePolicy: RAID0
  ipPrefixCount: 3
  networkInterfaces:
  - {networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}
  - {networkCardIndex: 1, deviceIndex: 2, interfaceType: efa-only}
  connectionTracking: {udpTimeout: 40}
  cpuOptions: {nestedVirtualization: enabled}
  networkPerformanceOptions: {bandwidthWeighting: ebs-1}
status:
  subnets:
  - {id: subnet-1, zone: us-east-1c, zoneID: use1-az1}
  - {id: subnet-2, zone: us-east-1a}
  - {id: subnet-3, zone: us-east-1c, zoneID: use1-az1}
  - {id: subnet-4, zone: us-east-1-bos-1a}
  amis:
  - {id: ami-2, requirements: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}
  - id: ami-1
    requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}, {key: karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist}]
  - {id: ami-3, requirements: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}
`)
	got, err := instancetype.NewSettings(embedded(t), class, instancetype.Options{
		PlacementStrategy: "cluster", ReservedENIs: 1, VMMemoryOverheadPercent: ptr(0.05), DiscoveredMemory: map[string]int64{"m5.large": 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := instancetype.Settings{
		AMIFamily: awsv1.AMIFamilyBottlerocket,
		Images: [][]corev1.NodeSelectorRequirement{
			{{Key: awsv1.LabelInstanceGPUCount, Operator: corev1.NodeSelectorOpDoesNotExist}, {Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}}},
			{{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"arm64"}}},
		},
		Kubelet: instancetype.Kubelet{
			MaxPods:        ptr[int32](200),
			PodsPerCore:    ptr[int32](8),
			SystemReserved: map[string]string{"cpu": "100m"},
			KubeReserved:   map[string]string{"memory": "1Gi"},
			EvictionHard:   map[string]string{"memory.available": "5%"},
		},
		BlockDevices: []instancetype.BlockDevice{
			{DeviceName: "/dev/xvda", SizeBytes: 8 << 30}, {DeviceName: "/dev/xvdb", SizeBytes: 100_000_000_000, Root: true}, {},
		},
		InstanceStorePolicy:     awsv1.InstanceStorePolicyRAID0,
		NetworkInterfaces:       []instancetype.NetworkInterface{{}, {Card: 1, Device: 2, EFAOnly: true}},
		IPPrefixCount:           3,
		NestedVirtualization:    true,
		BandwidthWeighting:      awsv1.BandwidthWeightingEBS,
		ConnectionTracking:      true,
		PlacementStrategy:       "cluster",
		Zones:                   []catalog.Zone{{Name: "us-east-1a"}, {Name: "us-east-1c", ID: "use1-az1"}},
		VMMemoryOverheadPercent: ptr(0.05),
		ReservedENIs:            1,
		DiscoveredMemory:        map[string]int64{"m5.large": 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDefaultNodeClass(t *testing.T) {
	c := embedded(t)
	byNil, err := instancetype.NewSettings(c, nil, instancetype.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(instancetype.Settings{AMIFamily: awsv1.AMIFamilyAL2023}, byNil); diff != "" {
		t.Error(diff)
	}
	written, err := instancetype.NewSettings(c, nodeClass(t, "{metadata: {name: default}, spec: {amiSelectorTerms: [{alias: al2023@latest}]}}"), instancetype.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if byNil.Key() != written.Key() {
		t.Errorf("keys differ:\n%s\n%s", byNil.Key(), written.Key())
	}
}

func TestZonesOfOptionsGoBeforeTheClass(t *testing.T) {
	class := nodeClass(t, "{metadata: {name: x}, spec: {amiFamily: AL2}, status: {subnets: [{id: subnet-1, zone: eu-west-1a}]}}")
	zones := []catalog.Zone{{Name: "us-east-1a"}}
	s, err := instancetype.NewSettings(embedded(t), class, instancetype.Options{Zones: zones})
	if err != nil || !cmp.Equal(s.Zones, zones) {
		t.Errorf("zones are %v, error is %v", s.Zones, err)
	}
}

// AWI-082: soft eviction thresholds change nothing.
func TestSoftEvictionCountsForNothing(t *testing.T) {
	c := embedded(t)
	soft := nodeClass(t, `{metadata: {name: x}, spec: {amiFamily: AL2, kubelet: {evictionSoft: {memory.available: 50%}, evictionSoftGracePeriod: {memory.available: 1m}}}}`)
	plain := nodeClass(t, `{metadata: {name: x}, spec: {amiFamily: AL2}}`)
	with, err := instancetype.NewSettings(c, soft, instancetype.Options{})
	if err != nil {
		t.Fatal(err)
	}
	without, err := instancetype.NewSettings(c, plain, instancetype.Options{})
	if err != nil || with.Key() != without.Key() {
		t.Errorf("settings are %+v, %v", with, err)
	}
}

// AWI-023: a class that can't be used resolves to nothing, with the reason. AWI-084: expressions are such a reason.
func TestNodeClassesThatCannotBeUsed(t *testing.T) {
	for manifest, want := range map[string]string{
		`{metadata: {name: x}, spec: {kubelet: {maxPods: "vcpus * 10"}}}`:                                                                       `node class "x": kubelet.maxPods: must be a number, is the expression "vcpus * 10": expressions are not evaluated here`,
		`{metadata: {name: x}, spec: {kubelet: {kubeReserved: {cpu: "vcpus * 10"}}}}`:                                                           `node class "x": kubelet.kubeReserved[cpu]: must be a resource quantity, is "vcpus * 10"`,
		`{metadata: {name: x}, status: {amis: [{id: a, requirements: [{key: k, operator: Is}]}]}, spec: {}}`:                                    `node class "x": images[0][0]: key "k": unknown operator "Is": use In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte`,
		`{metadata: {name: x}, status: {subnets: [{id: a, zone: eu-west-1b}, {id: b, zone: eu-west-1a}, {id: c, zone: eu-west-1b}]}, spec: {}}`: `node class "x": status.subnets: are in zones eu-west-1a, eu-west-1b, of which the catalogue of region "us-east-1" has none: use the catalogue of their region`,
	} {
		types, err := instancetype.Resolve(embedded(t), nodeClass(t, manifest), instancetype.Options{})
		if err == nil || types != nil {
			t.Errorf("%s: resolved %d types", manifest, len(types))
			continue
		}
		if err.Error() != want {
			t.Errorf("error is\n%s\nwant\n%s", err, want)
		}
	}
}

func TestNoCatalogue(t *testing.T) {
	class := nodeClass(t, "{metadata: {name: x}, spec: {}, status: {subnets: [{id: a, zone: eu-west-1b}]}}")
	if types, err := instancetype.Resolve(nil, class, instancetype.Options{}); err == nil {
		t.Errorf("resolved %d types of nothing", len(types))
	}
}

// AWI-022: every input that changes the result changes the key.
func TestKeysTellSettingsApart(t *testing.T) {
	seen := map[string]int{}
	for i, s := range []instancetype.Settings{
		{},
		{AMIFamily: "AL2"},
		{Kubelet: instancetype.Kubelet{MaxPods: ptr[int32](0)}},
		{Kubelet: instancetype.Kubelet{PodsPerCore: ptr[int32](1)}},
		{Kubelet: instancetype.Kubelet{SystemReserved: map[string]string{"cpu": "1"}}},
		{Kubelet: instancetype.Kubelet{KubeReserved: map[string]string{"cpu": "1"}}},
		{Kubelet: instancetype.Kubelet{EvictionHard: map[string]string{"memory.available": "1"}}},
		{BlockDevices: []instancetype.BlockDevice{{SizeBytes: 1}}},
		{InstanceStorePolicy: "RAID0"},
		{NetworkInterfaces: []instancetype.NetworkInterface{}},
		{NetworkInterfaces: []instancetype.NetworkInterface{{}}},
		{IPPrefixCount: 1},
		{NestedVirtualization: true},
		{ConnectionTracking: true},
		{PlacementStrategy: "spread"},
		{Zones: []catalog.Zone{}},
		{Zones: []catalog.Zone{{Name: "a"}}},
		{Zones: []catalog.Zone{{Name: "a", ID: "b"}}},
		{VMMemoryOverheadPercent: ptr(0.0)},
		{ReservedENIs: 1},
		{DiscoveredMemory: map[string]int64{"m5.large": 1}},
		{Images: [][]corev1.NodeSelectorRequirement{{{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}}}}},
	} {
		if j, ok := seen[s.Key()]; ok {
			t.Errorf("settings %d and %d have the key %s", i, j, s.Key())
		}
		seen[s.Key()] = i
	}
}

// AWN-135, AWI-086: types that none of the class's images boots on are listed, and can't be had.
func TestTypesThatNoImageBootsOn(t *testing.T) {
	const amd64 = `{key: kubernetes.io/arch, operator: In, values: [amd64]}`
	for _, test := range []struct {
		name, amis string
		want       map[string]bool
	}{
		{"images not looked for yet", ``, map[string]bool{"m5.large": true, "m6g.large": true, "g5.xlarge": true}},
		{"one architecture", `[{id: a, requirements: [` + amd64 + `]}]`, map[string]bool{"m5.large": true, "m6g.large": false, "g5.xlarge": true}},
		{"standard images alone", `[{id: a, requirements: [` + amd64 + `, {key: karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist}]}]`,
			map[string]bool{"m5.large": true, "m6g.large": false, "g5.xlarge": false}},
		{"an image that asks for nothing", `[{id: a}]`, map[string]bool{"m5.large": true, "m6g.large": true, "g5.xlarge": true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			types, err := instancetype.Resolve(embedded(t), nodeClass(t, `{metadata: {name: x}, spec: {}, status: {amis: `+test.amis+`}}`), instancetype.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, it := range types {
				if _, asked := test.want[it.Name]; asked {
					got[it.Name] = it.Offerings[0].Available
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

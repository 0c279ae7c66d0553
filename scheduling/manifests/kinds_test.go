package manifests

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/kinds"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// kindCases has, for each kind that is read, an object and what shows that it arrived.
func kindCases() map[string]struct {
	text    string
	arrived func(*Result) bool
} {
	const meta = "metadata: {name: a}\n"
	return map[string]struct {
		text    string
		arrived func(*Result) bool
	}{
		"Pod": {
			"apiVersion: v1\nkind: Pod\n" + meta + "spec: {containers: [{name: x}]}\n",
			func(r *Result) bool { return r.Snapshot.Pods[0].Namespace == "default" },
		},
		"Node": {
			"apiVersion: v1\nkind: Node\n" + meta + "status: {capacity: {cpu: 4}}\n",
			func(r *Result) bool { return r.Snapshot.Nodes[0].Object.Status.Allocatable.Cpu().Value() == 4 },
		},
		"Namespace": {
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b, labels: {team: x}}\n",
			func(r *Result) bool {
				ns := r.Snapshot.Namespaces[0]
				return ns.Namespace == "" && ns.Labels["team"] == "x" && ns.Labels["kubernetes.io/metadata.name"] == "a"
			},
		},
		"Service": {
			"apiVersion: v1\nkind: Service\n" + meta + "spec: {selector: {app: x}}\n",
			func(r *Result) bool { return r.Snapshot.Services[0].Spec.Selector["app"] == "x" },
		},
		"PersistentVolume": {
			"apiVersion: v1\nkind: PersistentVolume\n" + meta + "spec: {capacity: {storage: 1Gi}}\n",
			func(r *Result) bool { return r.Snapshot.PersistentVolumes[0].Name == "a" },
		},
		"PersistentVolumeClaim": {
			"apiVersion: v1\nkind: PersistentVolumeClaim\n" + meta + "spec: {volumeName: pv}\n",
			func(r *Result) bool { return r.Snapshot.PersistentVolumeClaims[0].Spec.VolumeName == "pv" },
		},
		"StorageClass": {
			"apiVersion: storage.k8s.io/v1\nkind: StorageClass\n" + meta + "provisioner: x\n",
			func(r *Result) bool { return *r.Snapshot.StorageClasses[0].VolumeBindingMode == "Immediate" },
		},
		"CSINode": {
			"apiVersion: storage.k8s.io/v1\nkind: CSINode\n" + meta + "spec: {drivers: [{name: ebs, nodeID: i, allocatable: {count: 25}}]}\n",
			func(r *Result) bool { return *r.Snapshot.CSINodes[0].Spec.Drivers[0].Allocatable.Count == 25 },
		},
		"VolumeAttachment": {
			"apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\n" + meta + "spec: {attacher: ebs, nodeName: n-1, source: {persistentVolumeName: pv}}\n",
			func(r *Result) bool { return *r.Snapshot.VolumeAttachments[0].Spec.Source.PersistentVolumeName == "pv" },
		},
		"ResourceClaim": {
			"apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n" + meta + "spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}\n",
			func(r *Result) bool {
				return r.Snapshot.ResourceClaims[0].Spec.Devices.Requests[0].Exactly.DeviceClassName == "gpu.example.com"
			},
		},
		"ResourceClaimTemplate": {
			"apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n" + meta + "spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}\n",
			func(r *Result) bool {
				return r.Snapshot.ResourceClaimTemplates[0].Spec.Spec.Devices.Requests[0].Exactly.DeviceClassName == "gpu.example.com"
			},
		},
		"DeviceClass": {
			"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\n" + meta + "spec: {selectors: [{cel: {expression: \"true\"}}]}\n",
			func(r *Result) bool { return r.Snapshot.DeviceClasses[0].Spec.Selectors[0].CEL.Expression == "true" },
		},
		"ResourceSlice": {
			"apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\n" + meta + "spec: {driver: gpu.example.com, nodeName: node-1, pool: {name: node-1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}\n",
			func(r *Result) bool { return r.Snapshot.ResourceSlices[0].Spec.Devices[0].Name == "gpu-0" },
		},
		"PodDisruptionBudget": {
			"apiVersion: policy/v1\nkind: PodDisruptionBudget\n" + meta + "spec: {maxUnavailable: 50%}\n",
			func(r *Result) bool { return r.Snapshot.PodDisruptionBudgets[0].Spec.MaxUnavailable.StrVal == "50%" },
		},
		"DaemonSet": {
			"apiVersion: apps/v1\nkind: DaemonSet\n" + meta + "spec: {template: {spec: {containers: [{name: x, resources: {limits: {cpu: 1}}}]}}}\n",
			// SCH-150: limits stand in for requests in the template too.
			func(r *Result) bool {
				c := r.Snapshot.DaemonSets[0].Spec.Template.Spec.Containers[0]
				return c.Resources.Requests.Cpu().Value() == 1 && len(r.Snapshot.Pods) == 0
			},
		},
		"Deployment": {
			"apiVersion: apps/v1\nkind: Deployment\n" + meta + "spec: {template: {spec: {containers: [{name: x}]}}}\n",
			func(r *Result) bool { return r.Snapshot.Pods[0].Name == "a-0" },
		},
		"ReplicaSet": {
			"apiVersion: apps/v1\nkind: ReplicaSet\n" + meta + "spec: {replicas: 2, template: {spec: {containers: [{name: x}]}}}\n",
			func(r *Result) bool { return len(r.Snapshot.ReplicaSets) == 1 && len(r.Snapshot.Pods) == 2 },
		},
		"ReplicationController": {
			"apiVersion: v1\nkind: ReplicationController\n" + meta + "spec: {replicas: 2, template: {spec: {containers: [{name: x}]}}}\n",
			func(r *Result) bool { return len(r.Snapshot.ReplicationControllers) == 1 && len(r.Snapshot.Pods) == 2 },
		},
		"StatefulSet": {
			"apiVersion: apps/v1\nkind: StatefulSet\n" + meta + "spec: {replicas: 2, template: {spec: {containers: [{name: x}]}}}\n",
			func(r *Result) bool { return len(r.Snapshot.StatefulSets) == 1 && len(r.Snapshot.Pods) == 2 },
		},
		"Job": {
			"apiVersion: batch/v1\nkind: Job\n" + meta + "spec: {template: {spec: {containers: [{name: x}]}}}\n",
			func(r *Result) bool { return r.Snapshot.Pods[0].Labels["batch.kubernetes.io/job-name"] == "a" },
		},
		"CronJob": {
			"apiVersion: batch/v1\nkind: CronJob\n" + meta + "spec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: {containers: [{name: x}]}}}}}\n",
			func(r *Result) bool { return r.Snapshot.Pods[0].OwnerReferences[0].Kind == "Job" },
		},
		"LimitRange": {
			"apiVersion: v1\nkind: LimitRange\n" + meta + "spec: {limits: [{type: Container, defaultRequest: {cpu: 1}}]}\n---\n" +
				"apiVersion: v1\nkind: Pod\n" + meta + "spec: {containers: [{name: x}]}\n",
			func(r *Result) bool {
				return r.Snapshot.Pods[0].Spec.Containers[0].Resources.Requests.Cpu().Value() == 1
			},
		},
		"PriorityClass": {
			"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n" + meta + "value: 7\n---\n" +
				"apiVersion: v1\nkind: Pod\n" + meta + "spec: {priorityClassName: a, containers: [{name: x}]}\n",
			func(r *Result) bool { return *r.Snapshot.Pods[0].Spec.Priority == 7 },
		},
		"RuntimeClass": {
			"apiVersion: node.k8s.io/v1\nkind: RuntimeClass\n" + meta + "handler: x\noverhead: {podFixed: {cpu: 1}}\n---\n" +
				"apiVersion: v1\nkind: Pod\n" + meta + "spec: {runtimeClassName: a, containers: [{name: x}]}\n",
			func(r *Result) bool { return r.Snapshot.Pods[0].Spec.Overhead.Cpu().Value() == 1 },
		},
		"PodTemplate": {
			podTemplateOf("a", "cpu: 1") + bufferOf("b", "podTemplateRef: {name: a}, replicas: 1"),
			func(r *Result) bool { return r.Buffers[0].PodTemplate.Namespace == "default" },
		},
		"CapacityBuffer": {
			podTemplateOf("a", "cpu: 1") + bufferOf("b", "podTemplateRef: {name: a}, replicas: 1"),
			func(r *Result) bool {
				return r.Snapshot.Placeholders[0].Name == "capacity-buffer-b-0" && len(r.Snapshot.Pods) == 0
			},
		},
		"ProvisioningRequest": {
			podTemplateOf("a", "cpu: 1") + "---\napiVersion: autoscaling.x-k8s.io/v1\nkind: ProvisioningRequest\n" + meta +
				"spec: {provisioningClassName: plan.drawknife.dev, podSets: [{podTemplateRef: {name: a}, count: 2}]}\n",
			func(r *Result) bool {
				return r.Requests[0].Spec.PodSets[0].Count == 2 && r.Requests[0].Namespace == "default" && r.PodTemplates[0].Name == "a"
			},
		},
		"NodePool": {
			goodPool,
			func(r *Result) bool {
				p := r.Snapshot.NodePools[0]
				return p.Key == v1.NewPoolKey("general") && p.Object.Spec.Template.Spec.ExpireAfter.String() == "720h" && p.Object.Kind == "NodePool"
			},
		},
		"NodeClaim": {
			"apiVersion: karpenter.sh/v1\nkind: NodeClaim\n" + meta +
				"spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}\n",
			func(r *Result) bool {
				return r.Snapshot.Nodes[0].Claim.Name == "a" && r.Snapshot.Nodes[0].Object == nil
			},
		},
		"NodeOverlay": {
			"apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\n" + meta + "spec: {requirements: [], price: \"1.5\"}\n",
			func(r *Result) bool { return *r.Snapshot.NodeOverlays[0].Spec.Price == "1.5" },
		},
		"PodGroup": {
			"apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\n" + meta + "spec: {schedulingPolicy: {gang: {minCount: 3}}}\n" +
				"---\napiVersion: v1\nkind: Pod\n" + meta + "spec: {schedulingGroup: {podGroupName: a}, containers: [{name: x}]}\n",
			func(r *Result) bool { return r.Snapshot.Gangs[0].Minimum == 3 && len(r.Warnings) == 0 },
		},
		"Workload": {
			"apiVersion: scheduling.k8s.io/v1alpha1\nkind: Workload\n" + meta + "spec: {podGroups: [{name: g, policy: {gang: {minCount: 3}}}]}\n" +
				"---\napiVersion: v1\nkind: Pod\n" + meta + "spec: {workloadRef: {name: a, podGroup: g}, containers: [{name: x}]}\n",
			func(r *Result) bool { return r.Snapshot.Gangs[0].Name == "a-g" && r.Snapshot.Gangs[0].Minimum == 3 },
		},
		"CompositePodGroup": {
			"apiVersion: scheduling.k8s.io/v1alpha3\nkind: CompositePodGroup\n" + meta + "spec: {schedulingPolicy: {gang: {minGroupCount: 2}}}\n" +
				"---\napiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: part}\nspec: {parentCompositePodGroupName: a, schedulingPolicy: {basic: {}}}\n" +
				"---\napiVersion: v1\nkind: Pod\n" + meta + "spec: {schedulingGroup: {podGroupName: part}, containers: [{name: x}]}\n",
			func(r *Result) bool {
				return r.Snapshot.Gangs[0].Name == "a" && r.Snapshot.Gangs[0].Minimum == 2 && len(r.Warnings) == 0
			},
		},
		"Provisioner": {
			oldPool,
			func(r *Result) bool {
				p := r.Snapshot.NodePools[0]
				return p.Key == v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: "general"} && p.Object.Spec.Template.Spec.ExpireAfter.String() == "336h0m0s" && p.Object.Kind == "NodePool"
			},
		},
		"Machine": {
			"apiVersion: karpenter.sh/v1alpha5\nkind: Machine\n" + meta + "spec: {machineTemplateRef: {name: default}}\n",
			func(r *Result) bool {
				return r.Snapshot.Nodes[0].Claim.Name == "a" && r.Snapshot.Nodes[0].Object == nil
			},
		},
		"AWSNodeTemplate": {
			oldTemplate,
			func(r *Result) bool {
				return hopLimit(r.FirstNodeClasses[0]) == 2 && len(r.NodeClasses) == 0
			},
		},
		"EC2NodeClass": {
			goodNodeClass,
			func(r *Result) bool { return hopLimit(r.NodeClasses[0]) == 1 },
		},
	}
}

// hopLimit is that of an EC2NodeClass; 0 for any other.
func hopLimit(class kinds.NodeClass) int64 {
	if c, ok := class.(*awsv1.EC2NodeClass); ok {
		return *c.Spec.MetadataOptions.HTTPPutResponseHopLimit
	}
	return 0
}

const goodPool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
`

const goodNodeClass = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {discovery: x}}]
  securityGroupSelectorTerms: [{tags: {discovery: x}}]
`

func TestLoadReadsEachKind(t *testing.T) {
	cases := kindCases()
	for g := range newLoader(nil, onAWS(Options{})).kinds {
		if _, ok := cases[g.kind]; !ok {
			t.Errorf("kind %s has no case", g.kind)
		}
	}
	for kind, c := range cases {
		t.Run(kind, func(t *testing.T) {
			if result := load(t, c.text); !c.arrived(result) {
				t.Errorf("it did not arrive as it should: %+v", result.Snapshot)
			}
		})
	}
}

func TestLoadReadsOldVersions(t *testing.T) {
	const template = "spec: {template: {metadata: {labels: {app: x}}, spec: {containers: [{name: x}]}}}\n"
	for version, kind := range map[string]string{
		"extensions/v1beta1": "Deployment",
		"apps/v1beta1":       "Deployment",
		"apps/v1beta2":       "StatefulSet",
	} {
		t.Run(version, func(t *testing.T) {
			result := load(t, "apiVersion: "+version+"\nkind: "+kind+"\nmetadata: {name: a}\n"+template)
			wantWarning(t, result, WarningOldVersion)
			wantPods(t, result.Snapshot.Pods, "default/a-0")
		})
	}
}

func TestAnEmptySelectorOfAnOldBudgetSelectsNothing(t *testing.T) {
	for version, nothing := range map[string]bool{"policy/v1beta1": true, "policy/v1": false} {
		result := load(t, "apiVersion: "+version+"\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {maxUnavailable: 0, selector: {}}\n")
		if got := result.Snapshot.PodDisruptionBudgets[0].Spec.Selector == nil; got != nothing {
			t.Errorf("%s: selects nothing: %v, want %v", version, got, nothing)
		}
	}
}

func TestNamespaceOption(t *testing.T) {
	result := loadAll(t, Options{Namespace: "team"}, source("a", simplePod("a", "")))
	wantPods(t, result.Snapshot.Pods, "team/a")
	if got := result.Snapshot.Namespaces[0].Name; got != "team" {
		t.Errorf("namespace %q, want the pod's", got)
	}
}

func TestGeneratedNamesAreNumbered(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: run-}\nspec: {containers: [{name: x}]}\n"
	result := load(t, pod+"---\n"+simplePod("run-1", "")+"---\n"+pod+"---\n"+pod)
	wantPods(t, result.Snapshot.Pods, "default/run-0", "default/run-1", "default/run-2", "default/run-3")
}

func TestManagedFieldsAreDropped(t *testing.T) {
	result := load(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a, managedFields: [{manager: x}]}\nspec: {containers: [{name: x}]}\n")
	if got := result.Snapshot.Pods[0].ManagedFields; got != nil {
		t.Errorf("managedFields %v", got)
	}
}

func TestSnapshotVocabularyIsTheCallers(t *testing.T) {
	opts := Options{}
	opts.Vocabulary.WellKnown = []string{"example.com/size"}
	result := loadAll(t, opts)
	if diff := cmp.Diff(opts.Vocabulary, result.Snapshot.Vocabulary); diff != "" {
		t.Errorf("vocabulary (-want +got):\n%s", diff)
	}
}

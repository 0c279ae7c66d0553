// Package manifests reads Kubernetes objects into a scheduling.Snapshot. It accepts YAML or JSON, one document or many, lists as "kubectl
// get … -o yaml" and "-o json" print them, whole folders, dumps of running clusters, and manifests that were never applied.
//
// This is the smallest realistic use: it reads a folder. After the caller has added instance types, the snapshot can be planned.
//
//	sources, err := manifests.Files("cluster/")
//	if err != nil {
//		return err
//	}
//	result, err := manifests.Load(sources, manifests.Options{Now: time.Now()})
//	if err != nil {
//		return err // every problem with file, document, line and field
//	}
//	for _, w := range result.Warnings {
//		fmt.Fprintln(os.Stderr, w)
//	}
//	snapshot := result.Snapshot
//	snapshot.Catalogs = …
//
// # What is read
//
// Node, Pod, Namespace, Service, LimitRange, PersistentVolume, PersistentVolumeClaim, ReplicationController, Deployment, ReplicaSet,
// StatefulSet, DaemonSet, Job, CronJob, PodDisruptionBudget, StorageClass, CSINode, VolumeAttachment, PriorityClass, RuntimeClass, PodGroup
// and Workload, PodTemplate, CapacityBuffer, ProvisioningRequest, NodePool, NodeClaim and NodeOverlay. Node classes belong to a cloud:
// Options.Kinds lists their kinds (aws/convert.Kinds for AWS). Other kinds with pod templates are read if Options.Workloads names them
// (CommonWorkloadKinds contains the kinds of well-known projects). HorizontalPodAutoscalers and ScaledObjects can determine the number of
// pods (Options.Autoscaling, Result.Scaled). All other kinds are skipped, counted and named in a warning. Unknown kinds in the API groups
// of node autoscaling, including those of Options.Kinds, are refused, because skipping them could change the plan.
//
// # Generations
//
// With Options.Conversion, the input may also contain NodePools and NodeClaims of v1beta1, Provisioners and Machines of v1alpha5, and node
// classes in the older forms of Options.Kinds, in any mixture. All of these objects are converted to v1. Each change of meaning or form is
// reported as a Warning with a code of package api/conversion. Names of v1alpha5 objects are separate: a Provisioner and a NodePool of the
// same name are two pools with different keys, each with its own node class (Result.NodeClassOf). Objects without UID and creation time are
// manifests, which get the defaults that a webhook used to add. An object that can't be converted is refused, with all of its errors at
// once.
//
// Pods keep their node selectors: nodes of Provisioners have the label karpenter.sh/provisioner-name, and all other nodes have the label
// karpenter.sh/nodepool. The annotation karpenter.sh/do-not-evict is read as karpenter.sh/do-not-disrupt.
//
// # What is made of it
//
// A manifest is completed as the API server and its admission plugins would: namespaces, requests from limits, defaults from LimitRanges,
// priorities from PriorityClasses, and overhead, node selector and tolerations from RuntimeClasses. Objects that were read from an API
// server (those with a UID or a creation time) are used unchanged, except for defaults that are harmless to repeat. NodePools and node
// classes are defaulted and validated.
//
// A workload without pods in the input is expanded to its replicas. A workload is not expanded if the input has some of its pods, because
// the input is then a copy of a cluster. Owner references say to which workload a pod belongs. For a Deployment or CronJob, they may lead
// through a ReplicaSet or Job, which need not be in the input. A Job runs as many pods as its parallelism and the missing completions
// allow, a CronJob runs once, and a DaemonSet is passed on unchanged. Pods are named after the workload and numbered from 0: web-0, web-1.
// If two workloads of a namespace have the same name, the pods of one of them, never of a StatefulSet, are named after the workload and its
// kind: web-deployment-0.
//
// A pod counts as pending if it is not bound to a node, has not ended, is not being deleted, has no scheduling gates, and belongs neither
// to a DaemonSet nor to a kubelet. A pod that was nominated by preemption is also pending, and planned on its nominated node if it has room
// there. Conditions of pods are not read, because manifests have no conditions. Pods of leaving nodes are also pending, if they will be
// created again.
//
// A CapacityBuffer becomes its placeholder pods (see package scheduling/buffers), completed like the pods of workloads; a PodTemplate is
// only used by buffers and requests. A buffer that refers to an object that is not in the input keeps no room free, and there is a warning.
//
// A ProvisioningRequest asks for pods that do not exist yet: package scheduling/requests answers Result.Requests.
//
// Pods that are only useful together become gangs: those of a PodGroup of Kubernetes, coscheduling or Volcano, of a Workload of v1alpha1,
// and of a Kueue pod group, according to the pods' labels and annotations. A PodGroup whose pods may be scheduled one by one, anywhere, is
// not a gang. The pods of a JobSet, or of a group of a LeaderWorkerSet, are gangs if Options.InferGangs is set.
//
// If the StorageClass of a volume claim is not in the input, a class of that name with volumeBindingMode WaitForFirstConsumer is assumed,
// with a warning. If pods use claims but the input has no claims at all, there is one warning for all of them.
//
// Sources change a running cluster (Options.Live) as kubectl apply would. An object that is in both is read from the source, with the
// status from the cluster. A volume claim also gets the volume from the cluster. If a workload is replaced, its pods in the cluster are
// left out, including the pods of its ReplicaSets and Jobs. The workload's new pods are pending instead.
//
// # What is refused
//
// Invalid input is refused as a whole, with all its problems at once: text that is not YAML or JSON, fields of the wrong type, invalid
// NodePools, pods and pod templates without containers or with invalid spreads and affinities, repeated objects, and requests that are
// negative or probably have a wrong unit. Anything else that is unusual is a Warning. Unknown fields are Warnings, too, unless
// Options.Strict refuses them. Limits restricts the size, the number of objects, the nesting, and the expansion of aliases and replicas.
//
// Stability: beta.
package manifests

// Package manifests reads Kubernetes objects, exactly as users have them, into a scheduling.Snapshot: YAML or JSON,
// one document or many, lists as "kubectl get … -o yaml" and "-o json" print them, whole folders, dumps of running
// clusters and manifests that were never applied.
//
// The smallest real use: what is in a folder, ready to be planned once the caller has said which machines there are.
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
// Node, Pod, Namespace, Service, LimitRange, PersistentVolume, PersistentVolumeClaim, ReplicationController,
// Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, PodDisruptionBudget, StorageClass, CSINode,
// VolumeAttachment, PriorityClass, RuntimeClass, PodGroup and Workload, PodTemplate, CapacityBuffer, ProvisioningRequest, NodePool, NodeClaim and NodeOverlay. Node classes are a cloud's:
// which kinds there are, Options.Kinds says (aws/convert.Kinds for AWS). Further kinds that keep pods by template are read where
// Options.Workloads names them (CommonWorkloadKinds has those of well-known projects), and HorizontalPodAutoscalers and ScaledObjects
// for the number of pods (Options.Autoscaling). Other kinds are skipped, counted and named in a warning; in the API groups of node
// autoscaling itself, those of Options.Kinds among them, they are refused, since skipping them could change the plan.
//
// # Generations
//
// With Options.Conversion, NodePools and NodeClaims may be of v1beta1, and in addition to them there may be Provisioners and Machines of v1alpha5,
// and node classes in the older forms that Options.Kinds has, in any mixture. All come out in the form of v1, and what changed in meaning
// or form is a Warning with the code of package api/conversion. Names of the first generation are a space of their own: a
// Provisioner and a NodePool of one name are two pools, whose keys tell them apart, each with the node class that it refers to
// (Result.NodeClassOf). Objects without UID and creation time are manifests, which get the defaults that a webhook used to add.
// An object that can't be converted is refused, all that is wrong with it at once.
//
// Pods keep the labels they ask for: nodes of the first generation bear karpenter.sh/provisioner-name, all others
// karpenter.sh/nodepool. The annotation karpenter.sh/do-not-evict is read under its present name.
//
// # What is made of it
//
// A manifest is completed as the API server and its admission plugins would: namespaces, requests from limits,
// defaults from LimitRanges, priorities from PriorityClasses, and overhead, node selector and tolerations from
// RuntimeClasses. Objects that an API server has already seen (those with a UID or a creation time) are taken as they
// are, but for what is harmless to repeat. NodePools and node classes are defaulted and validated.
//
// A workload without pods in the input is expanded to its replicas; one with pods there is not, not even partly,
// because the input is then a picture of a cluster. Pods belong to a workload by owner references, to a Deployment or
// CronJob also through the ReplicaSets or Jobs between them, whether those are in the input or not. A Job runs as many
// pods as its parallelism and the missing completions allow, a CronJob runs once, a DaemonSet is handed on as it is.
// Pods are named after the workload and numbered from 0: web-0, web-1. Where two workloads of a namespace share a
// name, a StatefulSet keeps it and the other puts its kind behind its name: web-deployment-0.
//
// A pod waits for a place if it is bound to no node, has not ended, is not being deleted, is not held back by
// scheduling gates, and belongs to no DaemonSet and to no kubelet. One that has been promised a place by preemption waits
// too, and holds its room.
// Conditions are not read: manifests have none. Pods of machines that are going away wait too, if they will appear
// again.
//
// A CapacityBuffer becomes the placeholder pods it stands for (see package scheduling/buffers), completed like the pods
// of workloads; a PodTemplate is only what buffers and requests are made from. A buffer that refers to something that is not in the
// input keeps no room, with a warning.
//
// A ProvisioningRequest asks for pods that nobody has made yet: Result.Requests are for package scheduling/requests to answer.
//
// Pods that are of use only together become gangs: those of a PodGroup of Kubernetes, of coscheduling or of Volcano, of a Workload of
// v1alpha1, and of a Kueue pod group, by what the pods say of it. A PodGroup whose pods may be scheduled one by one, anywhere, is no
// gang. Those of a JobSet and of a group of a LeaderWorkerSet are gangs where Options.InferGangs says so.
//
// A claim for a volume whose StorageClass is not in the input is given a class of that name that makes volumes
// wherever the pod goes, with a warning. Pods that use claims while the input has none at all get a warning together.
//
// # What is refused
//
// Input that can't be meant is refused as a whole, with all its problems at once: text that is no YAML or JSON, fields
// of the wrong type, invalid NodePools, pods and pod templates without containers or with spreads and affinities that
// the API server would not take, objects given twice, requests that are negative or look like a slip of the unit.
// Everything else that is odd is a Warning, unknown fields too unless Options.Strict refuses them. Size, number of objects, nesting, and what aliases and replicas unfold to
// are bounded by Limits.
//
// Stability: beta.
package manifests

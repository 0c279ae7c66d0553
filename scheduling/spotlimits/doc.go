// Package spotlimits reads the limits of workloads on spot nodes from annotations of their pods.
//
// A workload is all pods that one controller owns, such as a ReplicaSet, a StatefulSet or a Job. Annotations on the pods, usually set in
// the pod template, define the limits:
//
//	metadata:
//	  annotations:
//	    drawknife.dev/spot-max-share: 70%       # at most 70 % of the pods are on spot nodes
//	    drawknife.dev/on-demand-base: "2"       # two pods must not be on spot nodes before any other pod may be
//	    drawknife.dev/spot-pool-max-share: 30%  # at most 30 % are on spot nodes of one instance type in one zone
//	    drawknife.dev/spot-max-price: 60%       # spot nodes cost at most 60 % of the on-demand price
//
// Planners keep these limits for new nodes and for pods that disruption moves. No plan adds pods on spot nodes beyond the limits. If more
// pods than allowed are on spot nodes already, they may stay. kube-scheduler does not know the limits; docs/spot.md describes the
// consequences.
//
// [Read] reads the annotations of a pod, [WorkloadOf] finds its workload.
//
// Stability: beta.
package spotlimits

// Package spotlimits reads what pods say about spot nodes: how much of their workload may be on them.
//
// A workload is what one controller owns, such as the pods of a ReplicaSet, a StatefulSet or a Job. Annotations on its pods, which a pod
// template gives them, set the limits:
//
//	metadata:
//	  annotations:
//	    drawknife.dev/spot-max-share: 70%       # at most 70 % of the pods are on spot nodes
//	    drawknife.dev/on-demand-base: "2"       # two pods are not on spot before any other is
//	    drawknife.dev/spot-pool-max-share: 30%  # at most 30 % are on spot nodes of one instance type in one zone
//	    drawknife.dev/spot-max-price: 60%       # spot nodes cost at most 60 % of the price on demand
//
// Planners keep these limits for new nodes and for pods that disruption moves: no plan has more pods on spot than the limits allow, or
// than there were before. kube-scheduler does not know them: docs/spot.md says what follows from that.
//
// [Read] reads the annotations of a pod, [WorkloadOf] finds its workload.
//
// Stability: beta.
package spotlimits

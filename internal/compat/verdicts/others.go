package verdicts

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
)

// others calls the plugins that look only at the pod and the node. A test of one plugin may use a node that another plugin would refuse.
// others is needed because the planner answers for all plugins together.
func others(ctx context.Context, pod *corev1.Pod, node fwk.NodeInfo) *fwk.Status {
	features := feature.Features{EnableTaintTolerationComparisonOperators: true}
	taints, err := tainttoleration.New(ctx, nil, nil, features)
	if err != nil {
		return fwk.AsStatus(err)
	}
	cordons, err := nodeunschedulable.New(ctx, nil, nil, features)
	if err != nil {
		return fwk.AsStatus(err)
	}
	affinity, err := nodeaffinity.New(ctx, &config.NodeAffinityArgs{}, nil, features)
	if err != nil {
		return fwk.AsStatus(err)
	}
	state := framework.NewCycleState()
	for _, p := range []fwk.Plugin{taints, cordons, affinity} {
		filter, ok := p.(fwk.FilterPlugin)
		if !ok {
			continue
		}
		if status := filter.Filter(ctx, state, pod, node); !status.IsSuccess() {
			return status
		}
	}
	return nil
}

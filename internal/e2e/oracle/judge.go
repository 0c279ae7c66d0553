package oracle

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// factory makes a plugin of kube-scheduler.
type factory struct {
	name string
	make frameworkruntime.PluginFactoryWithFts[fwk.Plugin]
}

// factories returns the plugins that filter nodes in kube-scheduler's default profile, in its order. A test compares the list with that
// profile.
func factories() []factory {
	return []factory{
		{nodename.Name, nodename.New},
		{nodeunschedulable.Name, nodeunschedulable.New},
		{tainttoleration.Name, tainttoleration.New},
		{nodeaffinity.Name, nodeaffinity.New},
		{nodeports.Name, nodeports.New},
		{noderesources.Name, noderesources.NewFit},
		{volumerestrictions.Name, volumerestrictions.New},
		{nodevolumelimits.CSIName, nodevolumelimits.NewCSI},
		{volumebinding.Name, volumebinding.New},
		{volumezone.Name, volumezone.New},
		{podtopologyspread.Name, podtopologyspread.New},
		{interpodaffinity.Name, interpodaffinity.New},
	}
}

// Plugins returns the names of the plugins that this package calls, in their order.
func Plugins() []string {
	var out []string
	for _, f := range factories() {
		out = append(out, f.name)
	}
	return out
}

// judge calls kube-scheduler's plugins for a cluster, with default arguments and default feature gates.
type judge struct {
	cluster *cluster
	// objects are the informers from which the plugins read. The informers are never started: the judge fills their stores itself.
	objects informers.SharedInformerFactory
	plugins []fwk.Plugin
}

// newJudge makes the plugins, with the cluster's default spread constraints. Goroutines that they start end with ctx.
func newJudge(ctx context.Context, c *cluster, spread []corev1.TopologySpreadConstraint) (*judge, error) {
	metrics.Register() // runs once per process: the plugins use these metrics and crash without them
	ctx = klog.NewContext(ctx, logr.Discard())
	j := &judge{cluster: c, objects: informers.NewSharedInformerFactory(nil, 0)}
	// Without a profile, the framework only gives the plugins access to the lister and the informers.
	handle, err := frameworkruntime.NewFramework(ctx, nil, nil,
		frameworkruntime.WithSnapshotSharedLister(c),
		frameworkruntime.WithInformerFactory(j.objects),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(j.objects.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithParallelism(1),
	)
	if err != nil {
		return nil, fmt.Errorf("making kube-scheduler's framework: %w", err)
	}
	arguments, err := defaultArguments()
	if err != nil {
		return nil, err
	}
	if len(spread) > 0 {
		arguments[podtopologyspread.Name] = &config.PodTopologySpreadArgs{DefaultConstraints: spread, DefaultingType: config.ListDefaulting}
	}
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	for _, f := range factories() {
		plugin, err := f.make(ctx, arguments[f.name], handle, features)
		if err != nil {
			return nil, fmt.Errorf("making kube-scheduler's plugin %s: %w", f.name, err)
		}
		j.plugins = append(j.plugins, plugin)
	}
	return j, nil
}

// defaultArguments returns the plugins' arguments in kube-scheduler's default profile, by plugin.
func defaultArguments() (map[string]runtime.Object, error) {
	defaults, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("reading kube-scheduler's defaults: %w", err)
	}
	out := map[string]runtime.Object{}
	for _, c := range defaults.Profiles[0].PluginConfig {
		out[c.Name] = c.Args
	}
	return out, nil
}

// verdict is the refusal of one plugin.
type verdict struct {
	plugin  string
	message string
}

// ask calls the plugins for a pod and a node. Unlike kube-scheduler, it continues after the first refusal, so that all reasons are known.
func (j *judge) ask(ctx context.Context, pod *corev1.Pod, node string) ([]verdict, error) {
	info, ok := j.cluster.byName[node]
	if !ok {
		return nil, fmt.Errorf("asking for pod %s/%s: there is no node %q", pod.Namespace, pod.Name, node)
	}
	state := framework.NewCycleState()
	var out []verdict
	for _, plugin := range j.plugins {
		status := askPlugin(ctx, plugin, state, pod, info, j.cluster.infos)
		if !status.IsSuccess() {
			out = append(out, verdict{plugin.Name(), status.Message()})
		}
	}
	return out, nil
}

// askPlugin runs one plugin's part of a scheduling cycle, up to and including Filter.
func askPlugin(ctx context.Context, plugin fwk.Plugin, state fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo, all []fwk.NodeInfo) *fwk.Status {
	if pre, ok := plugin.(fwk.PreFilterPlugin); ok {
		result, status := pre.PreFilter(ctx, state, pod, all)
		switch {
		case status.IsSkip():
			return nil
		case !status.IsSuccess():
			return status
		case !result.AllNodes() && !result.NodeNames.Has(node.Node().Name):
			return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("the plugin allows only the nodes %v", sets.List(result.NodeNames)))
		}
	}
	if filter, ok := plugin.(fwk.FilterPlugin); ok {
		return filter.Filter(ctx, state, pod, node)
	}
	return nil
}

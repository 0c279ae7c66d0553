// Package fleettest makes small fleets for tests of the packages in internal/consolidate: nodes, each in one line, and the other inputs of
// these packages.
package fleettest

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/consolidate/waves"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Now returns the time of the fleets.
func Now() time.Time { return time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC) }

// Times returns the times that nodes need to launch and pods need to be ready.
func Times() waves.Times { return waves.Times{Launch: 3 * time.Minute, Ready: time.Minute} }

// Fleet is a cluster that a test builds. Its nodes are initialized, and a day old.
type Fleet struct {
	Snapshot *planning.Snapshot
	// Pool is the only NodePool.
	Pool *v1.NodePool
	// Input is the input of survey.Of apart from the nodes.
	Input survey.Input
}

// New returns a fleet without nodes. Its pool "default" has no budgets. Its instance types are c2, c4, c8 and c16, with as many cores as
// their names say and 4Gi for each core. They are sold on demand in the zones a and b at 0.05 USD per hour for a core.
func New() *Fleet {
	f := &Fleet{Pool: build.Pool("default", build.UID("pool-default"))}
	f.Pool.Spec.Disruption.Budgets = []v1.Budget{}
	f.Snapshot = &planning.Snapshot{
		Time: Now(), Vocabulary: requirements.CoreVocabulary(),
		NodePools: []planning.NodePool{{Key: Default(), Object: f.Pool, Catalog: "all"}},
	}
	f.Sell(
		build.InstanceType("c2", build.CPU("2"), build.Memory("8Gi"), build.OnDemand("a", 0.1), build.OnDemand("b", 0.1)),
		build.InstanceType("c4", build.CPU("4"), build.Memory("16Gi"), build.OnDemand("a", 0.2), build.OnDemand("b", 0.2)),
		build.InstanceType("c8", build.CPU("8"), build.Memory("32Gi"), build.OnDemand("a", 0.4), build.OnDemand("b", 0.4)),
		build.InstanceType("c16", build.CPU("16"), build.Memory("64Gi"), build.OnDemand("a", 0.8), build.OnDemand("b", 0.8)),
	)
	return f
}

// Default is the key of the pool.
func Default() v1.PoolKey { return v1.NewPoolKey("default") }

// Sell replaces the instance types of the fleet.
func (f *Fleet) Sell(types ...*cloudprovider.InstanceType) *Fleet {
	f.Snapshot.Catalogs = map[string][]*cloudprovider.InstanceType{"all": types}
	return f
}

// Type returns the instance type of that name, or nil if there is no such type.
func (f *Fleet) Type(name string) *cloudprovider.InstanceType {
	for _, it := range f.Snapshot.Catalogs["all"] {
		if it.Name == name {
			return it
		}
	}
	return nil
}

// Node adds a node of the instance type with these pods. The node uses the first offering of the instance type.
func (f *Fleet) Node(name, instanceType string, pods ...*corev1.Pod) *planning.Node {
	since := Now().Add(-24 * time.Hour)
	of, id := build.OfType(f.Type(instanceType), "", ""), build.ProviderID("cloud://"+name)
	n := planning.Node{
		Name: name, Pool: Default(),
		Object: build.Node(name, of, id, build.OfPool("default"), build.Created(since), build.Initialized(since)),
		Claim:  build.Claim("claim-"+name, of, id, build.UID("uid-"+name), build.OfPool("default"), build.Created(since), build.Initialized(since)),
	}
	n.Claim.Spec.ExpireAfter, n.Claim.Status.NodeName = v1.Never(), name
	for _, p := range pods {
		p.Spec.NodeName = name
		n.Pods = append(n.Pods, p)
	}
	f.Snapshot.Nodes = append(f.Snapshot.Nodes, n)
	return &f.Snapshot.Nodes[len(f.Snapshot.Nodes)-1]
}

// Pods returns n pods of a Deployment, named name-0, name-1 and so on. Each pod requests this number of cores.
func Pods(name string, n int, cores string) []*corev1.Pod {
	return build.Pods(name, n, build.CPU(cores), build.Labels("app", name), build.OwnedBy("apps/v1", "ReplicaSet", name))
}

// Budget adds a PodDisruptionBudget for the pods with the label app of this value. It allows this number of evictions now.
func (f *Fleet) Budget(app string, allowed int32) {
	most := intstr.FromInt32(allowed)
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app}}
	b.Spec.Selector, b.Spec.MaxUnavailable = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}, &most
	b.Status.DisruptionsAllowed = allowed
	f.Snapshot.PodDisruptionBudgets = append(f.Snapshot.PodDisruptionBudgets, b)
}

// Survey returns the fleet in the form that the packages in internal/consolidate use.
func (f *Fleet) Survey(t testing.TB) *survey.Fleet {
	t.Helper()
	in := f.Input
	in.View = survey.ViewOf(f.Snapshot)
	out, err := survey.Of(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Context returns the context from which searches of the fleet start.
func (f *Fleet) Context(t testing.TB) *searchcontext.Context {
	t.Helper()
	return f.ContextWith(t, searchcontext.Settings{Times: Times()})
}

// ContextWith does the same as Context, but with the given settings.
func (f *Fleet) ContextWith(t testing.TB, settings searchcontext.Settings) *searchcontext.Context {
	t.Helper()
	out, err := searchcontext.New(t.Context(), settings, f.Survey(t), searchcontext.Known{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Pass begins a pass of package reference over the fleet.
func Pass(t testing.TB, f *survey.Fleet, options reference.Options) *reference.Pass {
	t.Helper()
	pass, err := options.Begin(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return pass
}

// Candidates returns the context's candidates with these names.
func Candidates(t testing.TB, x *searchcontext.Context, names ...string) []*searchcontext.Candidate {
	t.Helper()
	out := make([]*searchcontext.Candidate, len(names))
	for i, name := range names {
		if out[i] = x.ByName[name]; out[i] == nil {
			t.Fatalf("%s is no candidate: %v", name, x.Fleet.Blocked[name])
		}
	}
	return out
}

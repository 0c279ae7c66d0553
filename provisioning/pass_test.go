package provisioning_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/mock"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
)

// small is the type that passes launch for what fits on it.
func small() *cloudprovider.InstanceType {
	return build.InstanceType("small", build.CPU("4"), build.Memory("64Gi"), build.OnDemand("a", 0.2))
}

func placeholder() build.MetaOption {
	return build.Annotations(v1beta1.PlaceholderAnnotationKey, "true")
}

func passPool(name string, options ...build.PoolOption) *v1.NodePool {
	standard := []build.PoolOption{build.Class("example.com", "MachineClass", "default"), build.ReadyPool(start)}
	return build.Pool(name, append(standard, options...)...)
}

func decide(t *testing.T, s *scheduling.Snapshot) *provisioning.Orders {
	t.Helper()
	model, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := model.Solve(t.Context(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	orders, err := provisioning.Decide(s, plan, provisioning.PassOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return orders
}

// passSnapshot has a node with two cores to spare and a pool.
func passSnapshot(pods ...*corev1.Pod) *scheduling.Snapshot {
	node := build.Node("here", build.CPU("2"), build.MaxPods(110))
	s := &scheduling.Snapshot{
		Time: start, Vocabulary: requirements.CoreVocabulary(),
		Catalogs:  map[string][]*cloudprovider.InstanceType{"all": {small(), build.InstanceType("large", build.CPU("8"), build.Memory("64Gi"), build.OnDemand("a", 0.4))}},
		NodePools: []scheduling.NodePool{{Key: v1.NewPoolKey("default"), Object: passPool("default"), Catalog: "all"}},
		Nodes:     []scheduling.Node{{Name: "here", Object: node}},
	}
	for _, p := range pods {
		if p.Annotations[v1beta1.PlaceholderAnnotationKey] == "true" {
			s.Placeholders = append(s.Placeholders, p)
		} else {
			s.Pods = append(s.Pods, p)
		}
	}
	return s
}

// A pool whose key is left out is the one of its object's name.
func TestDecideForPoolsWithoutKeys(t *testing.T) {
	s := passSnapshot(build.Pod("new", build.CPU("3")))
	s.NodePools[0].Key = v1.PoolKey{}
	orders := decide(t, s)
	if len(orders.Refused) != 0 || len(orders.Launches) != 1 || orders.Launches[0].Claim.Labels[v1.NodePoolLabelKey] != "default" {
		t.Errorf("%+v", orders)
	}
}

// PRV-026, PRV-035 to PRV-037, PRV-043: launches, nominations and pods without a place.
func TestDecide(t *testing.T) {
	orders := decide(t, passSnapshot(build.Pod("fits", build.CPU("2")), build.Pod("new", build.CPU("3")), build.Pod("huge", build.CPU("100")), build.Pod("room", build.CPU("3"), placeholder())))
	if len(orders.Nominations) != 1 || len(orders.Launches) == 0 || len(orders.Waiting) != 1 || len(orders.Refused) != 0 {
		t.Fatalf("%+v", orders)
	}
	n := orders.Nominations[0]
	if n.Node != "here" || n.Pods[0].Name != "fits" || !n.Until.Equal(start.Add(20*time.Second)) {
		t.Errorf("PRV-026: nomination %+v", n)
	}
	var pods []string
	for _, l := range orders.Launches {
		for _, p := range l.Pods {
			pods = append(pods, p.Name)
		}
		if l.Claim.GenerateName != "default-" || l.Price <= 0 || l.Capacity.Cpu().IsZero() {
			t.Errorf("launch %+v", l)
		}
	}
	if diff := cmp.Diff([]string{"new"}, pods); diff != "" {
		t.Errorf("pods of launches: placeholders are left out (-want +got):\n%s", diff)
	}
	if got := orders.Waiting[0].Pod.Name; got != "huge" {
		t.Errorf("waiting: %s", got)
	}
	var events []string
	for _, e := range orders.Events {
		events = append(events, fmt.Sprintf("%s %s %t %s", e.Name, e.Reason, e.Warning, option.Or(e.Every, 0)))
	}
	if diff := cmp.Diff([]string{"fits Nominated false 0s", "huge FailedScheduling true 5m0s"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// PRV-026: placeholders nominate nobody.
func TestPlaceholdersDoNotNominate(t *testing.T) {
	if orders := decide(t, passSnapshot(build.Pod("room", build.CPU("1"), placeholder()))); len(orders.Nominations) != 0 || len(orders.Events) != 0 {
		t.Errorf("%+v", orders)
	}
}

// PRV-007, SCH-180: a claim says that a type it may become was overlaid.
func TestOverlaidClaims(t *testing.T) {
	s := passSnapshot(build.Pod("new", build.CPU("3")))
	price := "0.01"
	o := &v1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: "cheap"}}
	o.Spec.Price = &price
	s.NodeOverlays = []*v1.NodeOverlay{o}
	orders := decide(t, s)
	if got := orders.Launches[0].Claim.Annotations[v1.PriceOverlayAppliedAnnotationKey]; got != "true" {
		t.Errorf("annotation %q", got)
	}
}

// PRV-042: a node of which no claim can be made is refused and its pods wait; the others are ordered.
func TestRefusedNode(t *testing.T) {
	s := passSnapshot(build.Pod("new", build.CPU("3")))
	plan := &scheduling.Plan{NewNodes: []scheduling.NewNode{{Name: "default-1", Pool: v1.NewPoolKey("default"), Pods: []scheduling.PodKey{{Namespace: "default", Name: "new"}}}}}
	orders, err := provisioning.Decide(s, plan, provisioning.PassOptions{})
	if err != nil || len(orders.Refused) != 1 || len(orders.Launches) != 0 || len(orders.Events) != 1 || orders.Events[0].Reason != provisioning.EventFailedScheduling {
		t.Errorf("%+v %v", orders, err)
	}
	plan.NewNodes[0].Pool = v1.NewPoolKey("other")
	if _, err := provisioning.Decide(s, plan, provisioning.PassOptions{}); err == nil {
		t.Error("a plan of another snapshot is taken")
	}
}

// An event's message has at most 1,024 bytes, however many pools refuse the pod.
func TestLongReasons(t *testing.T) {
	s := passSnapshot(build.Pod("huge", build.CPU("100")))
	for i := range 50 {
		name := fmt.Sprintf("pool-with-a-long-name-%d", i)
		s.NodePools = append(s.NodePools, scheduling.NodePool{Key: v1.NewPoolKey(name), Object: passPool(name), Catalog: "all"})
	}
	orders := decide(t, s)
	message := orders.Events[0].Message
	if len(message) > 1024 || !strings.Contains(message, " more") {
		t.Errorf("%d bytes: %s", len(message), message)
	}
}

func capabilities() cloudprovider.Capabilities {
	return cloudprovider.Capabilities{
		NodeClasses: []metav1.GroupKind{{Group: "example.com", Kind: "MachineClass"}}, Vocabulary: requirements.CoreVocabulary(),
	}
}

// PRV-036, DIS-056: which pools take part, and why the others don't; those that only own nodes know what these are.
func TestResolvePools(t *testing.T) {
	types := []*cloudprovider.InstanceType{small()}
	replicas := int64(2)
	pools := []*v1.NodePool{
		passPool("ready"), passPool("ready-too"),
		passPool("foreign", build.PoolFunc(func(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Kind = "Other" })),
		passPool("deleted", build.Deleted(start)),
		passPool("unready", build.PoolFunc(func(p *v1.NodePool) {
			p.Conditions().SetFalse(v1.ConditionNodeClassReady, "NodeClassNotFound", "machineclass default does not exist", start)
		})),
		passPool("static", build.PoolFunc(func(p *v1.NodePool) { p.Spec.Replicas = &replicas })),
		passPool("broken"), passPool("empty"), passPool("unevaluated"),
	}
	provider := mock.NewMockCloudProvider(gomock.NewController(t))
	provider.EXPECT().Describe().Return(capabilities()).AnyTimes()
	provider.EXPECT().InstanceTypes(gomock.Any(), gomock.Any()).DoAndReturn(func(_ context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
		switch p.Name {
		case "broken":
			return nil, errors.New("the cloud is down")
		case "empty":
			return nil, nil
		case "unevaluated":
			return nil, cloudprovider.NewUnevaluatedNodePoolError(p.Name, nil)
		}
		return types, nil
	}).Times(8)
	set, err := provisioning.ResolvePools(t.Context(), provider, pools, nil, start)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range set.NodePools {
		got[p.Key.Name] = p.NotReady + "|" + p.Catalog
	}
	want := map[string]string{
		"ready": "|deleted", "ready-too": "|deleted", "static": "|deleted",
		"foreign":     `its node class is of kind Other in group "example.com", which the provider does not serve|`,
		"deleted":     "it is being deleted|deleted",
		"unready":     "machineclass default does not exist|deleted",
		"broken":      "its instance types could not be read: the cloud is down|",
		"empty":       "it has no instance types|",
		"unevaluated": "its instance types have yet to be evaluated|",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(set.Events) != 3 || set.Events[0].Reason != provisioning.EventNoCompatibleInstanceTypes {
		t.Errorf("events %+v", set.Events)
	}
	if len(set.Catalogs) != 1 {
		t.Errorf("%d catalogs, want one that all pools share", len(set.Catalogs))
	}
}

// PRV-036: a deadline ends the pass; what is thought to be empty is closed.
func TestResolvePoolsUnderDeadlineAndEstimate(t *testing.T) {
	types := []*cloudprovider.InstanceType{small()}
	provider := mock.NewMockCloudProvider(gomock.NewController(t))
	provider.EXPECT().Describe().Return(capabilities()).AnyTimes()
	provider.EXPECT().InstanceTypes(gomock.Any(), gomock.Any()).Return(types, nil).AnyTimes()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := provisioning.ResolvePools(ctx, provider, []*v1.NodePool{passPool("a")}, nil, start); !errors.Is(err, context.Canceled) {
		t.Errorf("after the deadline: %v", err)
	}
	estimate := newEstimate(t)
	estimate.Exhausted([]cloudprovider.OfferingKey{{InstanceType: "small", Zone: "a", CapacityType: v1.CapacityTypeOnDemand}}, start)
	set, err := provisioning.ResolvePools(t.Context(), provider, []*v1.NodePool{passPool("a"), passPool("b")}, estimate, start)
	if err != nil || len(set.Catalogs) != 1 || set.Catalogs["a"][0].Offerings[0].Available {
		t.Errorf("%+v %v", set, err)
	}
}

package reconcilers

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/scheduling/cluster"
)

// growingMapper knows more kinds once they are installed, and does not answer while it is down.
type growingMapper struct {
	*meta.DefaultRESTMapper
	down  bool
	asked int
}

func (m *growingMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.asked++
	if m.down {
		return brokenMapper{}.RESTMapping(kind, versions...)
	}
	return m.DefaultRESTMapper.RESTMapping(kind, versions...)
}

// A kind of pod groups that is installed after the controller has started is watched within a minute, and pods of its groups are gangs then;
// a kind that is watched is not asked for again.
func TestGroupsThatAreInstalledLaterAreWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		coscheduling := schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"}
		mapper := &growingMapper{DefaultRESTMapper: meta.NewDefaultRESTMapper([]schema.GroupVersion{coscheduling.GroupVersion()})}
		o := Options{Features: Features{Gangs: true}, Logger: slog.New(slog.DiscardHandler)}
		if err := o.findGroups(mapper); err != nil || len(o.groups) > 0 || len(o.notServed) != len(groupKinds()) {
			t.Fatalf("%v, served %v, not served %v", err, o.groups, o.notServed)
		}
		state, err := cluster.New(cluster.Options{Kinds: []cluster.Kind{}})
		if err != nil {
			t.Fatal(err)
		}
		seen, informers := 0, &informertest.FakeInformers{}
		f := &feed{informers: informers, state: state, log: o.Logger, now: time.Now, seen: func(before, after client.Object) { seen++ }}
		later := &laterGroups{feed: f, mapper: mapper, waiting: o.notServed}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { later.run(ctx); close(done) }()
		time.Sleep(lookForGroupsEvery + time.Second)
		synctest.Wait()
		if len(informers.InformersByGVK) > 0 {
			t.Errorf("watched before they are served: %v", informers.InformersByGVK)
		}
		mapper.Add(coscheduling, meta.RESTScopeNamespace)
		mapper.down = true
		time.Sleep(lookForGroupsEvery)
		synctest.Wait()
		mapper.down = false
		time.Sleep(lookForGroupsEvery)
		synctest.Wait()
		if len(informers.InformersByGVK) != 1 || len(later.waiting) != len(groupKinds())-1 {
			t.Fatalf("watched: %v, waiting: %v", informers.InformersByGVK, later.waiting)
		}
		group := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": map[string]any{"namespace": "default", "name": "train"}, "spec": map[string]any{"minMember": int64(2)},
		}}
		informer, err := informers.FakeInformerFor(ctx, group)
		if err != nil {
			t.Fatal(err)
		}
		informer.Add(group)
		pod := newPod("train-0")
		pod.Namespace, pod.Labels = "default", map[string]string{"scheduling.x-k8s.io/pod-group": "train"}
		if err := state.Apply(cluster.Upsert(pod)); err != nil {
			t.Fatal(err)
		}
		if gangs := state.Snapshot(cluster.Query{}).Snapshot.Gangs; seen != 1 || len(gangs) != 1 || gangs[0].Minimum != 2 {
			t.Errorf("%d events, gangs %+v", seen, gangs)
		}
		asked := mapper.asked
		time.Sleep(lookForGroupsEvery)
		synctest.Wait()
		if mapper.asked != asked+len(groupKinds())-1 {
			t.Errorf("asked %d times in a minute, for %d kinds that wait", mapper.asked-asked, len(groupKinds())-1)
		}
		end()
		<-done
	})
}

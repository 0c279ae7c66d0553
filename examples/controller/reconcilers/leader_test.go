package reconcilers

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	clientrest "k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/drawknife/drawknife/fake"
)

// recordingManager notes what is added to it.
type recordingManager struct {
	ctrl.Manager
	added []manager.Runnable
}

func (m *recordingManager) Add(r manager.Runnable) error {
	m.added = append(m.added, r)
	return m.Manager.Add(r)
}

// S2-034, S3-012, S3-052: of two replicas one acts. Everything that is added to a manager, controllers and loops alike, starts on the
// leader alone, but for the feed, which reads the cluster for the process that leads next and writes nothing.
func TestOnlyTheLeaderActs(t *testing.T) {
	scheme := Scheme()
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind := range scheme.AllKnownTypes() {
		mapper.Add(kind, meta.RESTScopeRoot)
	}
	mgr, err := ctrl.NewManager(&clientrest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		MapperProvider: func(*clientrest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	cloud, err := fake.New(fake.GenericTypes(2), fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	recording := &recordingManager{Manager: mgr}
	o := Options{
		Provider: cloud, Metrics: prometheus.NewRegistry(),
		Features: Features{NodeOverlay: true, StaticCapacity: true, CapacityBuffer: true, ProvisioningRequest: true, NodeRepair: true},
	}
	if err := Add(recording, o); err != nil {
		t.Fatal(err)
	}
	var everywhere, loops []string
	others := 0
	for _, r := range recording.added {
		name := fmt.Sprintf("%T", r)
		chosen, says := r.(manager.LeaderElectionRunnable)
		switch {
		case says && !chosen.NeedLeaderElection():
			everywhere = append(everywhere, name)
		case slices.Contains([]string{"*reconcilers.planner", "*reconcilers.disruptor", "*reconcilers.evictions", "*reconcilers.garbageCollector"}, name):
			loops = append(loops, name)
		default: // a manager starts on the leader alone what does not say
			others++
		}
	}
	if !slices.Equal(everywhere, []string{"*reconcilers.feed"}) {
		t.Errorf("on every replica run %v", everywhere)
	}
	if len(loops) != 4 || others < 6 {
		t.Errorf("of what writes %v and %d others were added", loops, others)
	}
}

package scheduling_test

import (
	"fmt"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/engine/devices"
)

// Of more kinds of requests than can be counted the pods of the further ones are refused, with the limit and what would help; all others are planned.
func TestMoreKindsOfRequestsThanCanBeCounted(t *testing.T) {
	s := gpuCluster(pod("plain", requests("cpu=1")))
	const further = 3
	for i := range devices.MaxKinds + further {
		name := fmt.Sprintf("kind-%d", i)
		r := gpuRequest("r", 1, "model=H100")
		r.Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": *resource.NewQuantity(int64(i+1)<<20, resource.BinarySI)}}
		template(s, name, nil, r)
		s.Pods = append(s.Pods, pod(name, requests("cpu=1"), claims(name)))
	}
	p := planDevices(t, s)
	if len(p.Unschedulable) != further {
		t.Fatalf("%d pods have no place, want %d: %v", len(p.Unschedulable), further, p.Unschedulable)
	}
	want := fmt.Sprintf("is one of more than %d kinds of requests in the cluster: have more of them ask alike", devices.MaxKinds)
	for _, u := range p.Unschedulable {
		if got := fmt.Sprint(u.Reasons); !strings.Contains(got, want) {
			t.Errorf("%s: the reason is %s", u.Pod, got)
		}
	}
	if place(p, "plain") == "nowhere" {
		t.Error("a pod that claims nothing has no place")
	}
}

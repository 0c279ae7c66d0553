package scheduling_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/scheduling"
)

// Of a resource that some types may have or not the explanation says that it is not known, and nothing is planned on them; of
// one that nobody has not.
func TestExplainsWhatIsNotKnown(t *testing.T) {
	const branches = "vpc.amazonaws.com/pod-eni"
	for name, c := range map[string]struct {
		unknown int
		want    bool
	}{"none": {0, false}, "two": {2, true}} {
		types := fake.GenericTypes(4)
		for _, it := range types[:c.unknown] {
			it.NotKnown = []corev1.ResourceName{branches}
		}
		pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
		pool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: fake.NodeClassGroup, Kind: fake.NodeClassKind, Name: "d"}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", UID: "a"}}
		pod.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{branches: resource.MustParse("1")}, Limits: corev1.ResourceList{branches: resource.MustParse("1")},
		}}}
		model, err := scheduling.Compile(&scheduling.Snapshot{
			Time: time.Unix(0, 0), NodePools: []scheduling.NodePool{{Key: pool.Key(), Object: pool, Catalog: "c"}},
			Catalogs: map[string][]*cloudprovider.InstanceType{"c": types}, Pods: []*corev1.Pod{pod},
		})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := model.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Unschedulable) != 1 {
			t.Fatalf("%s: %d pods have no place", name, len(plan.Unschedulable))
		}
		text := ""
		for _, r := range plan.Unschedulable[0].Reasons {
			text += r.String() + "\n"
		}
		if got := strings.Contains(text, "how much vpc.amazonaws.com/pod-eni is not known of 2 types, which count as having none"); got != c.want {
			t.Errorf("%s: %s", name, text)
		}
	}
}

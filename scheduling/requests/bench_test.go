package requests

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// A round on 5,000 nodes: half of the requests have booked room, half ask for some.
func BenchmarkRound(b *testing.B) {
	for _, asked := range []int{0, 20, 200} {
		b.Run(fmt.Sprint(asked), func(b *testing.B) {
			in := Input{Snapshot: &scheduling.Snapshot{Time: start()}, PodTemplates: []*corev1.PodTemplate{template("worker", "cpu", "2")}}
			for i := range 5000 {
				name := fmt.Sprintf("n%04d", i)
				in.Snapshot.Nodes = append(in.Snapshot.Nodes, scheduling.Node{Name: name, Object: build.Node(name, build.OfType(large(), "", ""))})
			}
			for i := range asked {
				r := &v1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("r%03d", i), UID: types.UID(fmt.Sprint(i)), CreationTimestamp: metav1.NewTime(start())}}
				r.Spec = v1.ProvisioningRequestSpec{ProvisioningClassName: v1.ClassCheckCapacity, PodSets: []v1.PodSet{{PodTemplateRef: v1.Reference{Name: "worker"}, Count: 16}}}
				in.Requests = append(in.Requests, r)
			}
			round, err := Begin(b.Context(), in)
			if err != nil {
				b.Fatal(err)
			}
			answers, err := round.Answer(b.Context(), &scheduling.Plan{})
			if err != nil {
				b.Fatal(err)
			}
			for i := range answers {
				if i%2 == 0 {
					in.Requests[i] = answers[i].Request
				}
			}
			for b.Loop() {
				if _, err := Begin(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

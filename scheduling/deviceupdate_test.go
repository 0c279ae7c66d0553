package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// While pods claim devices, updates give the model that compiling gives. Those that have nothing to do with devices need no compiling.
func TestUpdatesWithDevicesEqualCompile(t *testing.T) {
	inPlace, steps := 0, 0
	seeded.Times(t, seeded.Draws(40, 100), func(t *rapid.T) {
		s := generated(randomRuledSnapshot(t))
		s.DeviceClasses = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
		template(s, "t", nil, gpuRequest("r", int64(number(t, 1, 3))))
		s.Pods = append(s.Pods, pods("claimant", number(t, 1, 3), requests("cpu=1"), claims("t"))...)
		if chance(t, 2) {
			claimObject(s, "shared", gpuRequest("r", 1))
			s.Pods = append(s.Pods, pods("sharer", 2, requests("cpu=1"), claimsNamed("shared"))...)
		}
		for i := range s.Nodes {
			if chance(t, 3) {
				published(s, s.Nodes[i].Name, gpus(2, "A100"))
			}
		}
		for _, list := range s.Catalogs {
			if len(list) > 0 {
				publishes(list[0], gpus(2, "H100")...)
			}
		}
		model, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
		if err != nil {
			t.Skip("a snapshot that is refused")
		}
		for moment := range number(t, 2, 6) {
			s = evolve(t, s, moment)
			next := scheduling.UpdateInPlace(model, s)
			if steps++; next != nil {
				inPlace++
			} else if next, err = model.Update(s); err != nil {
				t.Fatal(err)
			}
			model = next
			want, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
			if err != nil {
				t.Fatal(err)
			}
			if parts := scheduling.ModelDifferences(model, want); len(parts) > 0 {
				t.Fatalf("the updated model differs in %v", parts)
			}
			if diff := cmp.Diff(fmt.Sprint(text(t, solvedBy(t, want))), fmt.Sprint(text(t, solvedBy(t, model)))); diff != "" {
				t.Fatalf("(-Compile +Update):\n%s", diff)
			}
		}
	})
	if inPlace*4 < steps {
		t.Errorf("%d of %d steps were made without compiling: too few to prove anything", inPlace, steps)
	}
}

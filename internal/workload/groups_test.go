package workload

import (
	"strings"
	"testing"

	"github.com/drawknife/drawknife/scheduling"
)

// Apart keeps sizes and the one rule of a fifth of the pods, on either catalogue.
func TestApart(t *testing.T) {
	mixed := Mixed(100, Seed)
	for name, s := range map[string]*scheduling.Snapshot{"fa": Named("fa", 100), "fe": Named("fe", 100)} {
		apart := 0
		for i, pod := range s.Pods {
			if len(pod.Spec.TopologySpreadConstraints) > 0 || !pod.Spec.Containers[0].Resources.Requests.Cpu().Equal(*mixed.Pods[i].Spec.Containers[0].Resources.Requests.Cpu()) {
				t.Fatalf("%s: pod %d is %+v", name, i, pod.Spec)
			}
			if a := pod.Spec.Affinity; a != nil {
				apart++
				if a.PodAffinity != nil || a.PodAntiAffinity == nil {
					t.Fatalf("%s: pod %d has %+v", name, i, a)
				}
			}
		}
		if types := len(s.Catalogs[PoolName]); apart != 20 || types != map[string]int{"fa": 400, "fe": 806}[name] {
			t.Errorf("%s: %d pods keep apart, %d types", name, apart, types)
		}
	}
}

// GPUs are whole, and some type holds every pod.
func TestGPUs(t *testing.T) {
	counts := map[int64]int{}
	largest := int64(0)
	for _, typ := range Catalog() {
		largest = max(largest, int64(typ.GPUs))
	}
	for _, pod := range Named("gpu", 500).Pods {
		q := pod.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"]
		counts[q.Value()]++
		if q.MilliValue()%1000 != 0 || q.Value() > largest {
			t.Errorf("%s asks for %s GPUs", pod.Name, q.String())
		}
	}
	if len(counts) != 5 || counts[0] < 200 || counts[0] > 400 {
		t.Errorf("pods by GPUs: %v", counts)
	}
	var one, other strings.Builder
	if err := Seeded("gpu", 50, 1).EncodeJSON(&one); err != nil {
		t.Fatal(err)
	}
	if err := Seeded("gpu", 50, 2).EncodeJSON(&other); err != nil {
		t.Fatal(err)
	}
	if one.String() == other.String() {
		t.Error("two seeds give the same")
	}
}

package scenario_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/bench/scenario"
)

func TestNamed(t *testing.T) {
	for name, pods := range map[string]int{
		"m5-none-3z-1": 2200, "m5+c5-both-6z-7-50p": 50, "c-20": 20, "c-20-s9001": 20, "fa-10": 10, "fe-10": 10, "gpu-10": 10,
		"gap-6zones": 2217, "gap-norules": 2217, "one-pod-zone-spread": 1,
	} {
		s, err := scenario.Named(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Name != name || len(s.Snapshot.Pods) != pods || s.About == "" {
			t.Errorf("%s: %q with %d pods, want %d", name, s.Name, len(s.Snapshot.Pods), pods)
		}
	}
	for _, name := range []string{"", "x", "x-10", "c-0", "c-10-s", "c-9999999", "c-10-s99999999999999999999", "m5-none-9z-1", "openb-odd-1", "openb-cpu-", "openb-cpu-01"} {
		if s, err := scenario.Named(name); err == nil {
			t.Errorf("%q makes %s", name, s.Name)
		}
	}
}

// Scenarios that need data which is not there say which, and where it is looked for.
func TestNamedWithoutData(t *testing.T) {
	t.Setenv(scenario.DataVariable, t.TempDir())
	for _, name := range []string{"h", "openb-gpu-3"} {
		var missing *scenario.NoDataError
		if _, err := scenario.Named(name); !errors.As(err, &missing) || missing.Scenario != name || !strings.Contains(err.Error(), "openb/pods.csv") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The saved case with rules has the same pods as the one without, which has none.
func TestSavedRules(t *testing.T) {
	rules := map[string]int{}
	for _, name := range scenario.Saved() {
		s, err := scenario.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range s.Snapshot.Pods {
			if len(pod.Spec.TopologySpreadConstraints) > 0 || pod.Spec.Affinity != nil {
				rules[name]++
			}
		}
	}
	if rules["gap-6zones"] < 100 || rules["gap-norules"] != 0 || rules["one-pod-zone-spread"] != 1 {
		t.Errorf("pods with rules: %v", rules)
	}
}

// given is a small trace: sixty pods of three sizes, a third without GPUs.
func given(t *testing.T) scenario.Objects {
	t.Helper()
	var text strings.Builder
	text.WriteString("name,cpu_milli,memory_mib,num_gpu,qos\n")
	for range 20 {
		text.WriteString("a,4000,8192,0,LS\nb,8000,16384,1,LS\nc,32000,65536,4,BE\n")
	}
	name := filepath.Join(t.TempDir(), "pods.csv")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return scenario.Objects{Files: []string{name}}
}

// Drawn traces have as many sizes as the given one, near them, whole GPUs, and what their kind says.
func TestDraw(t *testing.T) {
	o := given(t)
	text := func(s *scenario.Scenario) string {
		var b strings.Builder
		if err := s.Snapshot.EncodeJSON(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, kind := range scenario.DrawKinds() {
		s, err := scenario.FromTrace(o, scenario.Draw{Kind: kind, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		sizes, plain, bound := map[[3]int64]int{}, 0, 0
		for _, pod := range s.Snapshot.Pods {
			list := pod.Spec.Containers[0].Resources.Requests
			gpus := list["nvidia.com/gpu"]
			size := [3]int64{list.Cpu().MilliValue(), list.Memory().Value() >> 20, gpus.Value()}
			sizes[size]++
			near := map[int64]int64{0: 4000, 1: 8000, 4: 32000}[size[2]]
			if size[0] < near*80/100 || size[0] > near*125/100 || size[0]%100 != 0 || size[1] < near*2*80/100 || size[1] > near*2*130/100 {
				t.Errorf("%s: a pod of size %v", kind, size)
			}
			if size[2] == 0 {
				plain++
			}
			if a := pod.Spec.Affinity; a != nil {
				bound++
				if size[2] == 0 || len(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms) != 1 {
					t.Errorf("%s: %v requires %+v", kind, size, a)
				}
			}
		}
		want := map[string]int{"plain": 60, "cpu": 90, "gpu": 60}[kind]
		if len(sizes) != 3 || len(s.Snapshot.Pods) != want || (bound > 0) != (kind == "gpu") || (kind == "cpu") != (plain > 40) {
			t.Errorf("%s: %d pods, %d without GPUs, %d with models, sizes %v", kind, len(s.Snapshot.Pods), plain, bound, sizes)
		}
		if s.Name != "openb-"+kind+"-5" || s.Seed != 5 {
			t.Errorf("%s is called %s, seed %d", kind, s.Name, s.Seed)
		}
		again, err := scenario.FromTrace(o, scenario.Draw{Kind: kind, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		other, err := scenario.FromTrace(o, scenario.Draw{Kind: kind, Seed: 6})
		if err != nil {
			t.Fatal(err)
		}
		if text(again) != text(s) || text(other) == text(s) {
			t.Errorf("%s: the seed does not decide", kind)
		}
	}
	if _, err := scenario.FromTrace(o, scenario.Draw{Kind: "odd"}); err == nil {
		t.Error("an unknown kind is drawn")
	}
}

// What is drawn from the openb trace can be bought, but for a pod or two whose models EC2 sells only on nodes too small for it.
func TestDrawOpenB(t *testing.T) {
	if _, found := scenario.OpenB(os.Getenv(scenario.DataVariable)); !found {
		t.Skipf("$%s does not name a folder with openb/pods.csv, openb/nodepool.yaml and ec2-catalog.json", scenario.DataVariable)
	}
	s, err := scenario.Named("openb-gpu-3")
	if err != nil {
		t.Fatal(err)
	}
	if plan := solve(t, s); len(plan.Unschedulable) > 20 || plan.HourlyCost < 500 {
		t.Errorf("%d pods without a place, $%v/h", len(plan.Unschedulable), plan.HourlyCost)
	}
}

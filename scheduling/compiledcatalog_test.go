package scheduling_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// A catalog that was compiled before gives the model and the plans that the snapshot alone gives.
func TestCompiledCatalogChangesNoPlan(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomRuledSnapshot(t)
		want, err := scheduling.Compile(s)
		if err != nil {
			t.Skip("a snapshot that is refused")
		}
		c, err := scheduling.CompileCatalog(s.Catalogs["types"])
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := scheduling.Compile(s, scheduling.WithCatalogs(nil, c))
			if err != nil {
				t.Fatal(err)
			}
			if parts := scheduling.ModelDifferences(got, want); len(parts) > 0 {
				t.Fatalf("the model differs in %v", parts)
			}
			if diff := cmp.Diff(text(t, solvedBy(t, want)), text(t, solvedBy(t, got))); diff != "" {
				t.Fatalf("(-without +with):\n%s", diff)
			}
		}
	})
}

// Only the very list that the catalog was made of is taken from it.
func TestCompiledCatalogOfAnotherListIsNotUsed(t *testing.T) {
	s := cluster(nodePool("p"), pod("w", requests("cpu=1")), catalogue())
	other, err := scheduling.CompileCatalog([]*cloudprovider.InstanceType{typeOf("huge", 9, "cpu=64", "memory=64Gi")})
	if err != nil {
		t.Fatal(err)
	}
	want, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := scheduling.Compile(s, scheduling.WithCatalogs(other))
	if err != nil {
		t.Fatal(err)
	}
	if parts := scheduling.ModelDifferences(got, want); len(parts) > 0 {
		t.Errorf("the model differs in %v", parts)
	}
}

// CompileCatalog refuses what Compile refuses in a catalog.
func TestCompileCatalogRefuses(t *testing.T) {
	good := typeOf("m", 1, "cpu=1")
	for name, list := range map[string][]*cloudprovider.InstanceType{
		"null type":      {nil},
		"name twice":     {good, good},
		"absurd amount":  {typeOf("n", 1, "cpu=1e99")},
		"negative price": {typeOf("o", -1, "cpu=1")},
	} {
		var refused *scheduling.SnapshotError
		if _, err := scheduling.CompileCatalog(list); !errors.As(err, &refused) {
			t.Errorf("%s: %v, want a *SnapshotError", name, err)
		}
	}
}

// Many models may be compiled with one catalog at once; the race detector watches.
func TestCompiledCatalogIsShared(t *testing.T) {
	s := workload.Named("c", 60)
	c, err := scheduling.CompileCatalog(s.Catalogs[workload.PoolName])
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	plans := make([]string, 4)
	for i := range plans {
		wait.Go(func() {
			m, err := scheduling.Compile(s, scheduling.WithCatalogs(c))
			if err != nil {
				t.Error(err)
				return
			}
			p, err := m.Solve(t.Context(), scheduling.Query{})
			if err != nil {
				t.Error(err)
				return
			}
			plans[i] = fmt.Sprint(p.HourlyCost, len(p.NewNodes))
		})
	}
	wait.Wait()
	for _, plan := range plans {
		if plan != plans[0] {
			t.Errorf("plans differ: %v", plans)
		}
	}
}

// Options that are nil, and catalogs that were never compiled, change nothing.
func TestCompileSkipsNilOptions(t *testing.T) {
	s := exampleSnapshot()
	s.Pods = []*corev1.Pod{build.Pod("web", build.CPU("1"), build.Memory("1Gi"))}
	want := solve(t, s).HourlyCost
	if types := new(scheduling.CompiledCatalog).Types(); types != nil {
		t.Errorf("a catalog that was never compiled has %d types", len(types))
	}
	for name, option := range map[string]scheduling.CompileOption{
		"nil":          nil,
		"no catalogs":  scheduling.WithCatalogs(),
		"nil catalog":  scheduling.WithCatalogs(nil),
		"zero catalog": scheduling.WithCatalogs(&scheduling.CompiledCatalog{}),
		"zero and nil": scheduling.WithCatalogs(&scheduling.CompiledCatalog{}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			m, err := scheduling.Compile(s, option)
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Solve(t.Context(), scheduling.Query{})
			if err != nil {
				t.Fatal(err)
			}
			if p.HourlyCost != want || want == 0 {
				t.Errorf("costs %v, want %v", p.HourlyCost, want)
			}
		})
	}
}

// BenchmarkCompileSmall compiles a few pods with the full catalogue, on an empty cluster: whole, and with the catalogue
// compiled before.
func BenchmarkCompileSmall(b *testing.B) {
	for _, pods := range []int{5, 20, 100} {
		s := workload.Named("c", pods)
		c, err := scheduling.CompileCatalog(s.Catalogs[workload.PoolName])
		if err != nil {
			b.Fatal(err)
		}
		for _, way := range []struct {
			name    string
			options []scheduling.CompileOption
		}{{"whole", nil}, {"shared", []scheduling.CompileOption{scheduling.WithCatalogs(c)}}} {
			b.Run(fmt.Sprintf("pods=%d/catalog=%s", pods, way.name), func(b *testing.B) {
				b.ReportAllocs()
				before, n := cpuTime(b), 0
				for b.Loop() {
					n++
					if _, err := scheduling.Compile(s, way.options...); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(n), "cpu-ms/op")
			})
		}
	}
}

// A catalog is compiled once, and used by each model of the same instance types.
func ExampleCompileCatalog() {
	types := exampleSnapshot().Catalogs["all"]
	catalog, err := scheduling.CompileCatalog(types)
	if err != nil {
		log.Fatal(err)
	}
	for _, cpu := range []string{"1", "3", "7"} {
		s := exampleSnapshot()
		s.Catalogs["all"] = types // the very list
		s.Pods = []*corev1.Pod{build.Pod("web", build.CPU(cpu), build.Memory("1Gi"))}
		model, err := scheduling.Compile(s, scheduling.WithCatalogs(catalog))
		if err != nil {
			log.Fatal(err)
		}
		plan, err := model.Solve(context.Background(), scheduling.Query{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s CPUs: $%.2f/h\n", cpu, plan.HourlyCost)
	}
	// Output:
	// 1 CPUs: $0.10/h
	// 3 CPUs: $0.19/h
	// 7 CPUs: $0.39/h
}

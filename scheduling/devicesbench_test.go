package scheduling_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// deviceFleet has 10,000 pods of 20 kinds of requests for devices, on 800 types of which 60 have some: by claims, or by extended resources
// of the same numbers.
func deviceFleet(byClaims bool) *scheduling.Snapshot {
	models := []string{"A", "B", "C"}
	var types []*cloudprovider.InstanceType
	for i := range 800 {
		cpu := 4 << (i % 6)
		it := typeOf(fmt.Sprintf("t%03d", i), 0.05*float64(cpu)*(1+float64(i%7)/50), fmt.Sprintf("cpu=%d", cpu), fmt.Sprintf("memory=%dGi", cpu*4))
		if i < 60 {
			model, n := models[i%3], 1<<(i%4)
			for j := range it.Offerings {
				it.Offerings[j].Price += float64(n) * float64(1+i%3)
			}
			if byClaims {
				publishes(it, gpus(n, model)...)
			} else {
				it.Capacity["example.com/any"] = *resource.NewQuantity(int64(n), resource.DecimalSI)
				it.Capacity[corev1.ResourceName("example.com/"+model)] = *resource.NewQuantity(int64(n), resource.DecimalSI)
			}
		}
		types = append(types, it)
	}
	s := gpuCluster()
	s.Catalogs["types"] = types
	for shape := range 20 {
		n, model := 1<<(shape%4), shape/4%4 // 0 is any
		var selectors, extended []string
		extended = append(extended, fmt.Sprintf("example.com/any=%d", n))
		if model > 0 {
			selectors = append(selectors, "model="+models[model-1])
			extended = append(extended, fmt.Sprintf("example.com/%s=%d", models[model-1], n))
		}
		amounts := []string{fmt.Sprintf("cpu=%d", 1+shape%3), fmt.Sprintf("memory=%dGi", 1+shape/7)}
		name := fmt.Sprintf("s%02d", shape)
		if byClaims {
			template(s, name, nil, gpuRequest("r", int64(n), selectors...))
			s.Pods = append(s.Pods, pods(name, 500, requests(amounts...), claims(name))...)
		} else {
			s.Pods = append(s.Pods, pods(name, 500, requests(append(amounts, extended...)...))...)
		}
	}
	return s
}

// BenchmarkDevices plans the fleet, compiling included.
func BenchmarkDevices(b *testing.B) {
	for _, c := range []struct {
		name     string
		byClaims bool
	}{{"extended", false}, {"claims", true}} {
		b.Run(c.name, func(b *testing.B) {
			s := deviceFleet(c.byClaims)
			b.ReportAllocs()
			for b.Loop() {
				m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
				if err != nil {
					b.Fatal(err)
				}
				p, err := m.Solve(context.Background(), scheduling.Query{})
				if err != nil || len(p.Unschedulable) > 0 {
					b.Fatal(err, len(p.Unschedulable))
				}
				b.ReportMetric(float64(len(p.NewNodes)), "nodes")
			}
		})
	}
}

// BenchmarkDevicesOfNodes compiles a cluster of 1,000 nodes with eight devices each, all with a UUID, and 20 kinds of requests.
func BenchmarkDevicesOfNodes(b *testing.B) {
	s := deviceFleet(true)
	for i := range 1000 {
		name := fmt.Sprintf("n%04d", i)
		s.Nodes = append(s.Nodes, node(name, allocatable("cpu=64", "memory=256Gi")))
		list := gpus(8, "A")
		for j := range list {
			uuid := fmt.Sprintf("%s-%d", name, j)
			list[j].Attributes["uuid"] = resourcev1.DeviceAttribute{StringValue: &uuid}
		}
		published(s, name, list, "a-0", "a-1", "a-2")
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{})); err != nil {
			b.Fatal(err)
		}
	}
}

package gangs_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/gangs"
)

const zone = corev1.LabelTopologyZone

func typeIn(stated requirements.Set, zones ...string) *cloudprovider.InstanceType {
	it := &cloudprovider.InstanceType{Requirements: stated}
	for _, z := range zones {
		it.Offerings = append(it.Offerings, cloudprovider.Offering{Requirements: requirements.NewSet(requirements.In(zone, z)), Available: z != "sold-out"})
	}
	return it
}

func TestDomains(t *testing.T) {
	racks := requirements.NewSet(requirements.In("rack", "1", "2"))
	many := make([]map[string]string, 2*gangs.MostDomains)
	for i := range many {
		many[i] = map[string]string{"rack": fmt.Sprint(i)}
	}
	for _, c := range []struct {
		name  string
		keys  []string
		nodes []map[string]string
		pools []gangs.Pool
		want  [][]string
	}{
		{"of nodes, each once", []string{zone}, []map[string]string{{zone: "b"}, {zone: "a"}, {zone: "b"}, {}}, nil, [][]string{{"a"}, {"b"}}},
		{"of offerings that are to be had", []string{zone}, nil, []gangs.Pool{{Types: []*cloudprovider.InstanceType{typeIn(requirements.Set{}, "a", "sold-out")}}}, [][]string{{"a"}}},
		{"as far as the pool allows", []string{zone}, nil, []gangs.Pool{{
			Template: requirements.NewSet(requirements.In(zone, "b")), Types: []*cloudprovider.InstanceType{typeIn(requirements.Set{}, "a", "b")},
		}}, [][]string{{"b"}}},
		{"of types", []string{zone, "rack"}, nil, []gangs.Pool{{Types: []*cloudprovider.InstanceType{typeIn(racks, "a")}}}, [][]string{{"a", "1"}, {"a", "2"}}},
		{"of the template", []string{"rack"}, nil, []gangs.Pool{{Template: racks, Types: []*cloudprovider.InstanceType{typeIn(requirements.Set{}, "a")}}}, [][]string{{"1"}, {"2"}}},
		{"combinations that are there", []string{zone, "rack"}, []map[string]string{{zone: "a", "rack": "1"}, {zone: "b", "rack": "2"}, {zone: "b"}}, nil, [][]string{{"a", "1"}, {"b", "2"}}},
		{"no new node has a host's name", []string{corev1.LabelHostname}, []map[string]string{{corev1.LabelHostname: "n"}}, []gangs.Pool{{Types: []*cloudprovider.InstanceType{typeIn(requirements.Set{}, "a")}}}, [][]string{{"n"}}},
		{"what any value would do for is no domain", []string{"rack"}, nil, []gangs.Pool{{Template: requirements.NewSet(requirements.Exists("rack")), Types: []*cloudprovider.InstanceType{typeIn(requirements.Set{}, "a")}}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := gangs.Domains(c.keys, c.nodes, gangs.Sold(c.keys, c.pools)); !slices.EqualFunc(got, c.want, slices.Equal) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	if got := gangs.Domains([]string{"rack"}, many, nil); len(got) != gangs.MostDomains {
		t.Errorf("%d domains, want %d at most", len(got), gangs.MostDomains)
	}
}

package scheduling_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// The case that TestQualityOfOneTypeMore was written for: pods of which eight keep apart on nodes and some are spread over five zones need
// eight nodes or more, most of them small, while all the others fit on a large one. A type that is a little cheaper in one zone made the
// plan 15 % dearer, since it ended with one node too large and seven that were nearly empty.
func apartAndSpread(t *testing.T, oneMore bool) *scheduling.Snapshot {
	t.Helper()
	zones := []string{"a", "b", "c", "d", "e"}
	sized := func(name, cpu, memory, pods string, prices ...float64) *cloudprovider.InstanceType {
		it := typeOf(name, 0, "cpu="+cpu, "memory="+memory, "pods="+pods)
		it.Offerings = nil
		for i, zone := range zones {
			it.Offerings = append(it.Offerings, offering(zone, v1.CapacityTypeOnDemand, prices[i%len(prices)]))
		}
		return it
	}
	types := []*cloudprovider.InstanceType{
		sized("m-2", "1790m", "6604Mi", "29", 0.0504), sized("m-4", "3780m", "13863Mi", "58", 0.1008),
		sized("m-8", "7760m", "29018Mi", "58", 0.2016), sized("m-16", "15740m", "57392Mi", "234", 0.4032),
		sized("m-32", "31700m", "118013Mi", "234", 0.8064), sized("m-48", "47660m", "178634Mi", "234", 1.2096),
	}
	if oneMore {
		types = append(types, sized("extra", "3780m", "13863Mi", "58", 0.094752, 0.111888, 0.128016, 0.106848, 0.112896))
	}
	parts := []any{types}
	for i, app := range []struct {
		pods        int
		cpu, memory string
		rule        func(app string) podOption
	}{
		{40, "200m", "256Mi", nil}, {40, "200m", "128Mi", nil}, {40, "200m", "512Mi", nil}, {31, "50m", "128Mi", nil},
		{10, "250m", "2Gi", nil}, {10, "200m", "512Mi", overZones}, {8, "1", "1Gi", nil}, {8, "100m", "2Gi", nil},
		{8, "100m", "4Gi", keptApart}, {8, "500m", "4Gi", nil}, {5, "200m", "256Mi", nil}, {3, "250m", "1Gi", nil},
		{3, "500m", "1Gi", overZones}, {2, "500m", "4Gi", nil}, {2, "200m", "2Gi", overZones}, {2, "50m", "4Gi", nil},
		{2, "500m", "1Gi", keptApart}, {2, "500m", "512Mi", overZones}, {2, "100m", "1Gi", nil},
	} {
		name := fmt.Sprintf("app-%d", i)
		o := []podOption{labelled(name), requests("cpu="+app.cpu, "memory="+app.memory)}
		if app.rule != nil {
			o = append(o, app.rule(name))
		}
		parts = append(parts, pods(name, app.pods, o...))
	}
	return cluster(parts...)
}

func keptApart(app string) podOption { return awayFrom(corev1.LabelHostname, app) }

func overZones(app string) podOption { return spreadBy(zoneKey, 1, app) }

func TestQualityOfOneTypeMore(t *testing.T) {
	without, with := solve(t, apartAndSpread(t, false)), solve(t, apartAndSpread(t, true))
	t.Logf("costs %v, and %v with one type more, bound %v", without.HourlyCost, with.HourlyCost, with.LowerBound)
	if with.HourlyCost > without.HourlyCost*1.001 {
		t.Errorf("costs %v, and %v with one type more", without.HourlyCost, with.HourlyCost)
	}
}

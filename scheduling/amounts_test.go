package scheduling_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// What a request can't mean, on both sides of each bound.
func TestImpossibleRequest(t *testing.T) {
	for _, c := range []struct {
		name, amount string
		want         bool
	}{
		{"cpu", "0", false}, {"cpu", "-1m", true}, {"cpu", "1999999m", false}, {"cpu", "2000", true},
		{"memory", "100Ti", false}, {"memory", "109951162777601", true}, {"memory", "8Ei", true}, {"memory", "-1", true},
		{"ephemeral-storage", "1Pi", false}, {"ephemeral-storage", "2Pi", true},
		{"example.com/gpu", "8", false}, {"example.com/gpu", "9E", true},
		{"cpu", "1e9999999", true}, {"memory", "1e9999999", true}, {"memory", "-1e9999999", true}, {"example.com/gpu", "1e9999999", true},
	} {
		if got := scheduling.ImpossibleRequest(corev1.ResourceName(c.name), resource.MustParse(c.amount)); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.name, c.amount, got, c.want)
		}
	}
}

// What is large but real is planned: the largest nodes of any cloud, and limits above all that a cluster has.
func TestLargeAmountsAreReal(t *testing.T) {
	huge := typeOf("huge", 100, "cpu=1920", "memory=32Ti", "ephemeral-storage=336T")
	p := solve(t, cluster(huge, nodePool("p", limit("memory=100Pi", "cpu=1e20")), pods("p", 40, requests("cpu=1900", "memory=30Ti", "ephemeral-storage=300T"))))
	if len(p.NewNodes) != 40 || len(p.Unschedulable) != 0 {
		t.Errorf("%d nodes, want 40: %v", len(p.NewNodes), p.Unschedulable)
	}
	n := node("n", bound(pod("b", requests("memory=3Ti"))), allocatable("cpu=4", "memory=4Ti"))
	wantPlace(t, solve(t, cluster(nothingNew(), n, pod("p", requests("memory=1Ti")), pod("q", requests("memory=1Mi")))), "p", "on n")
}

// Amounts whose exponents make other arithmetic on quantities take minutes are refused at once: a pod's with the pod, all
// others with the snapshot. The deadline is generous: the arithmetic takes seconds for each.
func TestAbsurdExponents(t *testing.T) {
	const absurd = "1e9999999"
	start := time.Now()
	for name, p := range map[string]podOption{
		"a container": requests("cpu=1", "memory="+absurd), "cpu": requests("cpu=" + absurd), "a negative one": requests("memory=-" + absurd),
		"an init container": initContainers(container("i", "memory="+absurd)), "a sidecar": initContainers(sidecar("s", "memory="+absurd)),
		"overhead": overhead("memory=" + absurd), "the pod's own": podLevel("memory=" + absurd),
		"a resize": running("main", amounts("memory=1"), amounts("memory="+absurd)), "a device": requests("example.com/gpu=" + absurd),
	} {
		t.Run(name, func(t *testing.T) {
			full := node("n", bound(pod("b", p)))
			if name == "a negative one" {
				full = node("n", bound(pod("b", requests("cpu=4"))))
			}
			plan := solveQuery(t, cluster(pod("bad", p), pod("good"), full), scheduling.Query{})
			if r := reasonsOf(t, plan, "bad")[0]; r.Code != scheduling.ReasonPodInvalid || len(r.String()) > 200 {
				t.Errorf("%s: %s", r.Code, r)
			}
			want := "new small/a/spot" // the bound one fills its node
			if name == "a device" {
				want = "on n" // but not for pods that ask for no device
			}
			wantPlace(t, plan, "good", want)
		})
	}
	overhead := func(change func(*cloudprovider.Overhead)) *cloudprovider.InstanceType {
		it := typeOf("t", 1, "cpu=1", "memory=1Gi")
		change(&it.Overhead)
		return it
	}
	for path, parts := range map[string][]any{
		"nodes[n].object.status.capacity[memory]":       {node("n", allocatable("memory="+absurd))},
		"nodes[n].claim.status.allocatable[memory]":     {node("n", ofPool("default"), func(n *scheduling.Node) { n.Claim.Status.Allocatable = amounts("memory=" + absurd) })},
		"nodePools[0].object.spec.limits[cpu]":          {nodePool("p", limit("cpu="+absurd, "memory="+absurd))},
		"catalogs[types][0].capacity[cpu]":              {typeOf("t", 1, "cpu="+absurd)},
		"catalogs[types][0].overhead.kubeReserved[cpu]": {overhead(func(o *cloudprovider.Overhead) { o.KubeReserved = amounts("cpu=" + absurd) })},
		"catalogs[types][0].offerings[0].capacity[cpu]": {sold(typeOf("t", 1, "cpu=1"), func() cloudprovider.Offering {
			o := offering("a", "spot", 1)
			o.Capacity = amounts("cpu=" + absurd)
			return o
		}())},
	} {
		t.Run(path, func(t *testing.T) {
			_, err := scheduling.Compile(cluster(parts...))
			var refused *scheduling.SnapshotError
			if !errors.As(err, &refused) || refused.Path != path || len(err.Error()) > 200 {
				t.Errorf("%v, want it to name %s", err, path)
			}
		})
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

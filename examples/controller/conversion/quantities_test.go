package conversion_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/examples/controller/conversion"
)

// Objects with a quantity that takes minutes to read, which older definitions let in, are converted at once, there and back, and
// keep it: an API server lists either all objects of a kind or none.
func TestQuantitiesOutOfBounds(t *testing.T) {
	const (
		small = "1e-999999999"
		large = "1E+999999999"
	)
	for name, c := range map[string]struct{ object, to string }{
		"v1beta1 NodePool": {`{"apiVersion":"karpenter.sh/v1beta1","kind":"NodePool","metadata":{"name":"web"},"spec":{"limits":{"cpu":"` + small + `","memory":"1Gi","nodes":810000000000000001,"pods":"` + large + `"},
			"template":{"spec":{"requirements":[],"nodeClassRef":{"name":"default"}}}}}`, "karpenter.sh/v1"},
		"v1 NodePool": {`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"web"},"spec":{"limits":{"cpu":"` + small + `"},
			"template":{"spec":{"requirements":[],"expireAfter":"Never","nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"}}}},"status":{"resources":{"cpu":"` + large + `"}}}`, "karpenter.sh/v1beta1"},
		"v1 NodeClaim": {`{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"name":"web-1"},"spec":{"resources":{"requests":{"cpu":"` + small + `"}},"requirements":[],"expireAfter":"Never",
			"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"}},"status":{"capacity":{"memory":"` + large + `"}}}`, "karpenter.sh/v1beta1"},
		"v1 EC2NodeClass": {`{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","metadata":{"name":"a"},"spec":{"role":"r","amiSelectorTerms":[{"alias":"al2023@latest"}],
			"blockDeviceMappings":[{"deviceName":"/dev/xvda","ebs":{"volumeSize":"` + small + `"}}]}}`, "karpenter.k8s.aws/v1beta1"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			there, err := conversion.Converter{}.Convert(context.Background(), []byte(c.object), c.to)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("converting takes %s", took)
			}
			for _, text := range []string{small, large} {
				if strings.Count(string(there), text) < min(strings.Count(c.object, text), 1) {
					t.Errorf("%s is lost:\n%s", text, there)
				}
			}
			from := "karpenter.sh/v1"
			if strings.HasSuffix(c.to, "/v1") {
				from += "beta1"
			}
			if strings.HasPrefix(c.to, "karpenter.k8s.aws") {
				from = strings.Replace(from, "karpenter.sh", "karpenter.k8s.aws", 1)
			}
			back, err := conversion.Converter{}.Convert(context.Background(), there, from)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{small, large} {
				if got, want := strings.Count(string(back), text), strings.Count(c.object, text); got != want {
					t.Errorf("%s %d times there and back, want %d:\n%s", text, got, want, back)
				}
			}
			if strings.Contains(c.object, "810000000000000001") != strings.Contains(string(back), "810000000000000001") {
				t.Errorf("a number of the object is another:\n%s", back)
			}
		})
	}
}

// An object may have any number of them, in little time: none is left for the decoder because others were found before it.
func TestManyQuantitiesOutOfBounds(t *testing.T) {
	for _, many := range []int{150, 20_000} {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			var limits strings.Builder
			for i := range many {
				fmt.Fprintf(&limits, `,"example.com/r%d":"1e-9%08d"`, i, i)
			}
			pool := `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"web","annotations":{"marks":"81000000 810000010000000001"}},"spec":{"limits":{"cpu":"1"` +
				limits.String() + `},"template":{"spec":{"requirements":[],"expireAfter":"Never","nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"}}}}}`
			start := time.Now()
			old, err := conversion.Converter{}.Convert(context.Background(), []byte(pool), "karpenter.sh/v1beta1")
			if err != nil {
				t.Fatal(err)
			}
			back, err := conversion.Converter{}.Convert(context.Background(), old, "karpenter.sh/v1")
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("converting there and back takes %s", took)
			}
			if diff := cmp.Diff(decode(t, pool)["spec"], decode(t, string(back))["spec"]); diff != "" {
				t.Error(diff)
			}
			if got := at(decode(t, string(back)), "metadata", "annotations", "marks"); got != "81000000 810000010000000001" {
				t.Errorf("the annotation is %v", got)
			}
		})
	}
}

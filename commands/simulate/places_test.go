package simulate

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// Clusters whose nodes don't name one region of AWS.
func oddPlaces(t *testing.T) map[string]struct{ input, want string } {
	text := singapore(t, "t3.medium")
	zones := regexp.MustCompile(`(topology.kubernetes.io/zone: |aws:///)ap-southeast-1([ac])`)
	bare := regexp.MustCompile(`, topology.kubernetes.io/zone: [^,]+,|spec: {providerID.*}`)
	return map[string]struct{ input, want string }{
		"two regions": {strings.ReplaceAll(text, "ap-southeast-1c", "eu-west-1a"), "a guess: the nodes are in ap-southeast-1, eu-west-1; name it with --region"},
		"no labels": {bare.ReplaceAllStringFunc(text, func(s string) string {
			if strings.HasPrefix(s, ",") {
				return ","
			}
			return "spec: {}"
		}), "a guess: no node says where it is; name it with --region"},
		"another cloud": {strings.ReplaceAll(zones.ReplaceAllString(text, "${1}westeurope-$2"), "aws:///", "azure:///"), "a guess: 2 nodes are in westeurope-a of azure, westeurope-c of azure, which is no region of AWS"},
		"a region alone": {bare.ReplaceAllStringFunc(text, func(s string) string {
			if strings.HasPrefix(s, ",") {
				return ", topology.kubernetes.io/region: eu-west-1,"
			}
			return "spec: {}"
		}), "region eu-west-1 (from the nodes), zones eu-west-1a, eu-west-1b, eu-west-1c (a guess: no node says"},
	}
}

// Wherever the nodes are, the answer itself says which region is assumed, in every mode, as text and as JSON, and so does what is
// planned from a saved snapshot.
func TestAssumedPlaces(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "snapshot.yaml")
	for name, c := range oddPlaces(t) {
		modes := [][]string{
			{"-", "--replace-nodes=eks.amazonaws.com/nodegroup"}, {"-", "--consolidate"}, {"-", "--diff", "testdata/regions/singapore.yaml"},
			{"-", "--replay", "testdata/trace.csv", "--replay-for", "1h"},
		}
		if name == "two regions" { // a snapshot has all instance types, and takes its time
			if a := simulate(t, c.input, "-", "--allow-empty", "--save-snapshot", saved); !strings.Contains(a.stdout, c.want) {
				t.Errorf("%s: saving: %s%s", name, a.stdout, a.stderr)
			}
			modes = append(modes, []string{"--snapshot", saved})
		}
		for _, args := range modes {
			a := simulate(t, c.input, args...)
			if !strings.Contains(a.stdout, "Assumed:\n") || !strings.Contains(a.stdout, c.want) {
				t.Errorf("%s: %v: status %d, no %q in\n%s%s", name, args, a.code, c.want, a.stdout, a.stderr)
			}
			var d struct {
				Assumptions []string `json:"assumptions"`
			}
			if err := json.Unmarshal([]byte(simulate(t, c.input, append(args, "-o", "json")...).stdout), &d); err != nil {
				t.Errorf("%s: %v: %v", name, args, err)
			}
			if !strings.Contains(strings.Join(d.Assumptions, "\n"), c.want) {
				t.Errorf("%s: %v: assumptions %q", name, args, d.Assumptions)
			}
		}
	}
}

// Nodes outside the region that is planned for are named.
func TestElsewhere(t *testing.T) {
	two := strings.ReplaceAll(singapore(t, "t3.medium"), "ap-southeast-1c", "eu-west-1a")
	for _, region := range []string{"eu-west-1", "us-east-1"} {
		a := simulate(t, two, "-", "--consolidate", "--region", region)
		if want := "prices are those of " + region + " alone, and not for 1 node in ap-southeast-1"; !strings.Contains(a.stdout, want) {
			t.Errorf("no %q in\n%s%s", want, a.stdout, a.stderr)
		}
	}
}

// Labels of both generations and provider IDs say where a node is.
func TestPlacesOf(t *testing.T) {
	node := func(providerID string, labels ...string) scheduling.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}, Spec: corev1.NodeSpec{ProviderID: providerID}}
		for i := 0; i < len(labels); i += 2 {
			n.Labels[labels[i]] = labels[i+1]
		}
		return scheduling.Node{Object: n}
	}
	got := placesOf(&scheduling.Snapshot{Nodes: []scheduling.Node{
		node("aws:///eu-west-1a/i-1"), node("", corev1.LabelFailureDomainBetaZone, "eu-west-1b"), node("", corev1.LabelTopologyZone, "eu-west-1a"),
		node("", corev1.LabelTopologyRegion, "us-west-2", corev1.LabelTopologyZone, "us-west-2-lax-1a"), node("", corev1.LabelFailureDomainBetaRegion, "us-west-2"),
		node("gce://p/us-central1-a/x", corev1.LabelTopologyRegion, "us-central1"), node("kind://docker/kind/kind-worker"), node("", corev1.LabelTopologyZone, "rack-7"),
		node(""), {},
	}})
	want := nodePlaces{
		zones:   map[string][]string{"eu-west-1": {"eu-west-1a", "eu-west-1b"}},
		nodes:   map[string]int{"eu-west-1": 3, "us-west-2": 2},
		foreign: map[string]int{"us-central1 of gce": 1, "kind": 1, "rack-7": 1}, silent: 2,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(nodePlaces{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

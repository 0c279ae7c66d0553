package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// A type that states no architecture, or several, has none that could be shown.
func TestArchitectures(t *testing.T) {
	of := func(name string, values ...string) *cloudprovider.InstanceType {
		it := &cloudprovider.InstanceType{Name: name}
		if len(values) > 0 {
			it.Requirements = requirements.NewSet(requirements.In(corev1.LabelArchStable, values...))
		}
		return it
	}
	got := indexArchitectures(&scheduling.Snapshot{Catalogs: map[string][]*cloudprovider.InstanceType{
		"a": {of("one", "arm64"), of("several", "arm64", "amd64"), of("none"), nil}, "b": {of("other", "amd64")},
	}})
	if diff := cmp.Diff(architectures{"one": "arm64", "other": "amd64"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Pods get nodes of the architectures that --images and annotations name, and the answer says for how many it is assumed.
func TestImages(t *testing.T) {
	dir := t.TempDir()
	input, list := filepath.Join(dir, "in.yaml"), filepath.Join(dir, "images.json")
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: %s, annotations: {%s}}, spec: {containers: [{name: c, image: %s, resources: {requests: {cpu: 1, memory: 2Gi}}}]}}\n---\n"
	text := fmt.Sprintf(pod, "a", "", "intel") + fmt.Sprintf(pod, "b", `drawknife.dev/architectures: "amd64"`, "x") + fmt.Sprintf(pod, "c", "", "unknown")
	for name, text := range map[string]string{input: text, list: `{"intel": {"manifests": [{"platform": {"architecture": "amd64", "os": "linux"}}]}}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := simulate(t, "", "--images", list, "-o", "json", input)
	arch := map[string]string{}
	for _, node := range a.plan(t).Nodes {
		for _, pod := range node.Pods {
			arch[pod] = node.Arch
		}
	}
	if a.code != exitPlaced || arch["default/a"] != "amd64" || arch["default/b"] != "amd64" {
		t.Errorf("%d, %v\n%s", a.code, arch, a.stderr)
	}
	if want := "images are assumed to be built for the architecture of their node: 1 pod on " + arch["default/c"] + ";"; !strings.Contains(a.stderr, want) {
		t.Errorf("%q is missing:\n%s", want, a.stderr)
	}
	if a := simulate(t, "", "--images", list, "testdata/workloads/amd64.yaml"); a.code != exitPlaced || strings.Contains(a.stderr, "assumed") {
		t.Errorf("the NodePool decides: %d\n%s", a.code, a.stderr)
	}
	for _, args := range [][]string{{"--images", input, input}, {"--images", filepath.Join(dir, "none"), input}} {
		if a := simulate(t, "", args...); a.code != exitInput || !strings.Contains(a.stderr, "reading the images") {
			t.Errorf("%v: %d\n%s", args, a.code, a.stderr)
		}
	}
}

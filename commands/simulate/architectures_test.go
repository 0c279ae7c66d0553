package simulate

import (
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

package manifests

import (
	"testing"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Members of a PodGroup of Kubernetes are disrupted one by one unless it says otherwise.
func TestGangsSayHowTheyAreDisrupted(t *testing.T) {
	const group = "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: {schedulingPolicy: {gang: {minCount: 2}}MODE}\n"
	const pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {schedulingGroup: {podGroupName: g}, containers: [{name: x}]}\n"
	for mode, want := range map[string]planning.GangDisruptionMode{
		"": planning.GangDisruptedSingly, ", disruptionMode: {single: {}}": planning.GangDisruptedSingly, ", disruptionMode: {all: {}}": "",
	} {
		text := group[:len(group)-len("MODE}\n")] + mode + "}\n" + pod
		gangs := load(t, text).Snapshot.Gangs
		if len(gangs) != 1 || gangs[0].DisruptionMode != want {
			t.Errorf("with %q: %+v", mode, gangs)
		}
	}
}

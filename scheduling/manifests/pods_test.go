package manifests

import (
	"strings"
	"testing"
)

// SCH-090: which pods wait for a place.
func TestPodsThatWait(t *testing.T) {
	const node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
	with := func(metadata, more string) string {
		return strings.Replace(simplePod("a", more), "name: a", "name: a, "+metadata, 1) + node
	}
	for name, c := range map[string]struct {
		text    string
		pending bool
		bound   bool
		warning WarningCode
	}{
		"written down":                 {simplePod("a", "") + node, true, false, ""},
		"unschedulable":                {simplePod("a", "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n") + node, true, false, ""},
		"another scheduler's":          {simplePod("a", "  schedulerName: mine\n") + node, true, false, ""},
		"bound":                        {simplePod("a", "  nodeName: n1\n") + node, false, true, ""},
		"bound and being deleted":      {with("deletionTimestamp: '2026-01-01T00:00:00Z'", "  nodeName: n1\n"), false, true, ""},
		"bound to an unknown node":     {simplePod("a", "  nodeName: m\n") + node, false, false, WarningUnknownNode},
		"succeeded":                    {simplePod("a", "status: {phase: Succeeded}\n") + node, false, false, ""},
		"failed and bound":             {simplePod("a", "  nodeName: n1\nstatus: {phase: Failed}\n") + node, false, false, ""},
		"being deleted":                {with("deletionTimestamp: '2026-01-01T00:00:00Z'", ""), false, false, ""},
		"gated":                        {simplePod("a", "  schedulingGates: [{name: g}]\n") + node, false, false, WarningGated},
		"nominated":                    {simplePod("a", "status: {nominatedNodeName: n1}\n") + node, true, false, WarningNominated},
		"of a DaemonSet":               {with("ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d}]", ""), false, false, ""},
		"of a DaemonSet and bound":     {with("ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d}]", "  nodeName: n1\n"), false, true, ""},
		"of another kind of DaemonSet": {with("ownerReferences: [{apiVersion: example.com/v1, kind: DaemonSet, name: d}]", ""), true, false, ""},
		"static":                       {with("ownerReferences: [{apiVersion: v1, kind: Node, name: n1}]", ""), false, false, ""},
		"a mirror":                     {with("annotations: {kubernetes.io/config.mirror: x}", ""), false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			result := load(t, c.text)
			if got := len(result.Snapshot.Pods) == 1; got != c.pending {
				t.Errorf("waits: %v, want %v", got, c.pending)
			}
			if got := len(onlyNode(t, result).Pods) == 1; got != c.bound {
				t.Errorf("bound: %v, want %v", got, c.bound)
			}
			if c.warning == "" {
				wantNoWarnings(t, result)
			} else {
				wantWarning(t, result, c.warning)
			}
		})
	}
}

func TestPodsAreSorted(t *testing.T) {
	result := load(t, simplePod("b", "")+"---\n"+simplePod("a", "")+"---\n"+strings.Replace(simplePod("z", ""), "{name: z}", "{name: z, namespace: a}", 1))
	wantPods(t, result.Snapshot.Pods, "a/z", "default/a", "default/b")
}

func TestNamespacesOfPodsExist(t *testing.T) {
	result := load(t, simplePod("a", "")+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: other, labels: {x: z}}\n")
	if got := len(result.Snapshot.Namespaces); got != 2 {
		t.Fatalf("%d namespaces, want 2", got)
	}
	for i, want := range []string{"default", "other"} {
		if got := result.Snapshot.Namespaces[i].Labels["kubernetes.io/metadata.name"]; got != want {
			t.Errorf("namespace %d is labelled %q, want %q", i, got, want)
		}
	}
}

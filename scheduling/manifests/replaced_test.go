package manifests_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/scheduling/manifests"
)

// dump is a cluster with a Deployment whose pods, one of them by a ReplicaSet that the dump lacks, run on a node, and a bound claim.
const dump = `
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {capacity: {cpu: "8", memory: 32Gi, pods: "110"}, allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, uid: d}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: x, resources: {requests: {cpu: "1"}}}]}}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-7d9, uid: r, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d}]}
spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: x}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-7d9-a, uid: p, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-7d9, uid: r, controller: true}]}
spec: {nodeName: node-1, containers: [{name: c, image: x, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-8cf-b, uid: q, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-8cf, uid: s, controller: true}]}
spec: {nodeName: node-1, containers: [{name: c, image: x, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: other, uid: o}
spec: {nodeName: node-1, containers: [{name: c, image: x}]}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: v, uid: v}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: d, volumeHandle: h}, claimRef: {name: data, namespace: default}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, uid: c}
spec: {volumeName: v, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

const applied = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: x, resources: {requests: {cpu: "2"}}}]}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// An object of another source replaces that of a running cluster, whatever their names. The pods of a replaced workload make room for its
// new ones; all other pods stay, and a claim stays with its volume.
func TestReplacesWhatTheClusterHas(t *testing.T) {
	for _, name := range []string{"a.yaml", "web.yaml"} {
		loaded, err := manifests.Load([]manifests.Source{{Name: name, Data: []byte(applied)}}, manifests.Options{
			Live: []manifests.Source{{Name: "cluster", Data: []byte(dump)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := loaded.Snapshot
		if len(s.Nodes) != 1 || len(s.Nodes[0].Pods) != 1 || s.Nodes[0].Pods[0].Name != "other" {
			t.Errorf("the node has %d pods", len(s.Nodes[0].Pods))
		}
		if len(s.Pods) != 3 || s.Pods[0].Spec.Containers[0].Resources.Requests.Cpu().Value() != 2 {
			t.Errorf("%d pods wait", len(s.Pods))
		}
		if len(s.PersistentVolumeClaims) != 1 || s.PersistentVolumeClaims[0].Spec.VolumeName != "v" {
			t.Errorf("claims are %+v", s.PersistentVolumeClaims)
		}
		var said []string
		for _, w := range loaded.Warnings {
			if w.Code == manifests.WarningReplaced {
				said = append(said, w.String())
			}
		}
		for _, want := range []string{"Deployment default/web: cluster has this object, too; this one replaces it", "PersistentVolumeClaim default/data: cluster", "2 pods of replaced workloads are left out"} {
			if !slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, want) }) {
				t.Errorf("no %q in %q", want, said)
			}
		}
	}
}

// A status that only the cluster knows stays: a node class without one would have no subnets.
func TestReplacedKeepsStatus(t *testing.T) {
	const pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {weight: %d, template: {spec: {requirements: [], nodeClassRef: {group: g, kind: K, name: k}}}}\n"
	const status = "status: {conditions: [{type: Ready, status: 'False', reason: x, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\n"
	loaded, err := manifests.Load([]manifests.Source{{Name: "pool.yaml", Data: fmt.Appendf(nil, pool, 7)}}, manifests.Options{
		Live: []manifests.Source{{Name: "cluster", Data: []byte(fmt.Sprintf(pool, 1) + status)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(loaded.Warnings, func(w manifests.Warning) bool { return w.Code == manifests.WarningNotReady }) {
		t.Errorf("the pool counts as ready: %v", loaded.Warnings)
	}
}

// What is twice in the cluster, or twice in other sources, is still refused.
func TestReplacedTwice(t *testing.T) {
	a, b := manifests.Source{Name: "a", Data: []byte(dump)}, manifests.Source{Name: "b", Data: []byte(dump)}
	x, y := manifests.Source{Name: "x", Data: []byte(applied)}, manifests.Source{Name: "y", Data: []byte(applied)}
	for _, c := range []struct{ live, sources []manifests.Source }{{[]manifests.Source{a, b}, nil}, {[]manifests.Source{a}, []manifests.Source{x, y}}} {
		if _, err := manifests.Load(c.sources, manifests.Options{Live: c.live}); err == nil || !strings.Contains(err.Error(), "is given twice") {
			t.Errorf("error is %v", err)
		}
	}
}

package workload

import (
	"bytes"
	"testing"

	"github.com/drawknife/drawknife/scheduling"
)

// A fleet is the same each time, another with another seed, and every pod is where its rules let it be.
func TestFleet(t *testing.T) {
	written := func(f Fleet) []byte {
		var b bytes.Buffer
		if err := f.Snapshot().EncodeJSON(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, f := range []Fleet{{Nodes: 12, Fill: 0.4}, {Nodes: 12, Fill: 0.4, Mixed: true}, {Nodes: 12, Fill: 0.4, Dense: true}} {
		first := written(f)
		if !bytes.Equal(first, written(f)) {
			t.Errorf("%+v: two fleets differ", f)
		}
		f.Seed = Seed
		if !bytes.Equal(first, written(f)) {
			t.Errorf("%+v: 0 is not the usual seed", f)
		}
		f.Seed = 7
		if bytes.Equal(first, written(f)) {
			t.Errorf("%+v: the seed makes no difference", f)
		}
		s := f.Snapshot()
		if len(s.Nodes) != f.Nodes {
			t.Errorf("%+v: %d nodes", f, len(s.Nodes))
		}
		if _, err := scheduling.Compile(s); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
		for i := range s.Nodes {
			n := &s.Nodes[i]
			for _, p := range n.Pods {
				for key, value := range p.Spec.NodeSelector {
					if n.Object.Labels[key] != value {
						t.Errorf("pod %s wants %s=%s, its node has %s", p.Name, key, value, n.Object.Labels[key])
					}
				}
			}
		}
	}
}

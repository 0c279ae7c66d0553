package disruption_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// approvable is a command with all that a digest is made of.
func approvable() *disruption.Command {
	pod := func(name string) scheduling.PodKey { return scheduling.PodKey{Namespace: "shop", Name: name} }
	return &disruption.Command{
		ID: "c", Method: disruption.MethodMultiNode, Reason: disruption.ReasonUnderutilized, Planned: now(), NotBefore: now().Add(time.Minute),
		Members: []disruption.Member{
			{Node: "a", Claim: "claim-a", UID: "1", Pool: v1.NewPoolKey("default"), Price: 0.4, Cost: 2, Pods: []scheduling.PodKey{pod("x"), pod("y")}},
			{Node: "b", Claim: "claim-b", UID: "2", Pool: v1.NewPoolKey("default"), Price: 0.3, Cost: 1, Pods: []scheduling.PodKey{pod("z")}},
		},
		Replacements: []disruption.Replacement{
			{Pool: v1.NewPoolKey("default"), Node: &scheduling.NewNode{Pods: []scheduling.PodKey{pod("x")}, InstanceTypes: []scheduling.InstanceTypeOption{
				{Name: "c4", Zone: "a", CapacityType: "spot", Price: 0.1}, {Name: "c8", Zone: "b", CapacityType: "spot", Price: 0.2},
			}}},
			{Pool: v1.NewPoolKey("other"), Static: true},
		},
		Receivers: []scheduling.ExistingNode{{Name: "r", Pods: []scheduling.PodKey{pod("y"), pod("z")}}},
		Savings:   0.5,
	}
}

// A digest that was written down yesterday must be the one of today: a change of these literals is a change for those who keep
// digests, and takes another version of them and a line in the changelog.
func TestDigestIsStable(t *testing.T) {
	cmd := approvable()
	if got, want := cmd.Digest(), "650d4221ff2bb5d8151f6ebfe4e486fd"; got != want {
		t.Errorf("the command's digest is %s, want %s", got, want)
	}
	plan := &disruption.Plan{Commands: []*disruption.Command{cmd}}
	if got, want := plan.Digest(), "e6f85f70096bce4ff15bc2af5953b530"; got != want {
		t.Errorf("the plan's digest is %s, want %s", got, want)
	}
	if got, want := (&disruption.Plan{}).Digest(), "6954583cdd7c76e4664415abe1b5ef84"; got != want {
		t.Errorf("the digest of nothing to do is %s, want %s", got, want)
	}
	if (*disruption.Command)(nil).Digest()+(*disruption.Plan)(nil).Digest() != "" {
		t.Error("nothing has a digest")
	}
}

// What is done to the cluster makes another digest, and nothing else does.
func TestDigestIsOfWhatMatters(t *testing.T) {
	before := approvable().Digest()
	for name, change := range map[string]func(*disruption.Command){
		"another node":   func(c *disruption.Command) { c.Members[0].Node = "z" },
		"another claim":  func(c *disruption.Command) { c.Members[0].Claim = "z" },
		"another life":   func(c *disruption.Command) { c.Members[1].UID = "3" },
		"a node less":    func(c *disruption.Command) { c.Members = c.Members[:1] },
		"another reason": func(c *disruption.Command) { c.Reason = disruption.ReasonDrifted },
		"another pod":    func(c *disruption.Command) { c.Members[1].Pods[0].Name = "new" },
		"a pod more": func(c *disruption.Command) {
			c.Members[1].Pods = append(c.Members[1].Pods, scheduling.PodKey{Name: "new"})
		},
		"a pod elsewhere": func(c *disruption.Command) {
			c.Members[0].Pods[0], c.Members[1].Pods[0] = c.Members[1].Pods[0], c.Members[0].Pods[0]
		},
		"another type":      func(c *disruption.Command) { c.Replacements[0].Node.InstanceTypes[1].Name = "c16" },
		"another zone":      func(c *disruption.Command) { c.Replacements[0].Node.InstanceTypes[0].Zone = "c" },
		"bought otherwise":  func(c *disruption.Command) { c.Replacements[0].Node.InstanceTypes[0].CapacityType = "on-demand" },
		"a reservation":     func(c *disruption.Command) { c.Replacements[0].Node.InstanceTypes[0].Others = "cr-1" },
		"another pool":      func(c *disruption.Command) { c.Replacements[1].Pool = v1.NewPoolKey("third") },
		"not static":        func(c *disruption.Command) { c.Replacements[1].Static = false },
		"launches one less": func(c *disruption.Command) { c.Replacements = c.Replacements[:1] },
	} {
		cmd := approvable()
		change(cmd)
		if cmd.Digest() == before {
			t.Errorf("%s: the digest is the same", name)
		}
	}
	for name, change := range map[string]func(*disruption.Command){
		"planned later": func(c *disruption.Command) {
			c.ID, c.Planned, c.NotBefore = "d", c.Planned.Add(time.Hour), c.NotBefore.Add(time.Hour)
		},
		"another method": func(c *disruption.Command) { c.Method = disruption.MethodSingleNode },
		"another wave":   func(c *disruption.Command) { c.Wave, c.Waves = 2, 3 },
		"another price": func(c *disruption.Command) {
			c.Members[0].Price, c.Savings, c.Replacements[0].Node.InstanceTypes[0].Price = 9, 9, 9
		},
		"other receivers":  func(c *disruption.Command) { c.Receivers = nil },
		"other order":      func(c *disruption.Command) { slices.Reverse(c.Members); slices.Reverse(c.Replacements) },
		"pods in order":    func(c *disruption.Command) { slices.Reverse(c.Members[0].Pods) },
		"types in order":   func(c *disruption.Command) { slices.Reverse(c.Replacements[0].Node.InstanceTypes) },
		"pods of new node": func(c *disruption.Command) { c.Replacements[0].Node.Pods = nil },
	} {
		cmd := approvable()
		change(cmd)
		if cmd.Digest() != before {
			t.Errorf("%s: the digest is another", name)
		}
	}
}

// Which wave a command is in matters to a plan, and the order in a wave does not.
func TestDigestOfPlan(t *testing.T) {
	a, b := approvable(), approvable()
	b.ID, b.Reason = "b", disruption.ReasonDrifted
	plan := func(waves ...[]string) *disruption.Plan {
		p := &disruption.Plan{Commands: []*disruption.Command{a, b}}
		for _, ids := range waves {
			p.Waves = append(p.Waves, disruption.Wave{Commands: ids})
		}
		return p
	}
	together, other := plan([]string{"c", "b"}).Digest(), plan([]string{"b", "c"}).Digest()
	if together != other {
		t.Errorf("%s, in another order %s", together, other)
	}
	if one, two := plan([]string{"c"}, []string{"b"}).Digest(), plan([]string{"b"}, []string{"c"}).Digest(); one == two || one == together {
		t.Errorf("%s, the other way round %s, together %s", one, two, together)
	}
}

// The same fleet gives the same digests an hour later, and a planner that plans again finds what was approved before.
func TestDigestOfSameFleet(t *testing.T) {
	w := newWorld()
	w.node("empty", "c4")
	w.node("large", "c16", holding(pods("p", 3, "1")...))
	plan := func() *disruption.Plan {
		p, err := (&disruption.Global{}).Plan(t.Context(), w.fleet(t))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := plan()
	w.snapshot.Time = w.snapshot.Time.Add(time.Hour)
	second := plan()
	if len(first.Commands) == 0 || first.Commands[0].ID == second.Commands[0].ID || first.Digest() != second.Digest() {
		t.Errorf("%s: %s, an hour later %s: %s", said(first), first.Digest(), said(second), second.Digest())
	}
}

// An approval is of the pods and NodeClaims that were there: pods that are gone do not matter, one that came does.
func TestMovedOn(t *testing.T) {
	w := newWorld()
	list := pods("p", 2, "1")
	w.node("n", "c8", holding(list...))
	cmd := &disruption.Command{ID: "c", Members: []disruption.Member{{Node: "n", UID: w.snapshot.Nodes[0].Claim.UID, Pods: []scheduling.PodKey{
		{Namespace: list[0].Namespace, Name: list[0].Name}, {Namespace: list[1].Namespace, Name: list[1].Name},
	}}}}
	if why := disruption.MovedOn(w.fleet(t), cmd); why != nil {
		t.Errorf("nothing has changed: %v", why)
	}
	n := &w.snapshot.Nodes[0]
	n.Pods = list[:1]
	if why := disruption.MovedOn(w.fleet(t), cmd); why != nil {
		t.Errorf("a pod is gone: %v", why)
	}
	n.Pods = append(slices.Clone(list), pods("new", 1, "1")...)
	if why := disruption.MovedOn(w.fleet(t), cmd); why == nil || why.Block.Code != disruption.BlockUnapproved || why.Block.Pod.Name != n.Pods[2].Name || why.Node != "n" {
		t.Errorf("a pod came: %v", why)
	}
	n.Pods, n.Claim.UID = list, types.UID("another")
	if why := disruption.MovedOn(w.fleet(t), cmd); why == nil || why.Block.Code != disruption.BlockUnmanaged {
		t.Errorf("another NodeClaim: %v", why)
	}
	if disruption.MovedOn(nil, cmd) != nil || disruption.MovedOn(w.fleet(t), nil) != nil {
		t.Error("nothing to compare")
	}
}

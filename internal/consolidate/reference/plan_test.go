package reference_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/fleettest"
)

func options() *reference.Options {
	return &reference.Options{SpotToSpot: true, SpotToSpotTypes: 3, MaxBatch: 100, MaxTrials: 100, ValidationDelay: 15 * time.Second}
}

func planOf(t *testing.T, o *reference.Options, f *fleettest.Fleet) *reference.Plan {
	t.Helper()
	plan, err := o.Plan(t.Context(), f.Survey(t))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// only is the plan's one command.
func only(t *testing.T, plan *reference.Plan, method decision.Method, nodes ...string) *decision.Command {
	t.Helper()
	if len(plan.Commands) != 1 {
		t.Fatalf("%d commands, want %s of %v; verdicts %+v", len(plan.Commands), method, nodes, plan.Verdicts)
	}
	cmd := plan.Commands[0]
	var names []string
	for i := range cmd.Members {
		names = append(names, cmd.Members[i].Node)
	}
	if cmd.Method != method || !slices.Equal(names, nodes) {
		t.Fatalf("%s of %v, want %s of %v", cmd.Method, names, method, nodes)
	}
	return cmd
}

// blockOf is what keeps the node from the method.
func blockOf(plan *reference.Plan, node string, method decision.Method) *decision.Block {
	for _, v := range plan.Verdicts {
		for _, b := range v.Blocks {
			if v.Node == node && b.Method == method {
				return b.Block
			}
		}
	}
	return &decision.Block{}
}

// Empty nodes go together as far as budgets let them, after the validation delay; who is left waits for the budget.
func TestEmptiness(t *testing.T) {
	f := fleettest.New()
	for _, name := range []string{"a", "b", "c"} {
		f.Node(name, "c4")
	}
	cmd := only(t, planOf(t, options(), f), decision.MethodEmptiness, "a", "b", "c")
	if !cmd.MayShrink || math.Abs(cmd.Savings-0.6) > 1e-9 || cmd.NotBefore.Sub(cmd.Planned) != 15*time.Second || len(cmd.Replacements) != 0 {
		t.Errorf("the command is %+v", cmd)
	}
	f.Pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "2"}}
	plan := planOf(t, options(), f)
	if len(plan.Commands) != 1 || len(plan.Commands[0].Members) != 2 || !plan.Waiting {
		t.Fatalf("with a budget of 2: %+v, waiting %v", plan.Commands, plan.Waiting)
	}
	blocked := 0
	for _, name := range []string{"a", "b", "c"} {
		if blockOf(plan, name, decision.MethodEmptiness).Code == decision.BlockBudget {
			blocked++
		}
	}
	if blocked != 1 {
		t.Errorf("%d nodes wait for the budget, want 1", blocked)
	}
}

// As many nodes go at once as their pods have room elsewhere. The node that would be replaced by its like stays.
func TestMultiNode(t *testing.T) {
	f := fleettest.New()
	for _, name := range []string{"a", "b", "c"} {
		f.Node(name, "c8", fleettest.Pods(name, 1, "2")...)
	}
	plan := planOf(t, options(), f)
	if len(plan.Commands) != 1 || plan.Commands[0].Method != decision.MethodMultiNode || len(plan.Commands[0].Members) != 2 {
		t.Fatalf("%+v", plan.Commands)
	}
	cmd := plan.Commands[0]
	if math.Abs(cmd.Savings-0.8) > 1e-9 || len(cmd.Receivers) != 1 || len(cmd.Replacements) != 0 || cmd.MayShrink {
		t.Errorf("%+v", cmd)
	}
	for _, name := range []string{"a", "b", "c"} {
		gone := slices.ContainsFunc(cmd.Members, func(m decision.Member) bool { return m.Node == name })
		if why := blockOf(plan, name, decision.MethodMultiNode); !gone && why.Code != decision.BlockNotCheaper {
			t.Errorf("%s stays since %v", name, why)
		}
	}
	o := options()
	o.MaxTrials = 0
	if plan := planOf(t, o, f); len(plan.Commands) != 0 || !plan.Waiting || blockOf(plan, "a", decision.MethodMultiNode).Code != decision.BlockNotReached {
		t.Errorf("without trials: %+v, waiting %v", plan.Commands, plan.Waiting)
	}
}

// A node that is too large is replaced by one that costs less, and saves the difference.
func TestSingleNode(t *testing.T) {
	f := fleettest.New()
	f.Node("a", "c16", fleettest.Pods("p", 1, "2")...)
	cmd := only(t, planOf(t, options(), f), decision.MethodSingleNode, "a")
	if len(cmd.Replacements) != 1 || math.Abs(cmd.Savings-0.7) > 1e-9 {
		t.Fatalf("%+v", cmd)
	}
	if names := typesOf(cmd); !slices.Equal(names, []string{"c2", "c4", "c8"}) {
		t.Errorf("the replacement may be %v: all that cost less", names)
	}
}

func typesOf(cmd *decision.Command) (names []string) {
	for _, o := range cmd.Replacements[0].Node.InstanceTypes {
		names = append(names, o.Name)
	}
	return names
}

// spotFleet has a node of the last of four types on spot, of 0.1 to 0.4 USD per hour.
func spotFleet() *fleettest.Fleet {
	var types []*cloudprovider.InstanceType
	for i, name := range []string{"s1", "s2", "s3", "s4"} {
		types = append(types, build.InstanceType(name, build.CPU("4"), build.Memory("16Gi"), build.Spot("a", float64(i+1)/10)))
	}
	f := fleettest.New().Sell(types...)
	f.Node("a", "s4", fleettest.Pods("p", 1, "1")...)
	return f
}

// Spot is replaced by spot if that is allowed and there are enough cheaper types, and then by just as many.
func TestSpotToSpot(t *testing.T) {
	o := options()
	o.SpotToSpot = false
	if why := blockOf(planOf(t, o, spotFleet()), "a", decision.MethodSingleNode); why.Code != decision.BlockSpotToSpot {
		t.Errorf("not allowed: %v", why)
	}
	o.SpotToSpot, o.SpotToSpotTypes = true, 4
	if why := blockOf(planOf(t, o, spotFleet()), "a", decision.MethodSingleNode); why.Code != decision.BlockFewTypes || why.Count != 3 || why.Need != 4 {
		t.Errorf("4 are needed: %+v", why)
	}
	for need, want := range map[int][]string{3: {"s1", "s2", "s3"}, 2: {"s1", "s2"}} {
		o.SpotToSpotTypes = need
		if names := typesOf(only(t, planOf(t, o, spotFleet()), decision.MethodSingleNode, "a")); !slices.Equal(names, want) {
			t.Errorf("%d are needed: %v", need, names)
		}
	}
}

// A node on demand is replaced by spot alone where spot costs less, otherwise by a type on demand; by none whose spot may cost more than it.
func TestCapacityTypeOfReplacement(t *testing.T) {
	for _, c := range []struct {
		name, want string
		small      *cloudprovider.InstanceType
	}{
		{"spot costs less", v1.CapacityTypeSpot, build.InstanceType("small", build.CPU("2"), build.OnDemand("a", 0.2), build.Spot("a", 0.1))},
		{"no spot", v1.CapacityTypeOnDemand, build.InstanceType("small", build.CPU("2"), build.OnDemand("a", 0.2))},
		{"spot costs more", "", build.InstanceType("small", build.CPU("2"), build.OnDemand("a", 0.2), build.Spot("a", 5))},
	} {
		f := fleettest.New().Sell(build.InstanceType("large", build.CPU("8"), build.OnDemand("a", 0.8)), c.small)
		f.Node("a", "large", fleettest.Pods("p", 1, "1")...)
		plan := planOf(t, options(), f)
		if c.want == "" {
			if why := blockOf(plan, "a", decision.MethodSingleNode); why.Code != decision.BlockNotCheaper {
				t.Errorf("%s: %v", c.name, why)
			}
			continue
		}
		node := only(t, plan, decision.MethodSingleNode, "a").Replacements[0].Node
		if r := node.Requirements.Get(v1.CapacityTypeLabelKey); !slices.Equal(r.Values(), []string{c.want}) || node.InstanceTypes[0].CapacityType != c.want {
			t.Errorf("%s: %v, first %+v", c.name, r, node.InstanceTypes[0])
		}
	}
}

// A Balanced pool lets a node go if that saves enough of its cost for the pods that move.
func TestBalanced(t *testing.T) {
	f := fleettest.New()
	f.Pool.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyBalanced
	f.Node("a", "c8", fleettest.Pods("p", 1, "1")...)
	f.Node("b", "c8", fleettest.Pods("q", 1, "1")...)
	fleet := f.Survey(t)
	pass := fleettest.Pass(t, fleet, *options())
	batch := []*decision.Candidate{fleet.ByName["a"]}
	if why := pass.Balanced(batch, 0.4); why != nil {
		t.Errorf("half of the cost for half of the pods: %v", why)
	}
	why := pass.Balanced(batch, 0.1)
	if why == nil || why.Code != decision.BlockScore || why.Pool != fleettest.Default() || why.Score <= 0 || why.Score >= why.Threshold {
		t.Errorf("an eighth of the cost for half of the pods: %+v", why)
	}
	f.Pool.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmptyOrUnderutilized
	fleet = f.Survey(t)
	if why := fleettest.Pass(t, fleet, *options()).Balanced([]*decision.Candidate{fleet.ByName["a"]}, 0); why != nil {
		t.Errorf("a pool of another policy: %v", why)
	}
}

// A command is good as long as its nodes are the same and may still go.
func TestValidate(t *testing.T) {
	fleet := func() *fleettest.Fleet {
		f := fleettest.New()
		f.Node("a", "c4")
		f.Node("b", "c4")
		return f
	}
	o := options()
	planned := only(t, planOf(t, o, fleet()), decision.MethodEmptiness, "a", "b")
	if cmd, err := o.Validate(t.Context(), fleet().Survey(t), planned); err != nil || cmd != planned {
		t.Errorf("nothing changed: %+v, %v", cmd, err)
	}
	f := fleet()
	f.Snapshot.Nodes[0].Claim.UID = "another"
	cmd, err := o.Validate(t.Context(), f.Survey(t), planned)
	if err != nil || len(cmd.Members) != 1 || cmd.Members[0].Node != "b" || math.Abs(cmd.Savings-0.2) > 1e-9 {
		t.Errorf("a is another node: %+v, %v", cmd, err)
	}
	whole := *planned
	whole.MayShrink = false
	var rejected *decision.RejectedError
	if _, err := o.Validate(t.Context(), f.Survey(t), &whole); !errors.As(err, &rejected) || rejected.Node != "a" || rejected.Category != decision.RejectedChurn {
		t.Errorf("a command that may not shrink: %v", err)
	}
	f.Pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "0"}}
	if _, err := o.Validate(t.Context(), f.Survey(t), planned); !errors.As(err, &rejected) || rejected.Category != decision.RejectedChurn {
		t.Errorf("no member is left: %v", err)
	}
	f = fleet()
	f.Pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "0"}}
	if _, err := o.Validate(t.Context(), f.Survey(t), planned); !errors.As(err, &rejected) || rejected.Category != decision.RejectedBudget {
		t.Errorf("no budget is left: %v", err)
	}
}

package scheduling_test

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/planvalidator"
)

// Soundness and completeness with everything that planning knows, judged by a checker that shares no code with it: each
// pod can be bound at its turn, and a pod without a place, the rest as planned, can be bound to no machine of the
// snapshot, join none of the plan's and get none of its own from any pool.
//
// SCH-041, SCH-043, SCH-107, SCH-115, SCH-117, SCH-119, SCH-120, SCH-121, SCH-125, SCH-130, SCH-135, SCH-136, SCH-137,
// SCH-160, SCH-171, SCH-172: what any of them refuses wrongly, or lets through, fails this test.
//
//	go test ./scheduling -run TestPlansAreComplete -rapid.checks 20000
func TestPlansAreComplete(t *testing.T) {
	seeded(t, 400, func(t *rapid.T) {
		s := randomRuledSnapshot(t)
		p := solved(t, s)
		for i, fault := range planvalidator.Check(s, p) {
			if i == 0 {
				show(t, s)
			}
			t.Errorf("%v", fault)
		}
		for i := range p.NewNodes {
			if p.NewNodes[i].MinValuesRelaxed {
				t.Errorf("%s does not meet its pool's minValues", p.NewNodes[i].Name)
			}
		}
	})
}

// seeded checks a property with as many and the same random inputs each time, so that it fails for changes of the code
// alone; rapid's own flags come first.
func seeded(t *testing.T, checks int, property func(*rapid.T)) {
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]int{"rapid.checks": checks, "rapid.seed": 1} {
		f := flag.Lookup(name)
		if given[name] {
			continue
		}
		before := f.Value.String()
		if err := f.Value.Set(strconv.Itoa(value)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(before) }()
	}
	rapid.Check(t, property)
}

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/drawknife/drawknife/internal/bench/scenario"
	"github.com/drawknife/drawknife/internal/workload"
)

// options contains the values of the command line.
type options struct {
	names     []string
	runs      int
	procs     int
	output    string
	karpenter string
	// karpenterRuns is how often Karpenter plans each scenario.
	karpenterRuns int
	check         bool
	record        bool
	table         string
	measured      string
}

// selection has the options that select scenarios.
type selection struct {
	set, scenarios, families, rules, zones, seeds string
	pods                                          int
}

func parseOptions(args []string, records records, stderr io.Writer) (*options, error) {
	o, which := &options{}, selection{}
	flags := flag.NewFlagSet("corpus", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&which.set, "set", "ordinary", "scenarios to plan: ordinary (the ordinary clusters of the flags below), named (all others that are recorded), all (all that are\nrecorded) or small (those of the tests)")
	flags.StringVar(&which.scenarios, "scenarios", "", "comma-separated `NAMES` of the scenarios to plan, instead of a set")
	flags.StringVar(&which.families, "families", "m5,c5+m5+r5", "comma-separated instance `FAMILIES` of ordinary clusters; + joins the families of one cluster; known are "+strings.Join(workload.OrdinaryFamilies(), " "))
	flags.StringVar(&which.rules, "rules", strings.Join(workload.OrdinaryRules(), ","), "comma-separated `RULES` between pods of ordinary clusters")
	flags.StringVar(&which.zones, "zones", "3,6", "comma-separated numbers of `ZONES` of ordinary clusters; clusters without rules about zones use only the first")
	flags.StringVar(&which.seeds, "seeds", "1,2", "comma-separated `SEEDS` of ordinary clusters; 1-20 is a range")
	flags.IntVar(&which.pods, "pods", workload.OrdinaryPods, "number of pods of each ordinary cluster")
	flags.IntVar(&o.runs, "runs", 3, "how often each scenario is planned; the result is the median of the CPU times;\n0: plan nothing, and take also drawknife's figures from recorded.json")
	flags.IntVar(&o.procs, "procs", 1, "number of cores that the planner may use")
	flags.StringVar(&o.output, "o", "text", "text or json")
	flags.StringVar(&o.karpenter, "karpenter", "recorded", "Karpenter's figures: recorded (from recorded.json), run (build internal/bench/karpenter and plan with it), or the `PROGRAM`\nthat was built from it")
	flags.IntVar(&o.karpenterRuns, "karpenter-runs", 1, "how often Karpenter plans each scenario, each time in its own process; the result is the median of the CPU times")
	flags.BoolVar(&o.check, "check", true, "check the placements of each plan as a cluster would")
	flags.BoolVar(&o.record, "record", false, "write the results into corpus/recorded.json")
	flags.StringVar(&o.measured, "measured", "", "add each result to this `FILE` at once, and do not plan scenarios again whose results are in it")
	flags.StringVar(&o.table, "table", "", "write the tables into this Markdown `FILE`, between their markers")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("%q: there are no arguments, only flags", flags.Arg(0))
	case o.output != "text" && o.output != "json":
		return nil, fmt.Errorf("-o %s: give text or json", o.output)
	case o.runs < 0 || o.procs < 1 || o.karpenterRuns < 1:
		return nil, errors.New("--runs must not be negative, and --procs and --karpenter-runs must be at least 1")
	}
	var err error
	o.names, err = which.names(records)
	return o, err
}

func (w *selection) names(records records) ([]string, error) {
	if w.scenarios != "" {
		return split(w.scenarios), nil
	}
	switch w.set {
	case "ordinary":
		return w.ordinary()
	case "small":
		return smallNames(), nil
	case "named", "all":
		var names []string
		for _, name := range records.names() {
			if w.set == "all" || !isOrdinary(name) {
				names = append(names, name)
			}
		}
		return names, nil
	}
	return nil, fmt.Errorf("--set %s: give ordinary, named, all or small", w.set)
}

// ordinary returns the selected ordinary clusters. For clusters without rules about zones, the number of zones makes no difference, so only
// the first of the selected numbers of zones is used.
func (w *selection) ordinary() ([]string, error) {
	seeds, err := numbers("--seeds", w.seeds)
	if err != nil {
		return nil, err
	}
	zones, err := numbers("--zones", w.zones)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, family := range split(w.families) {
		for _, rules := range split(w.rules) {
			for i, z := range zones {
				if i > 0 && (rules == "none" || rules == "anti") {
					continue
				}
				for _, seed := range seeds {
					o := workload.Ordinary{Families: strings.Split(family, "+"), Rules: rules, Zones: int(min(z, 100)), Seed: seed, Pods: w.pods}
					names = append(names, o.Name())
				}
			}
		}
	}
	return names, nil
}

func split(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
}

// numbers parses lists such as 1,5-8,20.
func numbers(name, list string) ([]uint64, error) {
	var out []uint64
	for _, part := range split(list) {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 64)
		last, err2 := strconv.ParseUint(to, 10, 64)
		if err := errors.Join(err, err2); err != nil || last < first || last-first > 10_000 {
			return nil, fmt.Errorf("%s %s: %q is neither a number nor a range such as 1-20, ascending and of at most 10,001 numbers", name, list, part)
		}
		for n := first; n <= last; n++ {
			out = append(out, n)
		}
	}
	return out, nil
}

func isOrdinary(name string) bool {
	_, err := workload.ParseOrdinary(name)
	return err == nil && !slices.Contains(scenario.Saved(), name)
}

// smallNames returns the scenarios that the tests plan.
func smallNames() []string {
	w := selection{set: "ordinary", families: "m5,c5+m5+r5", rules: strings.Join(workload.OrdinaryRules(), ","), zones: "3,6", seeds: "1,2"}
	names, err := w.ordinary()
	if err != nil { // the numbers above are valid, so there is no error
		return nil
	}
	names = append(names, "fa-1000", "fe-1000", "f-1000", "a-1000", "b-1000", "c-1000", "c-1000-s9001", "d-1000", "gpu-500")
	return append(names, scenario.Saved()...)
}

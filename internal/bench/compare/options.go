package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/drawknife/drawknife/internal/bench/scenario"
	"github.com/drawknife/drawknife/internal/workload"
)

// options contains the values of the command line.
type options struct {
	scenario  string
	pods      int
	seed      uint64
	small     bool
	timeout   time.Duration
	runs      int
	output    string
	table     string
	karpenter string
	objects   scenario.Objects
	// spotToSpot allows both sides to replace spot nodes by spot nodes.
	spotToSpot bool
	// given contains the arguments as the user typed them.
	given []string
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{given: args}
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.scenario, "scenario", "all", "`NAME`: a to h, all (a to h), a scenario of the corpus such as m5-none-3z-1, or a file that ends in .yaml or .yml;\nfleets: consolidate-N, consolidate-mixed-N, consolidate-m5-none-3z-1-Nn, consolidate-ordinary-N (eight fleets), or consolidate\n(the fleets of the published figures)")
	flags.IntVar(&o.pods, "pods", 0, "number of pending pods; 0: the scenario's own number")
	flags.Uint64Var(&o.seed, "seed", workload.Seed, "seed of scenarios a to g and of fleets")
	flags.BoolVar(&o.spotToSpot, "spot-to-spot", true, "allow the replacement of spot nodes by spot nodes in fleets")
	flags.BoolVar(&o.small, "small", false, "use the sizes of the tests instead of those of the published figures")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "time limit for the planning of each side")
	flags.IntVar(&o.runs, "runs", 1, "how often each side plans; the result is the run with the least CPU time")
	flags.StringVar(&o.output, "o", "text", "text or json")
	flags.StringVar(&o.table, "table", "", "write the table of results into this Markdown `FILE`, between its markers")
	flags.StringVar(&o.karpenter, "karpenter", "", "`PROGRAM` that was built from internal/bench/karpenter (default: build it)")
	flags.Func("pods-file", "for scenario h: `FILE` or folder of Kubernetes objects; may be repeated", func(name string) error {
		o.objects.Files = append(o.objects.Files, name)
		return nil
	})
	flags.StringVar(&o.objects.Catalog, "catalog", "", "for scenario h: catalogue `FILE`, in the format of simulate --catalog (default: built in)")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("%q: arguments are not accepted, only flags", flags.Arg(0))
	case o.output != "text" && o.output != "json":
		return nil, fmt.Errorf("-o %s: give text or json", o.output)
	case o.timeout <= 0:
		return nil, fmt.Errorf("--timeout %s: it must be positive", o.timeout)
	case o.runs < 1:
		return nil, fmt.Errorf("--runs %d: it must be at least 1", o.runs)
	case o.pods > 0 && strings.HasPrefix(o.scenario, fleets):
		return nil, fmt.Errorf("--pods does not apply to --scenario %s: the number in the scenario's name is the number of nodes", o.scenario)
	case o.pods < 0:
		return nil, fmt.Errorf("--pods %d: it must not be negative", o.pods)
	case len(o.objects.Files) > 0 && o.scenario != "h" && o.scenario != "all":
		return nil, errors.New("--pods-file: use it only with --scenario h or all")
	case o.objects.Catalog != "" && len(o.objects.Files) == 0:
		return nil, errors.New("--catalog is for scenario h and needs --pods-file; a scenario file names its own catalogue")
	}
	return o, nil
}

// If the scenario has this name, the fleets of the published figures are selected. The names of these fleets begin with this word.
const fleets = "consolidate"

// ordinaryFleets, followed by "-" and a number of nodes, selects the fleets of ordinary clusters. Their seed is --seed.
const ordinaryFleets = "consolidate-ordinary"

// work is a scenario that make creates when it is needed.
type work struct {
	name string
	make func() (*scenario.Scenario, error)
	// fleet is true if the scenario is a fleet to consolidate, and not pods to place.
	fleet bool
}

// fleetWorks returns the selected fleets to consolidate, or nil if o.scenario selects other scenarios.
func (o *options) fleetWorks() []work {
	names, nodes := []string{o.scenario}, 0
	ordinary, _ := fmt.Sscanf(o.scenario, ordinaryFleets+"-%d", &nodes)
	switch {
	case o.scenario == fleets && o.small:
		names = scenario.SmallFleets()
	case o.scenario == fleets:
		names = scenario.Fleets()
	case ordinary == 1:
		names = scenario.OrdinaryFleets(nodes, o.seed)
	case !scenario.IsFleet(o.scenario):
		return nil
	}
	var list []work
	for _, name := range names {
		list = append(list, work{name, func() (*scenario.Scenario, error) { return scenario.Fleet(name, o.seed) }, true})
	}
	return list
}

// works returns the selected scenarios, in the order in which they are compared.
func (o *options) works() ([]work, error) {
	if ext := filepath.Ext(o.scenario); ext == ".yaml" || ext == ".yml" {
		return []work{{base(o.scenario), func() (*scenario.Scenario, error) { return scenario.Read(o.scenario, o.pods) }, false}}, nil
	}
	if list := o.fleetWorks(); list != nil {
		return list, nil
	}
	objects, haveObjects := o.objects, len(o.objects.Files) > 0
	if !haveObjects {
		objects, haveObjects = scenario.OpenB(os.Getenv("DRAWKNIFE_DATA"))
	}
	h := work{"h", func() (*scenario.Scenario, error) { return scenario.FromObjects(objects, o.pods) }, false}
	name := strings.ToLower(o.scenario)
	if name == "h" {
		if !haveObjects {
			return nil, errors.New("scenario h needs --pods-file, or the openb trace in the folder named by DRAWKNIFE_DATA")
		}
		return []work{h}, nil
	}
	var list []work
	for _, size := range scenario.Sizes() {
		if name != "all" && name != size.Name {
			continue
		}
		pods := o.pods
		if pods == 0 && o.small {
			pods = size.Small
		}
		list = append(list, work{size.Name, func() (*scenario.Scenario, error) { return scenario.Generated(size.Name, pods, o.seed) }, false})
	}
	if len(list) == 0 {
		return o.namedWork()
	}
	if name == "all" && haveObjects && !o.small {
		list = append(list, h)
	}
	return list, nil
}

// namedWork returns the scenario of the corpus that o.scenario names. The name contains its size and seed.
func (o *options) namedWork() ([]work, error) {
	s, err := scenario.Named(o.scenario)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--scenario %s: choose one of a to h, all, consolidate, consolidate-N, consolidate-mixed-N, a file that ends in .yaml, or a scenario of the corpus: %w", o.scenario, err)
	case o.pods > 0:
		return nil, fmt.Errorf("--pods does not apply to --scenario %s: its name contains the number of pods", o.scenario)
	}
	return []work{{s.Name, func() (*scenario.Scenario, error) { return s, nil }, false}}, nil
}

func base(name string) string { return strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)) }

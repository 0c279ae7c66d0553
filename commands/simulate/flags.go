package simulate

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/commands/simulate/internal/replay"
	"github.com/drawknife/drawknife/examples/settings"
)

// commandLine is a command line during parsing. It contains the options, and the texts of flags that are converted after all flags were
// read.
type commandLine struct {
	flags *flag.FlagSet
	read  options
	// version means that the program only prints its version.
	version bool

	zones, now, output, color, provider, replace, spotPrices string
	preferences, minValues, reserved, preemption             string
}

// newCommandLine returns a command line with the defaults of all options, and without flags.
func newCommandLine(program string) *commandLine {
	return &commandLine{
		flags: flag.NewFlagSet(program, flag.ContinueOnError),
		read: options{
			program: program, planner: settings.PlannerGlobal, disruption: settings.DefaultDisruption(), maxReplicas: 100_000,
			replay: replayOptions{interruptions: 1, every: replay.DefaultConsolidate, seed: 1},
		},
		output: string(outputText), color: string(colorAuto), provider: string(providerFile), spotPrices: "steady",
		preferences: "respect", minValues: "strict", reserved: "fallback", preemption: "ignore",
	}
}

// text declares a flag with a value; the default is the present value of *into.
func (l *commandLine) text(into *string, name, usage string) {
	l.flags.StringVar(into, name, *into, usage)
}

func (l *commandLine) boolean(into *bool, name, usage string) {
	l.flags.BoolVar(into, name, *into, usage)
}

// The method also declares name as another name of a flag; a name of one letter is the short form.
func (l *commandLine) also(name, of string) {
	l.flags.Var(l.flags.Lookup(of).Value, name, "")
}

// addAll declares the flags of the program simulate, where a flag selects the command.
func (l *commandLine) addAll() {
	l.addForm()
	l.addInput()
	l.addSaved()
	l.addPolicies()
	l.addPage()
	l.addCosts()
	l.addProof()
	l.addUsage()
	l.addConsolidation()
	l.addThresholds()
	l.addReplay()
	l.boolean(&l.read.consolidate, "consolidate", "")
	l.text(&l.read.diff, "diff", "")
	l.text(&l.read.replay.trace, "replay", "")
	l.text(&l.replace, "replace-nodes", "")
	l.boolean(&l.version, "version", "")
}

// addForm declares the flags for the output format, and for the time limit.
func (l *commandLine) addForm() {
	l.text(&l.output, "output", "`FORMAT` of the answer: text, wide (text without shortening), markdown, csv, json or yaml")
	l.also("o", "output")
	l.boolean(&l.read.verbose, "verbose", "list everything that text otherwise shortens")
	l.also("v", "verbose")
	l.boolean(&l.read.quiet, "quiet", "print no notes on standard error, only warnings and errors")
	l.also("q", "quiet")
	l.text(&l.color, "color", "use colours and drawings for terminals; `WHEN` is auto, always or never")
	l.flags.DurationVar(&l.read.timeout, "timeout", 0, "give up planning after this `DURATION`, such as 30s or 5m; 0: no limit")
}

// addInput declares the flags for the input and the instance types.
func (l *commandLine) addInput() {
	l.text(&l.provider, "provider", "where instance types and prices come from: `WHICH` is file (see --catalog), or aws (read from AWS now)")
	l.text(&l.read.region, "region", "`REGION` of AWS, such as eu-west-1 (default: that of the nodes, else us-east-1; with --provider aws that of your environment)")
	l.text(&l.read.catalog, "catalog", "`FILE` of instance types: a catalogue, or the output of \"aws ec2 describe-instance-types\" (default: built in)")
	l.text(&l.read.prices, "prices", "`FILE` of prices and zones for the output of \"aws ec2 describe-instance-types\"")
	l.text(&l.spotPrices, "spot-prices", "`WHICH` old spot prices to use: steady, the median of the zones but at least a share of the on-demand price; or seen, each price as it was on its day")
	l.text(&l.zones, "zones", "launch only in these `ZONES`, such as us-east-1a,us-east-1b")
	l.boolean(&l.read.strict, "strict", "refuse fields that a kind does not have, instead of printing a warning")
	l.boolean(&l.read.allowEmpty, "allow-empty", "plan even if no pod is pending, instead of refusing the input")
	l.flags.IntVar(&l.read.maxReplicas, "max-replicas", l.read.maxReplicas, "refuse input whose workloads ask for more than `N` pods")
	l.text(&l.now, "now", "plan as if the time were `TIME`, such as 2006-01-02T15:04:05Z (default: now)")
	l.read.workloads.addFlags(l.flags)
	l.read.rendering.addFlags(l.flags)
	l.text(&l.read.images, "images", "`FILE` with the architectures of images; docs/simulate.md shows the format")
	l.read.instanceTypes.AddInstanceTypeFlags(l.flags)
}

// addSaved declares the flags that plan a saved snapshot again, and that save a snapshot.
func (l *commandLine) addSaved() {
	l.text(&l.read.snapshot, "snapshot", "plan a `FILE` of --save-snapshot again; takes no inputs")
	l.text(&l.read.saveSnapshot, "save-snapshot", "write the input of the plan to this `FILE`, as YAML that only you can read (mode 0600)")
	l.boolean(&l.read.anonymize, "anonymize", "with --save-snapshot: replace names, and values of your own labels, by hashes")
	l.text(&l.read.anonymizeKey, "anonymize-key", "key for these hashes: without `TEXT`, nobody can check guesses of names")
}

// addPolicies declares the flags for preferences, minValues, reservations and preemption.
func (l *commandLine) addPolicies() {
	l.text(&l.preferences, "preferences", "`POLICY` for preferences of pods: respect or ignore")
	l.text(&l.minValues, "min-values", "`POLICY` if a NodePool's minValues cannot be met: strict launches no node, best-effort launches one with fewer values")
	l.text(&l.reserved, "reserved", "`POLICY` for pods whose reservations are full: fallback launches other nodes, strict leaves the pods pending")
	l.text(&l.preemption, "preemption", "`POLICY` for pods that kube-scheduler can place by preempting other pods: ignore still plans places for them, expect plans none")
}

// addCosts declares the flags for costs of nodes in addition to their list prices.
func (l *commandLine) addCosts() {
	l.text(&l.read.costModel, "cost-model", "`FILE` with discounts, Savings Plans, Reserved Instances and fees; docs/costs.md shows the format")
	l.text(&l.read.commitments, "commitments", "`FILE` of Savings Plans, Reserved Instances and discounts, in the format of the controller's --commitments-file: nodes that they cover cost nothing more")
	l.text(&l.read.feesText, "fees", "`LIST` of fees by name, such as public-ipv4,root-volume=100; docs/costs.md has all")
	l.text(&l.read.spotRisk.text, "spot-risk", "add the expected cost of interruptions to spot prices: `WHAT` is default, or settings such as lost-work=8h,per-node=2")
	l.text(&l.read.spotRisk.history, "spot-history", "with --spot-risk: `FILE` of observed prices, interruptions and refused launches")
}

// addProof declares the flag for the file of the lower bound's proof.
func (l *commandLine) addProof() {
	l.text(&l.read.certificate, "certificate", "write the proof of the lower bound to this `FILE`, as JSON")
}

// addConsolidation declares the flags for the planner of consolidation.
func (l *commandLine) addConsolidation() {
	l.flags.StringVar((*string)(&l.read.planner), "planner", string(l.read.planner), "planner of nodes to remove: `WHICH` is global (the whole fleet at once), or reference (the first step of Karpenter's methods)")
	l.also("disruption-planner", "planner")
	l.boolean(&l.read.spotToSpot, "spot-to-spot", "allow the replacement of spot nodes by spot nodes")
}

// addThresholds declares the flags for thresholds of disruption commands: they have the same names as the controller's settings.
func (l *commandLine) addThresholds() { l.read.disruption.AddFlags(l.flags) }

// addPage declares the flags for the HTML page of the result.
func (l *commandLine) addPage() {
	l.text(&l.read.page, "html", "also write the answer to this `FILE` as a page with drawings, for a browser")
	l.text(&l.read.costLabel, "cost-label", "divide the cost on the page of --html also by this label `KEY` of pods, such as team")
}

// addReplay declares the flags of a replay, except its trace.
func (l *commandLine) addReplay() {
	l.flags.DurationVar(&l.read.replay.from, "replay-from", 0, "begin this `DURATION` after the beginning of the trace, such as 48h")
	l.flags.DurationVar(&l.read.replay.length, "replay-for", 0, "replay this `DURATION` of the trace; 0: to its end")
	l.flags.Float64Var(&l.read.replay.interruptions, "spot-interruptions", l.read.replay.interruptions, "the simulated cloud interrupts a spot node on average `N` times per month")
	l.flags.DurationVar(&l.read.replay.every, "consolidate-every", l.read.replay.every, "interval at which the replay consolidates, as a `DURATION`; 0: never")
	l.flags.Uint64Var(&l.read.replay.seed, "seed", l.read.replay.seed, "`SEED` of the random numbers of the replay")
}

// options returns the options from the parsed flags, after checking them.
func (l *commandLine) options(inputs []string) (options, error) {
	o := l.read
	o.inputs = inputs
	given := map[string]bool{}
	l.flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var err error
	if o.zones, err = parseZones(l.zones, given["zones"]); err != nil {
		return options{}, err
	}
	if given["replace-nodes"] {
		if o.replace, err = parseNodeSelector("--replace-nodes", l.replace); err != nil {
			return options{}, err
		}
		o.replaceFlag = "--replace-nodes"
	}
	if given["now"] {
		if o.now, err = time.Parse(time.RFC3339, l.now); err != nil {
			return options{}, fmt.Errorf("--now %q: not a time like 2006-01-02T15:04:05Z (RFC 3339)", l.now)
		}
	}
	if o.spotAsSeen, err = choose("spot-prices", l.spotPrices, choice[bool]{"steady", false}, choice[bool]{"seen", true}); err != nil {
		return options{}, err
	}
	if o.query, err = parseQuery(l.preferences, l.minValues, l.reserved, l.preemption); err != nil {
		return options{}, err
	}
	o.output, o.color, o.provider = outputFormat(l.output), colorMode(l.color), providerKind(l.provider)
	if o.fees, err = parseFees(o.feesText); err != nil {
		return o, err
	}
	if err := o.spotRisk.parse(); err != nil {
		return o, err
	}
	return o, o.check(given)
}

// parseZones reads a comma-separated list of zones; the order and repetitions carry no meaning.
func parseZones(list string, given bool) ([]string, error) {
	if !given {
		return nil, nil
	}
	var zones []string
	for zone := range strings.SplitSeq(list, ",") {
		zone = strings.TrimSpace(zone)
		if zone == "" {
			return nil, fmt.Errorf("--zones %q: a zone is empty; write them as us-east-1a,us-east-1b", list)
		}
		zones = append(zones, zone)
	}
	slices.Sort(zones)
	return slices.Compact(zones), nil
}

package simulate

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/internal/spelling"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/fees"
)

// helpText is what --help prints.
//
//go:embed help.txt
var helpText string

// outputFormat is a value of --output.
type outputFormat string

const (
	outputText outputFormat = "text"
	outputJSON outputFormat = "json"
	outputYAML outputFormat = "yaml"
	// outputWide is text without shortened lines.
	outputWide     outputFormat = "wide"
	outputMarkdown outputFormat = "markdown"
	outputCSV      outputFormat = "csv"
	// outputSARIF and outputJUnit are the formats for the result of a policy.
	outputSARIF outputFormat = "sarif"
	outputJUnit outputFormat = "junit"
)

// options contains the values of the command line, after parsing and checking.
type options struct {
	// program is the name of the command in messages, such as simulate.
	program string
	// inputs are files, folders or "-", in the order given; none means the built-in cluster.
	inputs []string
	// cluster is the running cluster to read, in addition to the inputs.
	cluster clusterOptions
	// provider says where instance types and prices come from.
	provider providerKind
	// region is the AWS region; empty means the region of the nodes or, with --provider aws, of the environment.
	region string
	// catalog is the file of instance types; empty means the embedded catalogue.
	catalog string
	// prices is the file with the prices of catalog's types. It is empty if catalog contains prices.
	prices string
	// zones are the only zones where nodes may be launched; if empty, all zones of the catalogue are allowed.
	zones []string
	// output is the format of the answer on standard output.
	output outputFormat
	// color says whether to draw for a terminal: auto, always or never.
	color colorMode
	// quiet omits notes from the output; warnings and errors are still printed.
	quiet bool
	// version means that the command only prints the build information.
	version bool
	// verbose lists every kind of node, and names all pods that have no place.
	verbose bool
	// snapshot is the file of a saved snapshot that is planned instead of inputs; empty means none.
	snapshot string
	// saveSnapshot is the file that the snapshot is written to. If it is empty, no file is written.
	saveSnapshot string
	// anonymize means that the snapshot is saved with hashes instead of names; the hashes depend on anonymizeKey.
	anonymize    bool
	anonymizeKey string
	// costModel is the file with the cost model for planning; if it is empty, the snapshot's own cost model is used, if it has one.
	costModel string
	// commitments is the file of --commitments; empty for none.
	commitments string
	// fees are the parsed fees of --fees, and feesText is the value of the flag.
	fees     fees.Choices
	feesText string
	// spotRisk contains the options of --spot-risk.
	spotRisk spotRisk
	// spotAsSeen means that plans use old spot prices unchanged, not those of catalog.SteadySpot.
	spotAsSeen bool
	// certificate is the file to which the proof of the lower bound is written; empty means that it is not written.
	certificate string
	// now is the time the plan is made for; zero means the present time.
	now time.Time
	// timeout bounds the whole run; zero means no bound.
	timeout time.Duration
	// consolidate means that the command plans which nodes to remove or replace, instead of where to place pods.
	consolidate bool
	// planner is the planner of consolidation, and spotToSpot allows it to replace spot nodes by spot nodes.
	planner    settings.DisruptionPlanner
	spotToSpot bool
	// disruption are the planner's options: the controller's flags with the same names.
	disruption settings.Disruption
	// instanceTypes are the options for converting EC2's data to instance types: the controller's flags with the same names.
	instanceTypes settings.AWS
	// replay contains the values of --replay and its flags.
	replay replayOptions
	// diff is the file with the other set of NodePools or workloads to compare with; empty means none.
	diff string
	// page is the file of --html, and costLabel the label by which the page also divides the cost.
	page, costLabel string
	// policy contains the values of --policy and --report.
	policy policyOptions
	// explain is the object that the command explain is about; its kind is empty for other commands.
	explain explainOptions
	// replace selects the nodes that are left out of the plan. It is the value of the flag replaceFlag. It is nil without the flag.
	replace     labels.Selector
	replaceFlag string
	// strict means that fields that a kind does not have are errors.
	strict bool
	// allowEmpty means that a plan is also made if no pod is pending.
	allowEmpty bool
	// maxReplicas limits the number of pods of workloads; each pod takes some 8 kB of memory.
	maxReplicas int
	// workloads say for which kinds of objects pods are created.
	workloads workloadOptions
	// usage contains the values of --usage and --usage-percentile.
	usage usageOptions
	// images is the file that says for which architectures images are built; empty means none.
	images string
	// rendering says whether folders of Kustomize and Helm are rendered.
	rendering rendering
	// query contains the policies by which pods are planned.
	query scheduling.Query
}

// errHelp is returned by parseOptions when the user asks for help.
var errHelp = errors.New("help requested")

// parseOptions reads the command line of simulate. Flags may stand before, between and after the inputs. All arguments after "--" are
// inputs, even if they look like flags.
func parseOptions(args []string) (options, error) {
	l := newCommandLine("simulate")
	l.flags.SetOutput(io.Discard)
	l.addAll()
	inputs, err := parseInterleaved(l.flags, args)
	if err == nil && l.version {
		return options{version: true}, nil
	}
	if errors.Is(err, flag.ErrHelp) {
		return options{}, errHelp
	}
	if err != nil {
		return options{}, err
	}
	return l.options(inputs)
}

// parseQuery parses the flags for preferences, minValues, reservations and preemption.
func parseQuery(preferences, minValues, reserved, preemption string) (q scheduling.Query, err error) {
	if q.Preferences, err = choose("preferences", preferences,
		choice[scheduling.PreferencePolicy]{"respect", scheduling.PreferencesRespect},
		choice[scheduling.PreferencePolicy]{"ignore", scheduling.PreferencesIgnore}); err != nil {
		return q, err
	}
	if q.MinValues, err = choose("min-values", minValues,
		choice[scheduling.MinValuesPolicy]{"strict", scheduling.MinValuesStrict},
		choice[scheduling.MinValuesPolicy]{"best-effort", scheduling.MinValuesBestEffort}); err != nil {
		return q, err
	}
	if q.Reserved, err = choose("reserved", reserved,
		choice[scheduling.ReservedPolicy]{"fallback", scheduling.ReservedFallback},
		choice[scheduling.ReservedPolicy]{"strict", scheduling.ReservedStrict}); err != nil {
		return q, err
	}
	q.Preemption, err = choose("preemption", preemption,
		choice[scheduling.PreemptionPolicy]{"ignore", scheduling.PreemptionIgnore},
		choice[scheduling.PreemptionPolicy]{"expect", scheduling.PreemptionExpect})
	return q, err
}

// choice is a possible value of a flag, with its meaning.
type choice[T any] struct {
	word   string
	policy T
}

// choose returns the policy of the choice whose word the user gave.
func choose[T any](flag, word string, choices ...choice[T]) (T, error) {
	words := make([]string, 0, len(choices))
	for _, c := range choices {
		if c.word == word {
			return c.policy, nil
		}
		words = append(words, c.word)
	}
	var none T
	return none, fmt.Errorf("--%s %q: not one of %s", flag, word, strings.Join(words, ", "))
}

// parseInterleaved parses the flags in args, which may stand before, between and after other arguments, and returns the other arguments.
func parseInterleaved(flags *flag.FlagSet, args []string) ([]string, error) {
	var rest []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, spelling.Flag(err, flags)
		}
		consumed := len(args) - flags.NArg()
		if flags.NArg() == 0 {
			return rest, nil
		}
		if consumed > 0 && args[consumed-1] == "--" {
			return append(rest, flags.Args()...), nil
		}
		rest = append(rest, flags.Arg(0))
		args = flags.Args()[1:]
	}
}

// check refuses invalid values and combinations; given contains the names of the flags on the command line.
func (o options) check(given map[string]bool) error {
	if err := o.policy.check(o.output); err != nil {
		return err
	}
	if !o.output.known() {
		return fmt.Errorf("--output %q: not one of text, wide, json, yaml, markdown, csv", o.output)
	}
	if !slices.Contains([]colorMode{colorAuto, colorAlways, colorNever}, o.color) {
		return fmt.Errorf("--color %q: not one of auto, always, never", o.color)
	}
	if err := o.checkPlanner(given); err != nil {
		return err
	}
	if err := o.checkQuestion(given); err != nil {
		return err
	}
	if err := o.checkUsage(given); err != nil {
		return err
	}
	if o.maxReplicas < 1 {
		return fmt.Errorf("--max-replicas %d: must be at least 1", o.maxReplicas)
	}
	if err := o.rendering.check(); err != nil {
		return err
	}
	if o.timeout < 0 {
		return fmt.Errorf("--timeout %s: must not be negative", o.timeout)
	}
	for _, name := range []string{"catalog", "prices", "snapshot", "save-snapshot", "cost-model", "commitments", "certificate", "diff", "replay", "html", "policy", "images"} {
		if given[name] && o.file(name) == "" {
			return fmt.Errorf("--%s: needs the name of a file", name)
		}
	}
	if err := o.checkProvider(given); err != nil {
		return err
	}
	if o.prices != "" && o.catalog == "" {
		return errors.New("--prices: use it only with --catalog FILE, whose types it prices")
	}
	stdin := 0
	for _, input := range o.inputs {
		if input == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return errors.New(`"-": standard input can be read only once`)
	}
	if o.cluster.save != "" && !o.cluster.asked() {
		return errors.New("--save: saves the objects of a running cluster; give --context, -n or -A as well")
	}
	if o.snapshot == "" {
		return nil
	}
	if o.cluster.asked() {
		return errors.New("--snapshot: a saved snapshot has all objects; leave out --context, --kubeconfig, -n and -A")
	}
	if len(o.inputs) > 0 {
		return fmt.Errorf("--snapshot: a saved snapshot needs no other input; leave out %s", strings.Join(o.inputs, " "))
	}
	if o.strict {
		return errors.New("--snapshot: a saved snapshot has no unknown fields; leave out --strict")
	}
	for _, name := range append([]string{"provider", "region", "catalog", "prices", "spot-prices", "zones", "now", "diff", "template", "replicas", "render", "images"}, settings.InstanceTypeFlags()...) {
		if given[name] {
			return fmt.Errorf("--snapshot: a saved snapshot has its own instance types, zones and time; leave out --%s", name)
		}
	}
	return nil
}

// checkPlanner refuses an unknown planner, and flags of consolidation that would have no effect.
func (o options) checkPlanner(given map[string]bool) error {
	if !slices.Contains([]settings.DisruptionPlanner{settings.PlannerGlobal, settings.PlannerReference}, o.planner) {
		return fmt.Errorf("--planner %q: not one of global, reference", o.planner)
	}
	all, heeded := settings.DisruptionFlags(o.planner)
	for _, name := range append([]string{"planner", "disruption-planner", "spot-to-spot"}, all...) {
		if !given[name] || o.consolidate {
			continue
		}
		if !slices.Contains(replayThresholds(), name) {
			return fmt.Errorf("--%s: use it only with --consolidate", name)
		}
		if o.replay.trace == "" {
			return fmt.Errorf("--%s: use it only with --consolidate or --replay", name)
		}
	}
	for _, name := range all {
		if given[name] && !slices.Contains(heeded, name) {
			return fmt.Errorf("--%s: use it only with --planner global; Karpenter's methods don't have this setting", name)
		}
	}
	if given["disruption-spot-to-spot-types"] && !o.spotToSpot {
		return errors.New("--disruption-spot-to-spot-types: use it only with --spot-to-spot")
	}
	return nil
}

// replayThresholds returns the flags of consolidation that --replay also uses: the thresholds for commands. The other flags limit a search
// that a replay repeats hundreds of times, or state durations that the replay itself simulates.
func replayThresholds() []string {
	return []string{"disruption-pay-back", "disruption-min-saving", "disruption-min-saving-share", "disruption-price", "disruption-cool-down"}
}

// checkQuestion refuses flags that select several commands at once, and flags of a command that is not selected.
func (o options) checkQuestion(given map[string]bool) error {
	asked := 0
	for _, question := range []bool{o.consolidate, o.diff != "", o.replay.trace != ""} {
		if question {
			asked++
		}
	}
	if asked > 1 {
		return errors.New("--consolidate, --diff, --replay: give only one of them")
	}
	if asked > 0 && o.certificate != "" {
		return errors.New("--certificate: proves the cost of nodes for pending pods only; leave out --consolidate, --diff and --replay")
	}
	if o.costLabel != "" && (o.page == "" || o.replay.trace != "") {
		return errors.New("--cost-label: use it only with --html, and not for a replay: it divides the cost on that page")
	}
	if o.anonymize && o.saveSnapshot == "" {
		return errors.New("--anonymize: use it only with --save-snapshot")
	}
	if given["anonymize-key"] && !o.anonymize {
		return errors.New("--anonymize-key: use it only with --anonymize")
	}
	for _, name := range []string{"replay-from", "replay-for", "spot-interruptions", "consolidate-every", "seed"} {
		if given[name] && o.replay.trace == "" {
			return fmt.Errorf("--%s: use it only with --replay", name)
		}
	}
	if o.replay.from < 0 || o.replay.length < 0 || o.replay.every < 0 {
		return errors.New("--replay-from, --replay-for, --consolidate-every: must not be negative")
	}
	return nil
}

func (o options) file(flag string) string {
	switch flag {
	case "catalog":
		return o.catalog
	case "prices":
		return o.prices
	case "snapshot":
		return o.snapshot
	case "save-snapshot":
		return o.saveSnapshot
	case "cost-model":
		return o.costModel
	case "commitments":
		return o.commitments
	case "certificate":
		return o.certificate
	case "diff":
		return o.diff
	case "replay":
		return o.replay.trace
	case "html":
		return o.page
	case "policy":
		return o.policy.file
	case "images":
		return o.images
	}
	return ""
}

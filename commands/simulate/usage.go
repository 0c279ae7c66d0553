package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/commands/simulate/internal/usage"
)

// usageOptions are the values of --usage and --usage-percentile.
type usageOptions struct {
	files      []usageFile
	percentile int
}

// usageFile is a file of --usage. resource is empty if the file itself says what it measures.
type usageFile struct {
	name     string
	resource corev1.ResourceName
}

// defaultPercentile is the percentile of samples that counts as the usage of a container.
const defaultPercentile = 95

// addUsage declares --usage and --usage-percentile.
func (l *commandLine) addUsage() {
	l.flags.Func("usage", "also plan with requests at usage: `FILE` of Prometheus' answers or VerticalPodAutoscalers, cpu=FILE or memory=FILE for series without a name; repeatable", func(text string) error {
		file, err := parseUsageFile(text)
		l.read.usage.files = append(l.read.usage.files, file)
		return err
	})
	l.read.usage.percentile = defaultPercentile
	l.flags.IntVar(&l.read.usage.percentile, "usage-percentile", defaultPercentile, "with --usage: usage of a container with several samples is the `N`th percentile of them, from 1 to 100")
}

// parseUsageFile reads FILE or RESOURCE=FILE.
func parseUsageFile(text string) (usageFile, error) {
	file := usageFile{name: text}
	if name, rest, found := strings.Cut(text, "="); found && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz") == "" {
		if name != string(corev1.ResourceCPU) && name != string(corev1.ResourceMemory) {
			return file, fmt.Errorf("%.60q is not one of cpu, memory; write ./%.200s if this is the name of a file", name, text)
		}
		file = usageFile{name: rest, resource: corev1.ResourceName(name)}
	}
	if file.name == "" {
		return file, errors.New("needs the name of a file")
	}
	return file, nil
}

// checkUsage refuses --usage together with flags that select another command.
func (o options) checkUsage(given map[string]bool) error {
	if len(o.usage.files) == 0 {
		if given["usage-percentile"] {
			return errors.New("--usage-percentile: use it only with --usage")
		}
		return nil
	}
	if p := o.usage.percentile; p < 1 || p > 100 {
		return fmt.Errorf("--usage-percentile %d: must be from 1 to 100", p)
	}
	for _, other := range []struct {
		flag  string
		given bool
	}{
		{"--consolidate", o.consolidate}, {"--diff", o.diff != ""}, {"--replay", o.replay.trace != ""}, {"--replace-nodes", o.replace != nil},
		{"explain", o.explain.kind != ""},
	} {
		if other.given {
			return fmt.Errorf("--usage: compares plans for pending pods only; leave out %s or --usage", other.flag)
		}
	}
	return nil
}

// usageSummary is the outcome of a plan in which containers request what they use.
type usageSummary struct {
	// Percentile is left out if no series has several samples.
	Percentile *int     `json:"percentile,omitempty"`
	Sources    []string `json:"sources"`
	Workloads  int      `json:"workloads"`
	// Pods is the number of pods with known usage, pending and running; PodsWithout is the number of the others.
	Pods        int `json:"pods"`
	PodsWithout int `json:"podsWithout"`
	// Requested and Used are the sums for the pods with known usage.
	Requested quantities `json:"requested"`
	Used      quantities `json:"used"`
	Plan      whatIf     `json:"plan"`
}

// containerUsage compares the requests of a container with its usage.
type containerUsage struct {
	Workload  string     `json:"workload"`
	Container string     `json:"container"`
	Pods      int        `json:"pods"`
	Requests  quantities `json:"requests"`
	Usage     quantities `json:"usage"`
}

// usagePlan is the answer to --usage.
type usagePlan struct {
	summary    usageSummary
	containers []usage.Container
	// requested and used are the sums of the summary.
	requested, used corev1.ResourceList
	// targets is true if all usage comes from VerticalPodAutoscalers.
	targets bool
}

// readUsage reads the files of --usage; nil without the flag.
func (s *simulation) readUsage() (*usage.Usage, error) {
	if len(s.usage.files) == 0 {
		return nil, nil
	}
	s.progress.Enter("reading usage")
	read := usage.New(s.usage.percentile)
	for _, f := range s.usage.files {
		if err := readUsageFile(read, f); err != nil {
			return nil, fmt.Errorf("reading usage: %w", err)
		}
	}
	return read, nil
}

func readUsageFile(into *usage.Usage, f usageFile) error {
	file, err := os.Open(f.name)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	return into.Read(f.name, f.resource, file)
}

// planUsage plans the snapshot with requests at usage; nil without --usage.
func (s *simulation) planUsage(ctx context.Context, read *usage.Usage, planned result) (*usagePlan, error) {
	if read == nil {
		return nil, nil
	}
	deployments := deploymentsOf(planned.snapshot)
	changed, outcome := read.Apply(planned.snapshot, func(pod *corev1.Pod) usage.Workload {
		w := workloadOf(pod, deployments)
		if w.bare() || w.kind == "Node" { // the owner of a static pod is its node
			return usage.Workload{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}
		}
		return usage.Workload{Kind: w.kind, Namespace: w.namespace, Name: w.name}
	})
	s.remarkOnUsage(read, outcome)
	p := &usagePlan{containers: outcome.Containers, requested: outcome.Requested, used: outcome.Used, targets: read.FromTargets(), summary: usageSummary{
		Workloads: outcome.Workloads, Pods: outcome.Pods, PodsWithout: outcome.Without,
		Requested: newQuantities(outcome.Requested), Used: newQuantities(outcome.Used),
	}}
	if percentile, ok := read.Percentile(); ok {
		p.summary.Percentile = &percentile
	}
	for _, f := range s.usage.files {
		p.summary.Sources = append(p.summary.Sources, f.name)
	}
	now := newWhatIf(planned.snapshot, planned.plan)
	p.summary.Plan = whatIf{Pods: now.Pods}
	if now.Pods > mostPodsIf {
		return p, nil
	}
	s.progress.Enter("planning with requests at usage")
	var err error
	if p.summary.Plan, err = s.planIf(ctx, changed); err != nil {
		return nil, fmt.Errorf("with requests at usage: %w", err)
	}
	return p, nil
}

// remarkOnUsage lists what --usage could not use, and pods of unknown usage.
func (s *simulation) remarkOnUsage(read *usage.Usage, outcome *usage.Outcome) {
	if n := read.Sums(); n > 0 {
		s.note("UsageSumsSkipped", "%s series of usage skipped: they have no container, or are of pause containers", number(n))
	}
	if skipped := read.WithoutRecommendation(); len(skipped) > 0 {
		s.note("UsageNotRecommended", "%s without a recommendation skipped, such as %s", counted(len(skipped), "VerticalPodAutoscaler"), skipped[0])
	}
	if outcome.Unmatched > 0 {
		s.note("UsageUnmatched", "usage of %s matches no pod of the input, such as %s", counted(outcome.Unmatched, "container"), outcome.Example)
	}
	if outcome.Without > 0 {
		s.note("UsageUnknown", "%s of unknown usage: the plan with requests at usage keeps their requests", counted(outcome.Without, "pod"))
	}
}

// fill adds the answer to a document.
func (p *usagePlan) fill(d *document) {
	if p == nil {
		return
	}
	d.Summary.Usage = &p.summary
	d.Usage = make([]containerUsage, 0, len(p.containers))
	for _, c := range p.containers {
		d.Usage = append(d.Usage, containerUsage{c.Workload.String(), c.Container, c.Pods, newQuantities(c.Requests), newQuantities(c.Usage)})
	}
}

// shownUsage is the number of containers in each table, unless the user asks for all.
const shownUsage = 10

// writeUsage prints what the plan would cost with requests at usage, and the containers whose requests differ most from it.
func (r textReport) writeUsage(w io.Writer) {
	if r.usage == nil {
		return
	}
	u := r.usage.summary
	text := "With requests at usage"
	switch {
	case u.Percentile != nil:
		text = fmt.Sprintf("With requests at the %s percentile of usage", ordinal(*u.Percentile))
	case r.usage.targets:
		text = "With requests at the targets of VerticalPodAutoscalers"
	}
	text += fmt.Sprintf(" (%s), known for %s of %s: %s.", strings.Join(u.Sources, ", "), number(u.Pods), counted(u.Pods+u.PodsWithout, "pod"), r.usageCost(u.Plan))
	if u.Pods > 0 {
		text += fmt.Sprintf(" Pods with known usage request %s and use %s.", sumWords(r.usage.requested), sumWords(r.usage.used))
	}
	r.writeWrapped(w, "", text)
	var above, below []usage.Container
	for _, c := range r.usage.containers {
		more, less := c.Excess()
		if more > less {
			above = append(above, c)
		}
		if less > 0 {
			below = append(below, c)
		}
	}
	slices.SortStableFunc(below, func(a, b usage.Container) int {
		_, lessA := a.Excess()
		_, lessB := b.Excess()
		return cmp.Compare(lessB, lessA)
	})
	r.writeUsageTable(w, "Requests above usage", above)
	r.writeUsageTable(w, "Requests below usage", below)
}

// usageCost compares the cost of a plan with the printed plan.
func (r textReport) usageCost(plan whatIf) string {
	if plan.HourlyCost == nil {
		return fmt.Sprintf("not planned, because there are more than %s", counted(mostPodsIf, "pod"))
	}
	mark := ""
	if r.summary.Estimated > 0 {
		mark = "~"
	}
	text := fmt.Sprintf("%s%s/h for %s", mark, dollars(*plan.HourlyCost), counted(*plan.NewNodes, "new node"))
	switch saved := roundDollars(r.summary.HourlyCost - *plan.HourlyCost); {
	case math.Abs(saved) < 0.00005:
		text += ", the same cost"
	case r.summary.HourlyCost == 0:
		text += fmt.Sprintf(", %s/h more", mark+dollars(-saved))
	case saved > 0:
		text += fmt.Sprintf(", %s/h (%s) less", mark+dollars(saved), percent(saved/r.summary.HourlyCost))
	default:
		text += fmt.Sprintf(", %s/h (%s) more", mark+dollars(-saved), percent(-saved/r.summary.HourlyCost))
	}
	if *plan.Unschedulable != r.summary.Unschedulable {
		text += fmt.Sprintf("; %s without a place instead of %s", counted(*plan.Unschedulable, "pod"), number(r.summary.Unschedulable))
	}
	return text
}

// writeUsageTable prints a table of containers.
func (r textReport) writeUsageTable(w io.Writer, title string, list []usage.Container) {
	if len(list) == 0 {
		return
	}
	shown := list
	if !r.verbose && len(list) > shownUsage {
		shown = list[:shownUsage]
		title += fmt.Sprintf(" (%d of %s; --verbose lists all)", shownUsage, counted(len(list), "container"))
	}
	t := table{columns: []column{
		{title: "WORKLOAD"}, {title: "CONTAINER"}, {title: "PODS", right: true},
		{title: "CPU", right: true}, {title: "USED", right: true}, {title: "MEMORY", right: true}, {title: "USED", right: true},
	}}
	for _, c := range shown {
		t.rows = append(t.rows, row{cells: []string{
			c.Workload.String(), c.Container, number(c.Pods), cpuWords(c.Requests), cpuWords(c.Usage), memoryWords(c.Requests), memoryWords(c.Usage),
		}})
	}
	fmt.Fprintf(w, "%s\n", r.paint(bold, title+":"))
	t.write(w, r.canvas)
}

// cpuWords returns an amount of CPU in cores, or "-" if it is missing.
func cpuWords(list corev1.ResourceList) string {
	q, ok := list[corev1.ResourceCPU]
	if !ok {
		return "-"
	}
	return trimmed(q.AsApproximateFloat64(), 3)
}

// memoryWords returns an amount of memory in Gi or, below 1Gi, in Mi; "-" if it is missing.
func memoryWords(list corev1.ResourceList) string {
	q, ok := list[corev1.ResourceMemory]
	if !ok {
		return "-"
	}
	bytes := q.AsApproximateFloat64()
	if bytes < 1<<30 {
		return trimmed(bytes/(1<<20), 0) + "Mi"
	}
	return trimmed(bytes/(1<<30), 2) + "Gi"
}

// sumWords returns "cpu 64, memory 256Gi".
func sumWords(list corev1.ResourceList) string {
	return "cpu " + cpuWords(list) + ", memory " + memoryWords(list)
}

// trimmed writes a number with at most this many decimals.
func trimmed(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if decimals > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// ordinal writes 95 as "95th".
func ordinal(n int) string {
	ending := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return strconv.Itoa(n) + ending
}

package simulate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/disruption"
)

const (
	// shownCommands is the maximum number of listed commands, unless the user requests all.
	shownCommands = 20
	// shownStays is the maximum number of listed reasons why nodes stay, unless the user requests all.
	shownStays = 12
	// shownPlaces is the maximum number of listed nodes to which the pods of a command move.
	shownPlaces = 4
)

// consolidationText writes a plan of consolidation for people.
type consolidationText struct {
	textReport
	document consolidationDocument
	plan     *disruption.Plan
	result   consolidation
}

func (r consolidationText) write(w io.Writer) {
	s := r.document.Summary
	fmt.Fprintf(w, "%s %s, %s of them candidates for disruption\n",
		r.paint(bold, counted(s.Nodes, "node")), r.result.before.at(), number(s.Candidates))
	r.assumed.write(w)
	r.writeUnpriced(w)
	r.writeCommands(w)
	r.writeWaves(w)
	r.writeStays(w)
	r.writeCalendar(w)
	r.writeSaving(w)
}

func (r consolidationText) writeCommands(w io.Writer) {
	if len(r.plan.Commands) == 0 {
		fmt.Fprint(w, "\nNothing to remove or to replace.\n")
		return
	}
	list, left := r.plan.Commands, 0
	if !r.verbose && len(list) > shownCommands {
		list, left = list[:shownCommands], len(list)-shownCommands
	}
	t := table{columns: []column{
		{title: "#", right: true}, {title: "WHAT"}, {title: "WHY"}, {title: "NODES", right: true}, {title: "PODS", right: true}, {title: "SAVES $/H", right: true}, {title: "EVICTIONS $", right: true}, {title: "LAUNCHES"},
	}}
	for i, cmd := range list {
		t.rows = append(t.rows, row{
			cells: []string{
				number(i + 1), string(cmd.Decision()), strings.ToLower(string(cmd.Reason)), number(len(cmd.Members)), number(cmd.Pods()),
				r.result.savings[i].cell(), strings.Replace(dollars(r.document.Commands[i].EvictionCost), "$", "", 1), r.launches(cmd),
			},
			below: append([]string{r.fit(cmd.Nodes(), ", ", r.width-detailIndent)}, r.places(&r.document.Commands[i])...),
		})
	}
	fmt.Fprintf(w, "\n%s\n", r.paint(bold, counted(len(r.plan.Commands), "command")))
	t.write(w, r.canvas)
	if left > 0 {
		fmt.Fprintf(w, "  %s and %s (--verbose lists them)\n", r.ellipsis(), counted(left, "more command"))
	}
}

// places returns the nodes to which the pods of a command move, one line for each node.
func (r consolidationText) places(cmd *commandDocument) []string {
	var lines []string
	list := func(node string, pods []string) {
		if len(pods) == 0 {
			return
		}
		begin := "to " + node + ": "
		room := r.width - detailIndent - len(begin)
		if r.verbose {
			room = 1 << 30
		}
		lines = append(lines, begin+r.fit(pods, ", ", room))
	}
	for _, to := range cmd.Receivers {
		list(to.Name, to.Pods)
	}
	for _, to := range cmd.Launches {
		list("a new "+to.InstanceType+"/"+to.Zone+"/"+to.CapacityType, to.Pods)
	}
	if left := len(lines) - shownPlaces; left > 0 && !r.verbose {
		lines = append(lines[:shownPlaces], fmt.Sprintf("%s and to %s (--verbose lists them)", r.ellipsis(), counted(left, "more node")))
	}
	return lines
}

// writeWaves prints how long the commands of each wave take. Commands are numbered in the order of the plan, which is the order of the
// waves.
func (r consolidationText) writeWaves(w io.Writer) {
	if len(r.plan.Waves) == 0 {
		return
	}
	t := table{columns: []column{
		{title: "WAVE", right: true}, {title: "COMMANDS"}, {title: "PODS", right: true}, {title: "TAKES", right: true}, {title: "OVERLAP $", right: true}, {title: "SAVES $/H", right: true},
	}}
	var total time.Duration
	first := 1
	for i, wave := range r.document.Waves {
		takes := time.Duration(wave.Seconds * float64(time.Second)).Round(time.Second)
		total += takes
		last := first + len(wave.Commands) - 1
		which := number(first)
		if last > first {
			which += " to " + number(last)
		}
		first = last + 1
		t.rows = append(t.rows, row{cells: []string{
			number(i + 1), which, number(wave.Pods), takes.String(),
			strings.Replace(dollars(wave.Overlap), "$", "", 1), r.result.saved(wave.Commands),
		}})
	}
	long := "at once: no pod moves"
	if total > 0 {
		long = total.String() + " in all"
	}
	fmt.Fprintf(w, "\n%s, %s\n", r.paint(bold, counted(len(r.plan.Waves), "wave")), long)
	t.write(w, r.canvas)
}

// launches returns the nodes that a command launches, such as "m7g.large/us-east-1a/spot, 2 x c7g.large/us-east-1b/spot".
func (r consolidationText) launches(cmd *disruption.Command) string {
	var items []string
	kinds := kindsOf(cmd.Replacements)
	for i := 0; i < len(kinds); {
		n := i + 1
		for n < len(kinds) && kinds[n] == kinds[i] {
			n++
		}
		item := "as " + kinds[i].Pool.String() + " asks"
		if kinds[i].InstanceType != "" {
			item = kinds[i].InstanceType + "/" + kinds[i].Zone + "/" + kinds[i].CapacityType
		}
		if n-i > 1 {
			item = fmt.Sprintf("%d %s %s", n-i, r.times(), item)
		}
		items, i = append(items, item), n
	}
	return strings.Join(items, ", ")
}

// stay is a reason that several nodes have in common.
type stay struct {
	message string
	nodes   []string
}

// writeStays prints why nodes stay; nodes with the same text are on the same line.
func (r consolidationText) writeStays(w io.Writer) {
	index := make(map[string]int)
	var stays []stay
	kept := 0
	for _, v := range r.result.verdicts {
		if v.Outcome != disruption.OutcomeKept {
			continue
		}
		kept++
		message := stayMessage(v)
		i, ok := index[message]
		if !ok {
			i = len(stays)
			index[message] = i
			stays = append(stays, stay{message: message})
		}
		stays[i].nodes = append(stays[i].nodes, v.Node)
	}
	if kept == 0 {
		return
	}
	slices.SortStableFunc(stays, func(a, b stay) int {
		return cmp.Or(cmp.Compare(len(b.nodes), len(a.nodes)), strings.Compare(a.message, b.message))
	})
	fmt.Fprintf(w, "\n%s: %s\n", r.paint(bold, "Staying"), counted(kept, "node"))
	left := 0
	if !r.verbose && len(stays) > shownStays {
		for _, s := range stays[shownStays:] {
			left += len(s.nodes)
		}
		stays = stays[:shownStays]
	}
	for _, s := range stays {
		room := r.width - 4
		if r.verbose {
			room = 1 << 30
		}
		for _, line := range wrap(fmt.Sprintf("%s: %s", counted(len(s.nodes), "node"), s.message), r.width-2) {
			fmt.Fprintf(w, "  %s\n", line)
		}
		fmt.Fprintf(w, "    %s\n", r.fit(s.nodes, ", ", room))
	}
	if left > 0 {
		fmt.Fprintf(w, "  %s and %s for other reasons (--verbose lists them)\n", r.ellipsis(), counted(left, "node"))
	}
}

// stayMessage returns why a node stays. It omits blocks whose method Silent returns true, if there are other blocks.
func stayMessage(v disruption.Verdict) string {
	var telling, all []string
	for _, b := range v.Blocks {
		text := b.Block.String()
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
		if !b.Block.Silent() && !slices.Contains(telling, text) {
			telling = append(telling, text)
		}
	}
	if len(telling) > 0 {
		all = telling
	}
	if len(all) == 0 {
		return "nothing speaks for it"
	}
	return strings.Join(all, "; ")
}

// writeChange prints the savings of the commands. It prints percentages only if the prices of all nodes are known.
func (r consolidationText) writeChange(w io.Writer) {
	s := r.document.Summary
	if n := s.SavingsUnknown; n > 0 {
		verb := "save"
		if n == 1 {
			verb = "saves"
		}
		fmt.Fprintf(w, "What %s %s is unknown: the price of a node that goes or comes is not known.\n", counted(n, "command"), verb)
	}
	if s.Savings == 0 || r.result.before.unknown() {
		return
	}
	change, word := s.Savings, "less"
	if change < 0 { // the replacement of a node that must be removed may cost more than the node
		change, word = -change, "more"
	}
	mark, share := "", ""
	for _, saved := range r.result.savings {
		if saved.estimated {
			mark = "~"
		}
	}
	if r.result.before.unpriced == 0 && r.result.before.cost > 0 {
		share = fmt.Sprintf(" (%.1f%%)", 100*change/r.result.before.cost)
	}
	of := ""
	if s.SavingsUnknown > 0 {
		of = " by the other commands"
	}
	fmt.Fprintf(w, "%s instead of %s: %s%s/h %s%s%s, %s%s a month of %d h.\n",
		r.paint(bold, r.result.after.String()), &r.result.before, mark, dollars(change), word, of, share, mark, r.paint(bold, monthly(change)), hoursPerMonth)
	for i, s := range r.document.Prices {
		if i == 0 {
			fmt.Fprintln(w, "Prices of the nodes:")
		}
		r.writeWrapped(w, "  ", fmt.Sprintf("%s, %s/h: %s", counted(s.Nodes, s.CapacityType+" node"), s.mark()+dollars(s.HourlyCost), s.words()))
	}
}

func (r consolidationText) writeSaving(w io.Writer) {
	s := r.document.Summary
	replaced := ""
	if s.Replaced > 0 {
		replaced = fmt.Sprintf(", %s replaced by %s", number(s.Replaced), number(s.Launched))
	}
	fmt.Fprintf(w, "\n%s removed%s; %s of pods.\n", counted(s.Removed, "node"), replaced, counted(s.Evictions, "eviction"))
	r.writeChange(w)
	if s.EvictionCost > 0 {
		fmt.Fprintf(w, "Moving the pods is worth %s, once (--disruption-price).\n", dollars(s.EvictionCost))
	}
	if len(r.plan.Commands) > 0 {
		fmt.Fprintf(w, "Digest %s\n", r.document.Digest)
	}
	if r.plan.Waiting {
		again := ""
		if !r.plan.Again.IsZero() {
			again = " at " + r.plan.Again.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(w, "More may be possible later%s: budgets or waiting times leave something out now.\n", again)
	}
	fmt.Fprintf(w, "Planned in %s.\n", millis(r.result.planning))
}

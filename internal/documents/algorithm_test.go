package documents_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

var update = flag.Bool("update", false, "write the numbers of the pages again")

const algorithmPage = "../../docs/algorithm.md"

// TestAlgorithm computes each number of the example in docs/algorithm.md: what the planner makes of it by the planner, the steps of
// column generation by a program of its own, which must come to the same prices.
func TestAlgorithm(t *testing.T) {
	plan, rounds := examplePlan(t), generate()
	last := &rounds[len(rounds)-1].mix
	t.Run("prices", func(t *testing.T) {
		for w, workload := range exampleWorkloads() {
			if got := valueOf(t, plan, workload); math.Abs(got-last.prices[w]) > 1e-6 {
				t.Errorf("a pod of %s is worth %g in the certificate, %g in the last round", workload.name, got, last.prices[w])
			}
		}
		if math.Abs(plan.LowerBound-last.cost) > 1e-6 {
			t.Errorf("the plan's bound is %g, the last mix costs %g", plan.LowerBound, last.cost)
		}
	})
	t.Run("optimum", func(t *testing.T) {
		if best := cheapestWhole(); math.Abs(plan.HourlyCost-best) > 1e-9 {
			t.Errorf("the plan costs %g, the cheapest %g", plan.HourlyCost, best)
		}
	})
	holdPage(t, algorithmPage, map[string]string{
		"types":       typesTable(),
		"pods":        podsTable(),
		"rounds":      roundsText(rounds),
		"certificate": certificateTable(t, plan),
		"bound":       boundText(t, plan),
		"plan":        planTable(plan),
	})
	later := laterSnapshot(t, plan)
	holdPage(t, algorithmPage, map[string]string{"waste": wasteTable(t, later), "consolidation": consolidationText(t, later)})
}

// TestAlgorithmProse keeps numbers of the example out of the text around its tables, where no test would see them.
func TestAlgorithmProse(t *testing.T) {
	page := read(t, algorithmPage)
	for _, heading := range []string{"## The example", "### The example, a day later"} {
		_, section, found := strings.Cut(page, "\n"+heading+"\n")
		if !found {
			t.Fatalf("the page has no section %q", heading)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		inside := false
		for line := range strings.Lines(section) {
			switch {
			case strings.HasPrefix(line, "<!-- numbers: "):
				inside = true
			case line == endOfNumbers+"\n":
				inside = false
			case !inside && strings.ContainsAny(line, "0123456789"):
				t.Errorf("%s: a number that no test computes: %s", heading, line)
			}
		}
	}
}

const endOfNumbers = "<!-- end of numbers -->"

// holdPage compares the page's blocks with what they are to say, by name. A block is what stands between a line
// "<!-- numbers: NAME -->" and the next line endOfNumbers.
func holdPage(t *testing.T, name string, blocks map[string]string) {
	t.Helper()
	page := read(t, name)
	for block, want := range blocks {
		start := "\n<!-- numbers: " + block + " -->\n"
		before, rest, found := strings.Cut(page, start)
		got, after, ended := strings.Cut(rest, endOfNumbers+"\n")
		if !found || !ended {
			t.Errorf("%s has no block %q that ends", name, block)
			continue
		}
		want = "\n" + want + "\n"
		if diff := cmp.Diff(want, got); diff != "" && !*update {
			t.Errorf("%s, %s (-want +shown); refresh with -update:\n%s", name, block, diff)
		}
		page = before + start + want + endOfNumbers + "\n" + after
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(filepath.FromSlash(name), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// table is Markdown: the head, then the rows.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// usd is a price to a hundredth of a cent; zero has no sign.
func usd(x float64) string { return fmt.Sprintf("$%.4f", x+0) }

func typesTable() string {
	var rows [][]string
	for _, it := range exampleTypes() {
		rows = append(rows, []string{it.name, fmt.Sprintf("%g", it.cpu), fmt.Sprintf("%g GiB", it.memory), fmt.Sprintf("$%.2f", it.price)})
	}
	return table([]string{"Instance type", "CPU", "Memory", "USD per hour"}, rows)
}

func podsTable() string {
	var rows [][]string
	for _, w := range exampleWorkloads() {
		row := []string{w.name, fmt.Sprint(w.pods), fmt.Sprintf("%g", w.cpu), fmt.Sprintf("%g GiB", w.memory)}
		for i := range exampleTypes() {
			row = append(row, fmt.Sprint(fitsAloneUncapped(exampleTypes()[i], w)))
		}
		rows = append(rows, row)
	}
	head := []string{"Workload", "Pods", "CPU each", "Memory each"}
	for _, it := range exampleTypes() {
		head = append(head, "fit on "+it.name)
	}
	return table(head, rows)
}

func fitsAloneUncapped(it instanceType, w workload) int {
	return int(math.Floor(math.Min(it.cpu/w.cpu, it.memory/w.memory) + tolerance))
}

// fillingText is "2.00 web, 0.86 batch".
func fillingText(c *column) string {
	var parts []string
	for w, n := range c.count {
		if n > tolerance {
			parts = append(parts, fmt.Sprintf("%.2f %s", n, exampleWorkloads()[w].name))
		}
	}
	return strings.Join(parts, ", ")
}

func roundsText(rounds []round) string {
	var b strings.Builder
	for i := range rounds {
		r := &rounds[i]
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "**Round %d.** The cheapest mix of the fillings known costs %s an hour:\n\n", i+1, usd(r.mix.cost))
		var rows [][]string
		for c := range r.mix.columns {
			col := &r.mix.columns[c]
			rows = append(rows, []string{fmt.Sprintf("%.3f", r.mix.times[c]), col.of.name, fillingText(col), usd(r.mix.times[c] * col.of.price)})
		}
		b.WriteString(table([]string{"Nodes", "Instance type", "Pods on each", "Cost"}, rows))
		var prices []string
		for w, workload := range exampleWorkloads() {
			prices = append(prices, fmt.Sprintf("%s %s", workload.name, usd(r.mix.prices[w])))
		}
		fmt.Fprintf(&b, "\nThe prices of pods at this mix: %s. The most valuable filling of each type at these prices:\n\n", strings.Join(prices, ", "))
		rows = nil
		for c := range r.best {
			col := &r.best[c]
			verdict := "no gain"
			if worth := r.mix.worth(col); worth > col.of.price+1e-6 {
				verdict = "**enters the mix**"
			}
			rows = append(rows, []string{col.of.name, fillingText(col), usd(r.mix.worth(col)), usd(col.of.price), verdict})
		}
		b.WriteString(table([]string{"Instance type", "Best filling", "Worth", "Price", ""}, rows))
	}
	return b.String()
}

// valueOf is what the certificate says that one pod of the workload is worth.
func valueOf(t *testing.T, plan *scheduling.Plan, w workload) float64 {
	t.Helper()
	for _, c := range plan.Certificate.Classes {
		if c.Requests.Cpu().AsApproximateFloat64() == w.cpu && c.Count == w.pods {
			return c.Value
		}
	}
	t.Fatalf("the certificate has no class of %d pods that ask for %g cores", w.pods, w.cpu)
	return 0
}

// certificateTable adds the certificate up as anyone can who does not trust the planner.
func certificateTable(t *testing.T, plan *scheduling.Plan) string {
	t.Helper()
	const gib = 1 << 30
	var rows [][]string
	for _, it := range exampleTypes() {
		for _, proof := range plan.Certificate.Types {
			if proof.Name != it.name {
				continue
			}
			cpu, memory := proof.Multipliers[corev1.ResourceCPU], proof.Multipliers[corev1.ResourceMemory]*gib
			room, excess := cpu*it.cpu+memory*it.memory, 0.0
			var list []string
			for i, w := range exampleWorkloads() {
				over := math.Max(0, valueOf(t, plan, w)-cpu*w.cpu-memory*w.memory)
				if over*1e4 < 0.5 {
					over = 0
				}
				excess += over * fitsAlone(it, i)
				if over > 0 && fitsAlone(it, i) > 0 {
					list = append(list, fmt.Sprintf("%g × %s", fitsAlone(it, i), usd(over)))
				}
			}
			if len(list) == 0 {
				list = []string{"none"}
			}
			if room+excess > it.price+1e-6 {
				t.Errorf("type %s could hold pods worth %g for %g", it.name, room+excess, it.price)
			}
			rows = append(rows, []string{
				it.name, usd(cpu), usd(memory), usd(room), strings.Join(list, ", "), usd(room + excess), usd(it.price),
			})
		}
	}
	if len(rows) != len(exampleTypes()) {
		t.Errorf("the certificate proves %d of %d types", len(rows), len(exampleTypes()))
	}
	return table([]string{"Type", "λ per core", "λ per GiB", "Its resources at λ", "Pods worth more than they use", "At most worth", "Price"}, rows)
}

// boundText adds up what the pods are worth.
func boundText(t *testing.T, plan *scheduling.Plan) string {
	t.Helper()
	sum := 0.0
	var parts []string
	for _, w := range exampleWorkloads() {
		value := valueOf(t, plan, w)
		sum += float64(w.pods) * value
		parts = append(parts, fmt.Sprintf("%d × %s", w.pods, usd(value)))
	}
	if math.Abs(sum-plan.LowerBound) > 1e-6 {
		t.Errorf("the pods are worth %g, the plan's bound is %g", sum, plan.LowerBound)
	}
	return fmt.Sprintf("Lower bound: %s = **%s** an hour.\n", strings.Join(parts, " + "), usd(sum))
}

func planTable(plan *scheduling.Plan) string {
	var rows [][]string
	for i := range plan.NewNodes {
		n := &plan.NewNodes[i]
		count := map[string]int{}
		for _, pod := range n.Pods {
			name, _, _ := strings.Cut(pod.Name, "-")
			count[name]++
		}
		var pods []string
		for _, w := range exampleWorkloads() {
			if count[w.name] > 0 {
				pods = append(pods, fmt.Sprintf("%d %s", count[w.name], w.name))
			}
		}
		cpu, memory := n.Requests.Cpu().AsApproximateFloat64(), n.Requests.Memory().AsApproximateFloat64()/(1<<30)
		rows = append(rows, []string{
			n.InstanceTypes[0].Name, strings.Join(pods, ", "), fmt.Sprintf("%g of %g cores", cpu, n.Allocatable.Cpu().AsApproximateFloat64()),
			fmt.Sprintf("%g of %g GiB", memory, n.Allocatable.Memory().AsApproximateFloat64()/(1<<30)), usd(n.InstanceTypes[0].Price),
		})
	}
	gap := plan.HourlyCost/plan.LowerBound - 1
	return table([]string{"Node", "Pods", "CPU", "Memory", "Price"}, rows) + fmt.Sprintf(
		"\nThe plan costs **%s** an hour, %.1f %% above the bound. An exhaustive search over all ways to put the %d pods on whole nodes finds nothing cheaper than %s.\n",
		usd(plan.HourlyCost), 100*gap, len(plan.Order), usd(cheapestWhole()))
}

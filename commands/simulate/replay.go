package simulate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/drawknife/drawknife/commands/simulate/internal/replay"
	"github.com/drawknife/drawknife/scheduling"
)

// replayOptions are the flags of --replay.
type replayOptions struct {
	// trace is the file of the trace; empty if none is replayed.
	trace string
	// from and length select the part of the trace to replay. If `from` is 0, this part starts at the trace's beginning. If `length` is 0,
	// it ends at the trace's end.
	from, length time.Duration
	// interruptions is the average number of interruptions of a spot node in a month.
	interruptions float64
	// every is the interval of consolidation; 0 means never.
	every time.Duration
	seed  uint64
}

// replayTrace simulates the trace with the pools of the snapshot, and prints the result.
func (s *simulation) replayTrace(ctx context.Context, snapshot *scheduling.Snapshot) (int, error) {
	s.progress.Enter("reading the trace")
	file, err := os.Open(s.replay.trace)
	if err != nil {
		return 0, fmt.Errorf("reading the trace: %w", err)
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	trace, err := replay.ReadTrace(bufio.NewReader(file))
	if err != nil {
		return 0, fmt.Errorf("reading the trace %s: %w", s.replay.trace, err)
	}
	length := s.replay.length
	if length == 0 {
		for _, a := range trace {
			length = max(length, a.At, a.Until)
		}
		length = max(length-s.replay.from, time.Hour)
	}
	if len(snapshot.Nodes) > 0 {
		s.note("NodesLeftOut", "a replay begins with an empty cluster: %s of the input left out", counted(len(snapshot.Nodes), "node"))
	}
	s.progress.Enter("replaying")
	start := time.Now()
	every := s.replay.every
	if every == 0 {
		every = -1
	}
	window := replay.Window(trace, s.replay.from, length)
	s.remarkOnReplayedDevices(snapshot, window)
	result, err := replay.Run(ctx, replay.Options{
		Snapshot: snapshot, DeviceMatcher: s.matcher, Trace: window, Length: length, Seed: s.replay.seed, Query: s.query,
		Interruptions: s.replay.interruptions, Consolidate: every, Disruption: *s.disruption.Global(s.query, false),
		Estimated: s.assumed.isEstimated,
		Progress: func(at time.Duration) {
			s.progress.Enter(fmt.Sprintf("replaying: day %d of %d", at/(24*time.Hour)+1, (length+24*time.Hour-1)/(24*time.Hour)))
		},
	})
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	if s.page != "" {
		s.progress.Enter("writing the page")
		title := "drawknife replay of " + filepath.Base(s.replay.trace)
		if err := writeFile(s.page, func(w io.Writer) error { return result.WritePage(w, title) }); err != nil {
			return 0, withStatus(exitOutput, fmt.Errorf("writing the page: %w", err))
		}
		s.done.wrote(s.page)
	}
	s.progress.Stop()
	s.printRemarks()
	if err := s.printReplay(result, took); err != nil {
		return 0, withStatus(exitOutput, fmt.Errorf("writing the result: %w", err))
	}
	if result.Refused > 0 {
		return exitUnschedulable, nil
	}
	return exitPlaced, nil
}

// replayDocument is what --replay -o json prints: the result, how long pods were pending, and how long the replay took. Times since the
// start of the trace are in seconds; these fields hide fields of the embedded result that have the same name.
type replayDocument struct {
	typeMeta
	*replay.Result
	Length         float64            `json:"length"`
	PackedAt       float64            `json:"packedAt"`
	Series         []stretchDocument  `json:"series"`
	PendingSeconds map[string]float64 `json:"pendingSeconds"`
	Notes          []planNote         `json:"notes"`
	SolveMillis    float64            `json:"solveMillis"`
}

// stretchDocument is one period of the series.
type stretchDocument struct {
	At float64 `json:"at"`
	replay.Point
}

func newReplayDocument(r *replay.Result, notes []planNote, took time.Duration) replayDocument {
	d := replayDocument{
		typeMeta: typeOf(kindReplay), Result: r, Length: r.Length.Seconds(), PackedAt: r.PackedAt.Seconds(), Series: make([]stretchDocument, len(r.Series)),
		PendingSeconds: map[string]float64{}, Notes: append([]planNote{}, notes...), SolveMillis: float64(took.Milliseconds()),
	}
	for i, p := range r.Series {
		d.Series[i] = stretchDocument{At: p.At.Seconds(), Point: p}
	}
	for name, share := range map[string]float64{"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1} {
		d.PendingSeconds[name] = r.Pending(share).Seconds()
	}
	return d
}

func (s *simulation) printReplay(r *replay.Result, took time.Duration) error {
	b := bufio.NewWriter(s.stdout)
	if s.output.structured() {
		d := newReplayDocument(r, s.notes(), took)
		if err := writeDocument(b, s.output, d); err != nil {
			return err
		}
		return b.Flush()
	}
	c := newCanvas(s.stdout, s.color, os.Getenv)
	fmt.Fprintf(b, "%s over %s\n", c.paint(bold, counted(r.Pods, "pod")), r.Length)
	s.assumed.write(b)
	mark := ""
	if r.Estimated > 0 {
		mark = "~"
	}
	t := table{columns: []column{{title: "TIME"}, {title: "$/HOUR", right: true}, {title: ""}, {title: "NODES", right: true}, {title: "CPU", right: true}, {title: "MEMORY", right: true}, {title: "PENDING", right: true}}}
	const rows = 15
	most := 0.0
	stretches := stretchesOf(r.Series, rows)
	for _, p := range stretches {
		most = max(most, p.CostPerHour)
	}
	for _, p := range stretches {
		share := 0.0
		if most > 0 {
			share = p.CostPerHour / most
		}
		t.rows = append(t.rows, row{cells: []string{
			whenOf(p.At, r.Length), mark + dollars(p.CostPerHour)[1:], c.bar(share, 20), fmt.Sprintf("%.1f", p.Nodes),
			percent(p.CPU), percent(p.Memory), fmt.Sprintf("%.2f", p.Pending),
		}})
	}
	t.write(b, c)
	fmt.Fprintf(b, "\n%s in all, %s/h on average; %s in %s.\n", c.paint(bold, mark+dollars(r.Cost)), mark+dollars(r.Cost/r.Length.Hours()),
		counted(r.Launches, "node")+" launched", counted(r.Passes, "planning run"))
	if lines := r.Prices.Words(); len(lines) > 0 {
		fmt.Fprintln(b, "Prices:")
		text := textReport{canvas: c}
		for _, line := range lines {
			text.writeWrapped(b, "  ", line)
		}
	}
	fmt.Fprintf(b, "Waited for a node: half of the pods up to %s, 90%% up to %s, 99%% up to %s, the longest %s.\n",
		r.Pending(0.5), r.Pending(0.9), r.Pending(0.99), r.Pending(1))
	fmt.Fprintf(b, "%s by consolidation, %d by %s of spot nodes.\n", counted(r.EvictionsByPlan, "eviction"), r.EvictionsBySpot, counted(r.Interruptions, "interruption"))
	if r.Unplaced+r.Never > 0 {
		fmt.Fprintf(b, "Pods done before they had a node: %d. Pods that wait at the end: %d.\n", r.Never, r.Unplaced)
	}
	if r.WithoutDevices > 0 {
		fmt.Fprintf(b, "%s failed: the node had no devices left for the claims of the pod.\n", counted(r.WithoutDevices, "binding"))
	}
	if r.Refused > 0 {
		fmt.Fprintln(b, c.paint(red, counted(r.Refused, "pod")+" of these can have no place at all."))
	}
	writeRefusals(b, c, r.Refusals)
	fmt.Fprintf(b, "Replayed in %s.\n", millis(took))
	return b.Flush()
}

// writeRefusals prints why pods of a replay have no place.
func writeRefusals(b *bufio.Writer, c canvas, list []replay.Refusal) {
	text := textReport{canvas: c}
	for _, r := range list {
		fmt.Fprintf(b, "  %s, as %s\n", counted(r.Pods, "pod"), r.Pod)
		for _, reason := range r.Reasons {
			text.writeWrapped(b, "    - ", reason)
		}
		if r.Nearest != "" {
			text.writeWrapped(b, "      ", "nearest: "+r.Nearest)
		}
	}
}

// whenOf writes a time of a replay: in days if the replay is long, otherwise to the minute.
func whenOf(at, length time.Duration) string {
	if length < 48*time.Hour {
		return fmt.Sprintf("%d:%02d", at/time.Hour, at/time.Minute%60)
	}
	return fmt.Sprintf("day %.1f", at.Hours()/24)
}

// stretchesOf combines the periods of a series into at most n longer periods, with mean values.
func stretchesOf(series []replay.Point, n int) []replay.Point {
	var out []replay.Point
	for i := range n {
		from, to := i*len(series)/n, (i+1)*len(series)/n
		if from == to {
			continue
		}
		sum := replay.Point{At: series[from].At}
		for _, p := range series[from:to] {
			sum.CostPerHour += p.CostPerHour
			sum.Nodes += p.Nodes
			sum.CPU += p.CPU
			sum.Memory += p.Memory
			sum.Pending += p.Pending
		}
		for _, value := range []*float64{&sum.CostPerHour, &sum.Nodes, &sum.CPU, &sum.Memory, &sum.Pending} {
			*value /= float64(to - from)
		}
		out = append(out, sum)
	}
	return out
}

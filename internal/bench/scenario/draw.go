package scenario

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// Draw draws a random trace that is similar to a given trace. It draws rows of the given trace with replacement, and changes their sizes a
// little. The result is like the trace of another cluster of the same organization. The same Draw gives the same trace.
type Draw struct {
	// Kind is one of DrawKinds.
	Kind string
	// Seed is the seed of the draw.
	Seed uint64
}

// DrawKinds returns the kinds of traces that can be drawn. A "plain" trace has as many pods as the given trace. In a "cpu" trace, pods
// without GPUs are two and a half times as frequent. In a "gpu" trace, a third of the pods with GPUs require certain GPU models.
func DrawKinds() []string { return []string{"plain", "cpu", "gpu"} }

// parseDraw parses the output of the method Name.
func parseDraw(name string) (Draw, bool) {
	for _, kind := range DrawKinds() {
		if seed, found := strings.CutPrefix(name, "openb-"+kind+"-"); found {
			var d Draw
			if n, err := fmt.Sscanf(seed, "%d", &d.Seed); n == 1 && err == nil && fmt.Sprint(d.Seed) == seed {
				d.Kind = kind
				return d, true
			}
		}
	}
	return Draw{}, false
}

// Name returns openb-KIND-SEED.
func (d Draw) Name() string { return fmt.Sprintf("openb-%s-%d", d.Kind, d.Seed) }

// FromTrace draws a trace from the pod list in the files of o, and returns a scenario with it.
func FromTrace(o Objects, d Draw) (*Scenario, error) {
	if !slices.Contains(DrawKinds(), d.Kind) {
		return nil, fmt.Errorf("unknown kind of trace %q; known are %s", d.Kind, strings.Join(DrawKinds(), ", "))
	}
	o.draw = &d
	s, err := FromObjects(o, 0)
	if err != nil {
		return nil, err
	}
	s.Name, s.About, s.Seed = d.Name(), "a trace drawn from the openb trace, "+d.Kind, d.Seed
	return s, nil
}

// drawnTrace draws a trace from the files of the openb trace. They must be in the folder that the environment variable DataVariable names.
func drawnTrace(d Draw) (*Scenario, error) {
	o, found := OpenB(os.Getenv(DataVariable))
	if !found {
		return nil, &NoDataError{d.Name()}
	}
	return FromTrace(o, d)
}

// rows draws the rows of a new trace from the given rows. Each size (CPU, memory and GPUs) is changed once, for all pods of that size,
// because a trace has few sizes with many pods each.
func (d *Draw) rows(given []traceRow) ([]traceRow, error) {
	if len(given) == 0 {
		return nil, errors.New("cannot draw a trace from a trace without pods")
	}
	r := rand.New(rand.NewPCG(d.Seed, 7))
	type shape struct{ cpu, memory, gpus int64 }
	changed := make(map[shape]shape)
	var withoutGPU []traceRow
	for _, row := range given {
		s := shape{row.cpu, row.memory, row.gpus}
		if _, known := changed[s]; !known {
			// The factor of the method step is usually from 0.9 to 1.1. CPU is rounded to multiples of 0.1, and memory to multiples of 64
			// MiB.
			changed[s] = shape{step(row.cpu, 100, r), step(row.memory, 64, r), row.gpus}
		}
		if row.gpus == 0 {
			withoutGPU = append(withoutGPU, row)
		}
	}
	var out []traceRow
	draw := func(from []traceRow) {
		row := from[r.IntN(len(from))]
		s := changed[shape{row.cpu, row.memory, row.gpus}]
		row.name, row.cpu, row.memory = fmt.Sprintf("drawn-%05d", len(out)), s.cpu, s.memory
		if d.Kind == "gpu" && row.gpus > 0 && r.IntN(3) == 0 {
			row.models = models(r)
		}
		out = append(out, row)
	}
	for range given {
		draw(given)
	}
	if d.Kind == "cpu" && len(withoutGPU) > 0 {
		for range len(withoutGPU) * 3 / 2 {
			draw(withoutGPU)
		}
	}
	return out, nil
}

// step multiplies an amount by a factor from a log-normal distribution, and rounds the product to a multiple of size.
func step(amount, size int64, r *rand.Rand) int64 {
	by := math.Exp(0.1 * max(-2, min(2, r.NormFloat64())))
	return max(1, int64(math.Round(float64(amount)*by/float64(size)))) * size
}

// models draws the GPU models that a pod accepts, by EC2's names. It uses those models of the trace that EC2 also offers, about as often as
// they occur on the trace's nodes. One pod in ten accepts two models.
func models(r *rand.Rand) []string {
	switch n := r.IntN(10); {
	case n < 5:
		return []string{"t4"}
	case n < 8:
		return []string{"v100"}
	case n < 9:
		return []string{"a10g"}
	}
	return []string{"a10g", "t4"}
}

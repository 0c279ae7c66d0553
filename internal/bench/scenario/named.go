package scenario

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"

	"github.com/drawknife/drawknife/internal/workload"
)

// sized matches names of the forms LETTERS-PODS and LETTERS-PODS-sSEED. The second form is for seeds other than workload.Seed.
var sized = regexp.MustCompile(`^([a-z]+)-([1-9][0-9]{0,6})(?:-s([0-9]{1,19}))?$`)

// Named makes any scenario of the corpus from its name:
//
//	m5-none-3z-1          an ordinary cluster: families, rules, zones, seed (workload.ParseOrdinary)
//	c-10000, c-10000-s7   a generated mix with that many pods, and another seed than workload.Seed
//	gap-6zones            a saved snapshot (Saved)
//	h                     the openb trace in the folder $DRAWKNIFE_DATA
//	openb-cpu-7           a trace drawn from it: kind and seed (Draw)
//
// If files for the scenario are missing, the error is a *NoDataError.
func Named(name string) (*Scenario, error) {
	if slices.Contains(Saved(), name) {
		return readSaved(name)
	}
	if name == "h" {
		objects, found := OpenB(os.Getenv(DataVariable))
		if !found {
			return nil, &NoDataError{name}
		}
		return FromObjects(objects, 0)
	}
	if d, found := parseDraw(name); found {
		return drawnTrace(d)
	}
	if parts := sized.FindStringSubmatch(name); parts != nil {
		return namedMix(name, parts[1], parts[2], parts[3])
	}
	o, err := workload.ParseOrdinary(name)
	if err != nil {
		return nil, fmt.Errorf("scenario %q: not a mix (such as c-10000), a saved case (such as %s), h or openb-plain-1, and not an ordinary cluster: %w", name, Saved()[0], err)
	}
	s, err := o.Snapshot()
	if err != nil {
		return nil, err
	}
	return &Scenario{name, "an ordinary cluster", o.Seed, s}, nil
}

func namedMix(name, mix, count, seedText string) (*Scenario, error) {
	pods, err := strconv.Atoi(count)
	if err != nil || pods > maxPods {
		return nil, fmt.Errorf("scenario %q: give 1 to %d pods", name, maxPods)
	}
	seed := uint64(workload.Seed)
	if seedText != "" {
		if seed, err = strconv.ParseUint(seedText, 10, 64); err != nil {
			return nil, fmt.Errorf("scenario %q: %w", name, err)
		}
	}
	s := workload.Seeded(mix, pods, seed)
	if s == nil {
		return nil, fmt.Errorf("scenario %q: there is no mix %q", name, mix)
	}
	return &Scenario{name, "a generated mix", seed, s}, nil
}

// DataVariable is an environment variable with the path of a folder. The folder has large files that are not in the repository.
const DataVariable = "DRAWKNIFE_DATA"

// NoDataError means that a scenario needs files that are missing.
type NoDataError struct {
	// Scenario is the scenario that needs the files.
	Scenario string
}

func (e *NoDataError) Error() string {
	return fmt.Sprintf("scenario %s needs openb/pods.csv, openb/nodepool.yaml and ec2-catalog.json in the folder that $%s names", e.Scenario, DataVariable)
}

package sweep

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Bounds of a grid.
const (
	// APIVersion and Kind mark the file of a grid.
	APIVersion = "drawknife.dev/v1"
	Kind       = "Sweep"

	maxGridBytes = 1 << 20
	// MaxCells is the largest number of cells of a grid.
	MaxCells = 100_000
	maxAxes  = 16
)

// Grid describes the runs of a sweep.
type Grid struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Command is the name of the command that each cell runs, such as plan.
	Command string `json:"command"`
	// Arguments of all cells, before those of the axes.
	Arguments []string `json:"arguments,omitempty"`
	// Axes are what differs between cells: each cell has one value of each axis. The last axis varies fastest.
	Axes []Axis `json:"axes"`
	// Figures are the numbers of the answers that the report shows, as paths such as summary.hourlyCost. If there are none, the figures
	// depend on the kind of the answer.
	Figures []string `json:"figures,omitempty"`
}

// Axis is one thing that differs between cells.
type Axis struct {
	Name   string  `json:"name"`
	Values []Value `json:"values"`
}

// Value is one value of an axis.
type Value struct {
	// Name of the value in the report; unique in its axis.
	Name string `json:"name"`
	// Arguments are added to the command line of the cells with this value: flags, files or both.
	Arguments []string `json:"arguments,omitempty"`
}

// Cell is one run of the command.
type Cell struct {
	// Index of the cell in the grid, from 0.
	Index int
	// Values has the name of the value of each axis, in the order of Grid.Axes.
	Values []string
	// Arguments is the command line after the name of the command.
	Arguments []string
}

// GridError is a field of a grid that breaks a rule.
type GridError struct {
	// Path of the field, such as axes[1].values[0].name; empty for the file as a whole.
	Path string
	// Rule says what is wrong, and what would be right.
	Rule string
}

// Error returns the path and the rule.
func (e *GridError) Error() string {
	if e.Path == "" {
		return e.Rule
	}
	return e.Path + ": " + e.Rule
}

// ReadGrid reads the grid of a file, which is YAML or JSON.
func ReadGrid(name string) (*Grid, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxGridBytes+1))
	if err != nil {
		return nil, err
	}
	grid, err := ParseGrid(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return grid, nil
}

// ParseGrid parses YAML or JSON, and checks it. The error is a *GridError, or several that are joined.
func ParseGrid(text []byte) (*Grid, error) {
	if len(text) > maxGridBytes {
		return nil, &GridError{Rule: fmt.Sprintf("a grid has at most %d bytes; put what all cells share into arguments", maxGridBytes)}
	}
	var g Grid
	if err := yaml.UnmarshalStrict(text, &g); err != nil {
		return nil, &GridError{Rule: strings.TrimPrefix(err.Error(), "error unmarshaling JSON: while decoding JSON: json: ")}
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	return &g, nil
}

// figurePath is a path of keys.
var figurePath = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*)*$`)

func (g *Grid) check() error {
	var faults []error
	refuse := func(bad bool, path, format string, args ...any) {
		if bad {
			faults = append(faults, &GridError{path, fmt.Sprintf(format, args...)})
		}
	}
	refuse(g.APIVersion != APIVersion, "apiVersion", "must be %s, not %q", APIVersion, g.APIVersion)
	refuse(g.Kind != Kind, "kind", "must be %s, not %q", Kind, g.Kind)
	refuse(g.Command == "", "command", "must be the name of a command, such as plan")
	refuse(len(g.Axes) == 0, "axes", "must have at least one axis")
	refuse(len(g.Axes) > maxAxes, "axes", "may have at most %d axes, not %d", maxAxes, len(g.Axes))
	axes := map[string]bool{}
	for i, a := range g.Axes {
		path := fmt.Sprintf("axes[%d]", i)
		refuse(a.Name == "", path+".name", "must be given")
		refuse(axes[a.Name], path+".name", "%q is the name of an earlier axis", a.Name)
		axes[a.Name] = true
		refuse(len(a.Values) == 0, path+".values", "must have at least one value")
		values := map[string]bool{}
		for j, v := range a.Values {
			path := fmt.Sprintf("%s.values[%d].name", path, j)
			refuse(v.Name == "", path, "must be given")
			refuse(v.Name != "" && values[v.Name], path, "%q is the name of an earlier value", v.Name)
			values[v.Name] = true
		}
	}
	for i, f := range g.Figures {
		refuse(!figurePath.MatchString(f), fmt.Sprintf("figures[%d]", i), "must be a path of keys such as summary.hourlyCost, not %q", f)
	}
	cells := 1
	for _, a := range g.Axes {
		cells = min(cells*len(a.Values), MaxCells+1)
	}
	refuse(cells > MaxCells, "axes", "make more than %d cells; divide the grid", MaxCells)
	return errors.Join(faults...)
}

// Cells returns all cells, in the order of their indexes.
func (g *Grid) Cells() []Cell {
	cells := []Cell{{Arguments: g.Arguments}}
	for _, a := range g.Axes {
		next := make([]Cell, 0, len(cells)*len(a.Values))
		for _, c := range cells {
			for _, v := range a.Values {
				next = append(next, Cell{
					Index: len(next), Values: append(slices.Clip(c.Values), v.Name),
					Arguments: append(slices.Clip(c.Arguments), v.Arguments...),
				})
			}
		}
		cells = next
	}
	return cells
}

// Shard returns the cells of one shard of several: every shards-th cell, from the index on. The cells of all shards together are all cells,
// and each is in one shard. There are no cells for an index that is not from 0 to shards-1.
func Shard(cells []Cell, index, shards int) []Cell {
	if index < 0 || index >= shards {
		return nil
	}
	var own []Cell
	for i := range cells {
		if i%shards == index {
			own = append(own, cells[i])
		}
	}
	return own
}

package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// report is what a sweep found. Its JSON has the same bytes for the same grid and inputs.
type report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Command    string `json:"command"`
	// Axes are the names of the axes, and Figures the paths of the figures.
	Axes    []string `json:"axes"`
	Figures []string `json:"figures"`
	// Cells are in the order of the grid.
	Cells []cellReport `json:"cells"`
	// Means have one row for each value of each axis: the mean figures of all cells with the value that have an answer.
	Means []meanReport `json:"means"`
}

// cellReport is a row of the report.
type cellReport struct {
	// Values are in the order of the axes.
	Values []string `json:"values"`
	Status int      `json:"status"`
	// Figures are in the order of report.Figures; null for a figure that the answer lacks.
	Figures []*json.Number `json:"figures"`
	// Messages of a cell without an answer.
	Messages string `json:"messages,omitempty"`
}

// meanReport has the mean figures of a value of an axis.
type meanReport struct {
	Axis  string `json:"axis"`
	Value string `json:"value"`
	// Cells is how many cells with the value have an answer.
	Cells int `json:"cells"`
	// Figures are in the order of report.Figures; null if no cell has the figure.
	Figures []*float64 `json:"figures"`
}

// defaultFigures returns the figures for a kind of answer.
func defaultFigures(kind string) []string {
	switch kind {
	case "Plan":
		return []string{"summary.pods", "summary.unschedulable", "summary.newNodes", "summary.hourlyCost", "summary.lowerBound"}
	case "ConsolidationPlan":
		return []string{"summary.nodes", "summary.removed", "summary.launched", "summary.evictions", "summary.hourlyCost", "summary.hourlyCostAfter"}
	case "PoolComparison":
		return []string{"summary.nodes", "summary.replaced", "summary.evictions", "summary.unschedulable", "summary.hourlyCost", "summary.hourlyCostAfter"}
	case "Replay":
		return []string{"pods", "unplaced", "launches", "evictionsByPlan", "evictionsBySpot", "cost"}
	}
	return nil
}

// missingError says that cells have no result yet.
type missingError struct {
	cells, of int
	first     string
}

func (e *missingError) Error() string {
	return fmt.Sprintf("%d of %d cells have no result, or were run with other inputs, the first is %s: run their shards first", e.cells, e.of, e.first)
}

// reduce reads the results of all cells, and makes one report. Only the figures of an answer are kept.
func (s *sweep) reduce() (*report, error) {
	r := &report{APIVersion: APIVersion, Kind: "SweepReport", Command: s.grid.Command, Axes: []string{}, Figures: s.grid.Figures, Cells: []cellReport{}, Means: []meanReport{}}
	for _, a := range s.grid.Axes {
		r.Axes = append(r.Axes, a.Name)
	}
	missing := &missingError{of: len(s.cells)}
	for _, cell := range s.cells {
		stored, _, err := s.stored(cell)
		if err != nil {
			return nil, err
		}
		if stored == nil {
			if missing.cells++; missing.cells == 1 {
				missing.first = fmt.Sprintf("cell %d (%s)", cell.Index, s.label(cell))
			}
			continue
		}
		row := cellReport{Values: cell.Values, Status: stored.Status}
		var answer map[string]any
		if stored.Answer == nil {
			row.Messages = stored.Messages
		} else if answer, err = decode(stored.Answer); err != nil {
			return nil, fmt.Errorf("%s: %w", s.results.name(cell.Index), err)
		}
		if kind, ok := answer["kind"].(string); ok && r.Figures == nil {
			r.Figures = defaultFigures(kind)
		}
		for _, path := range r.Figures {
			row.Figures = append(row.Figures, figure(answer, path))
		}
		r.Cells = append(r.Cells, row)
	}
	if missing.cells > 0 {
		return nil, missing
	}
	r.complete()
	return r, nil
}

// complete fills in rows that came before the figures were known, and the means.
func (r *report) complete() {
	if r.Figures == nil {
		r.Figures = []string{}
	}
	for i := range r.Cells {
		if missing := len(r.Figures) - len(r.Cells[i].Figures); missing > 0 {
			r.Cells[i].Figures = append(r.Cells[i].Figures, make([]*json.Number, missing)...)
		}
	}
	for axis, name := range r.Axes {
		rows := map[string]int{}
		for _, cell := range r.Cells {
			value := cell.Values[axis]
			if _, known := rows[value]; !known {
				rows[value] = len(r.Means)
				r.Means = append(r.Means, r.mean(axis, name, value))
			}
		}
	}
}

// mean returns the mean figures of the cells with a value.
func (r *report) mean(axis int, name, value string) meanReport {
	m := meanReport{Axis: name, Value: value, Figures: make([]*float64, len(r.Figures))}
	sums, counts := make([]float64, len(r.Figures)), make([]int, len(r.Figures))
	for _, cell := range r.Cells {
		if cell.Values[axis] != value || cell.Messages != "" {
			continue
		}
		m.Cells++
		for i, f := range cell.Figures {
			if f == nil {
				continue
			}
			if number, err := f.Float64(); err == nil {
				sums[i] += number
				counts[i]++
			}
		}
	}
	for i, n := range counts {
		if n > 0 {
			mean := sums[i] / float64(n)
			m.Figures[i] = &mean
		}
	}
	return m
}

// unanswered returns how many cells have no answer.
func (r *report) unanswered() int {
	n := 0
	for _, c := range r.Cells {
		if c.Messages != "" {
			n++
		}
	}
	return n
}

func decode(text []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var answer map[string]any
	if err := decoder.Decode(&answer); err != nil {
		return nil, errors.New("the answer is not a JSON object")
	}
	return answer, nil
}

// figure returns the number at a path of keys, or nil if there is none.
func figure(answer map[string]any, path string) *json.Number {
	keys := strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		answer, _ = answer[key].(map[string]any)
	}
	if number, ok := answer[keys[len(keys)-1]].(json.Number); ok {
		return &number
	}
	return nil
}

package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/internal/version"
)

// sweep is a grid with the command that its cells run, and the folder of its results.
type sweep struct {
	grid    *Grid
	command commands.Command
	cells   []Cell
	results results
	inputs  *inputs
}

// open reads a grid, and finds its command among those that a grid may name.
func open(o *options, file string) (*sweep, error) {
	grid, err := ReadGrid(file)
	if err != nil {
		return nil, err
	}
	release, commit := version.Build()
	s := &sweep{grid: grid, results: results{o.results}, inputs: newInputs(release + " " + commit)}
	var names []string
	for _, c := range o.commands {
		if c.Name == grid.Command {
			s.command = c
		}
		names = append(names, c.Name)
	}
	if s.command.Begin == nil {
		return nil, fmt.Errorf("%s: %w", file, &GridError{"command", fmt.Sprintf("must be one of %q, not %q", names, grid.Command)})
	}
	s.cells = grid.Cells()
	return s, nil
}

// stored returns the result of a cell if it is there and its inputs have not changed, and the digest of the cell.
func (s *sweep) stored(cell Cell) (*result, string, error) {
	digest, err := s.inputs.digest(s.grid.Command, cell.Arguments)
	if err != nil {
		return nil, "", err
	}
	r, err := s.results.read(cell.Index, digest)
	return r, digest, err
}

// progress counts cells.
type progress struct {
	// Ran were run now, Kept have their result from an earlier run, and Failed could not be run.
	Ran, Kept, Failed int
}

// runCells runs the cells that have no result yet. A cell that can't be run does not keep the others from running; the error names them.
func (s *sweep) runCells(ctx context.Context, cells []Cell, messages io.Writer) (progress, error) {
	var p progress
	var failed []error
	for _, cell := range cells {
		if err := context.Cause(ctx); err != nil {
			return p, err
		}
		done, digest, err := s.stored(cell)
		if err != nil {
			return p, err
		}
		if done != nil {
			p.Kept++
			continue
		}
		r, err := runCell(ctx, s.command, cell)
		if stopped := context.Cause(ctx); stopped != nil {
			return p, stopped
		}
		if err != nil {
			p.Failed++
			failed = append(failed, fmt.Errorf("cell %d (%s): %w", cell.Index, s.label(cell), err))
			continue
		}
		r.Digest = digest
		if err := s.results.write(cell.Index, r); err != nil {
			return p, &writeError{err}
		}
		p.Ran++
		if r.Answer == nil {
			fmt.Fprintf(messages, "cell %d (%s): %s has no answer: %s", cell.Index, s.label(cell), s.grid.Command, r.Messages)
		}
	}
	return p, errors.Join(failed...)
}

// label returns "axis=value" for each axis.
func (s *sweep) label(cell Cell) string {
	text := ""
	for i, v := range cell.Values {
		if i > 0 {
			text += ", "
		}
		text += s.grid.Axes[i].Name + "=" + v
	}
	return text
}

// writeError is a result or a report that could not be written.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

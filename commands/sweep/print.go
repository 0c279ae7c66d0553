package sweep

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"
)

// Values of --output.
const (
	outputText     = "text"
	outputJSON     = "json"
	outputYAML     = "yaml"
	outputMarkdown = "markdown"
	outputCSV      = "csv"
)

func outputs() []string {
	return []string{outputText, outputJSON, outputYAML, outputMarkdown, outputCSV}
}

// write prints the report in the form of --output.
func (r *report) write(w io.Writer, form string) error {
	switch form {
	case outputJSON, outputYAML:
		text, err := json.MarshalIndent(r, "", "  ")
		if err == nil && form == outputYAML {
			text, err = yaml.JSONToYAML(text)
		} else {
			text = append(text, '\n')
		}
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	case outputCSV:
		c := csv.NewWriter(w)
		return c.WriteAll(append([][]string{r.head("status")}, r.rows(true)...))
	case outputMarkdown:
		return r.writeTables(func(rows [][]string) error { return writeMarkdown(w, rows) }, w)
	}
	return r.writeTables(func(rows [][]string) error { return writeText(w, rows) }, w)
}

// writeTables writes the table of the cells, that of the means, and the messages of cells without an answer.
func (r *report) writeTables(table func(rows [][]string) error, w io.Writer) error {
	fmt.Fprintf(w, "%d cells of %s\n\n", len(r.Cells), r.Command)
	if err := table(append([][]string{r.head("")}, r.rows(false)...)); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nMeans of the cells with an answer\n\n")
	rows := [][]string{append([]string{"axis", "value", "cells"}, r.short()...)}
	for _, m := range r.Means {
		row := []string{m.Axis, m.Value, strconv.Itoa(m.Cells)}
		for _, f := range m.Figures {
			row = append(row, meanText(f))
		}
		rows = append(rows, row)
	}
	if err := table(rows); err != nil {
		return err
	}
	if n := r.unanswered(); n > 0 {
		fmt.Fprintf(w, "\n%d cells have no answer\n\n", n)
	}
	for _, c := range r.Cells {
		if c.Messages != "" {
			fmt.Fprintf(w, "- %s (exit status %d): %s\n", strings.Join(c.Values, ", "), c.Status, strings.Join(strings.Fields(c.Messages), " "))
		}
	}
	return nil
}

// head returns the names of the columns: the axes, the figures, and the extra column if it has a name.
func (r *report) head(extra string) []string {
	head := slices.Concat(r.Axes, r.short())
	if extra != "" {
		head = append(head, extra)
	}
	return head
}

// short returns the figures without the word summary, under which most are.
func (r *report) short() []string {
	names := make([]string, 0, len(r.Figures))
	for _, f := range r.Figures {
		names = append(names, strings.TrimPrefix(f, "summary."))
	}
	return names
}

// rows returns a row for each cell: its values, its figures, and the exit status if status is true.
func (r *report) rows(status bool) [][]string {
	rows := make([][]string, 0, len(r.Cells))
	for _, c := range r.Cells {
		row := slices.Clone(c.Values)
		for _, f := range c.Figures {
			text := "-"
			switch {
			case f != nil:
				text = f.String()
			case status:
				text = ""
			}
			row = append(row, text)
		}
		if status {
			row = append(row, strconv.Itoa(c.Status))
		}
		rows = append(rows, row)
	}
	return rows
}

func meanText(f *float64) string {
	if f == nil {
		return "-"
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

func writeText(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

func writeMarkdown(w io.Writer, rows [][]string) error {
	escape := strings.NewReplacer("|", `\|`, "\n", " ")
	for i, row := range rows {
		for _, text := range row {
			fmt.Fprintf(w, "| %s ", escape.Replace(text))
		}
		fmt.Fprintln(w, "|")
		if i == 0 {
			fmt.Fprintln(w, strings.Repeat("|---", len(row))+"|")
		}
	}
	return nil
}

package simulate

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

const (
	// rowIndent is the indentation of rows.
	rowIndent = 2
	// detailIndent is the indentation of lines below a row.
	detailIndent = 10
)

// column is the title and the alignment of a column.
type column struct {
	title string
	right bool
}

// row is a row of a table; cells beyond the columns are not shown. The lines in row.below are printed under the row.
type row struct {
	cells []string
	below []string
}

// table is text in columns.
type table struct {
	columns []column
	rows    []row
}

// widths returns the width of each column: that of its widest cell.
func (t table) widths() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = width(c.title)
		for _, r := range t.rows {
			if i < len(r.cells) {
				widths[i] = max(widths[i], width(unpainted(r.cells[i])))
			}
		}
	}
	return widths
}

// width returns the width of the whole table.
func (t table) width() int {
	sum := rowIndent
	for i, w := range t.widths() {
		if i > 0 {
			sum += 2
		}
		sum += w
	}
	return sum
}

func (t table) write(w io.Writer, c canvas) {
	if c.markdown {
		t.writeMarkdown(w)
		return
	}
	widths := t.widths()
	titles := make([]string, len(t.columns))
	for i, column := range t.columns {
		titles[i] = column.title
	}
	fmt.Fprintln(w, c.paint(dim, t.line(titles, widths)))
	for _, row := range t.rows {
		fmt.Fprintln(w, t.line(row.cells, widths))
		for _, detail := range row.below {
			fmt.Fprintln(w, strings.Repeat(" ", detailIndent)+c.paint(dim, detail))
		}
	}
}

func (t table) line(cells []string, widths []int) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", rowIndent))
	for i, column := range t.columns {
		cell := ""
		if i < len(cells) {
			cell = cells[i]
		}
		if i > 0 {
			b.WriteString("  ")
		}
		gap := strings.Repeat(" ", widths[i]-width(unpainted(cell)))
		if column.right {
			b.WriteString(gap + cell)
		} else {
			b.WriteString(cell + gap)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

var escapes = regexp.MustCompile("\x1b[A-Z0-9]*\\[[0-9;]*m")

// unpainted returns s without colours, to measure its width.
func unpainted(s string) string { return escapes.ReplaceAllString(s, "") }

package top

import (
	"strings"
	"unicode/utf8"

	"github.com/drawknife/drawknife/internal/printable"
)

// paint is an ANSI "select graphic rendition" code; empty for none.
type paint string

const (
	bold   paint = "1"
	dim    paint = "2"
	red    paint = "31"
	green  paint = "32"
	yellow paint = "33"
)

// cell is a text of one line, with its colour.
type cell struct {
	text  string
	paint paint
}

// column is a column of a table.
type column struct {
	title string
	right bool
	// drop is the place of the column in the order in which columns are left out of a narrow table; 0 for columns that stay.
	drop int
}

// table is a part of the view. total is the number of rows that there are, which may be more than rows.
type table struct {
	title   string
	columns []column
	rows    [][]cell
	total   int
}

func (t *table) add(cells ...cell) {
	for i := range cells {
		cells[i].text = oneLine(cells[i].text)
		if cells[i].text == "" {
			cells[i].text = "-"
		}
	}
	t.rows = append(t.rows, cells)
}

// oneLine escapes control characters, and replaces line ends and tabs.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ", "\r", " ").Replace(printable.Text(text))
}

// widest returns the largest width of a column on a terminal, except for the last one.
func (v view) widest() int { return min(max(v.width/3, 12), 48) }

// draw returns the lines of a table.
func (v view) draw(columns []column, rows [][]cell) []string {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = len(c.title)
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
		if v.width > 0 && i < len(columns)-1 {
			widths[i] = min(widths[i], v.widest())
		}
	}
	left := v.leftOut(columns, widths)
	head := make([]cell, len(columns))
	for i, c := range columns {
		head[i] = cell{c.title, dim}
	}
	var out []string
	for _, row := range append([][]cell{head}, rows...) {
		line := newLine(v)
		line.put("", " ")
		space := 0
		for i, c := range row {
			if left[i] {
				continue
			}
			text := cut(c.text, widths[i])
			pad := widths[i] - utf8.RuneCountInString(text)
			before := space
			if space = 0; columns[i].right {
				before += pad
			} else {
				space = pad
			}
			line.put("", strings.Repeat(" ", before+1))
			line.put(c.paint, text)
			space++
		}
		out = append(out, line.String())
	}
	return out
}

// leftOut returns the columns for which there is no room.
func (v view) leftOut(columns []column, widths []int) []bool {
	left := make([]bool, len(columns))
	for v.width > 0 {
		sum, next := 0, -1
		for i, c := range columns {
			if left[i] {
				continue
			}
			sum += 2 + min(widths[i], v.widest())
			if c.drop > 0 && (next < 0 || c.drop < columns[next].drop) {
				next = i
			}
		}
		if sum <= v.width || next < 0 {
			break
		}
		left[next] = true
	}
	return left
}

// plain returns one line of text, in a colour.
func (v view) plain(p paint, text string) string {
	line := newLine(v)
	line.put(p, oneLine(text))
	return line.String()
}

// line is a line of the view, which has at most the width of the view.
type line struct {
	strings.Builder
	view view
	room int
}

func newLine(v view) *line {
	if v.width > 0 {
		return &line{view: v, room: v.width}
	}
	return &line{view: v, room: 1 << 20}
}

func (l *line) put(p paint, text string) {
	text = cut(text, l.room)
	l.room -= utf8.RuneCountInString(text)
	if p == "" || !l.view.colors || text == "" {
		l.WriteString(text)
		return
	}
	l.WriteString("\x1b[" + string(p) + "m" + text + "\x1b[0m")
}

// cut returns at most the first n characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for at := range text {
		if n == 0 {
			return text[:at]
		}
		n--
	}
	return text
}

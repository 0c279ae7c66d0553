package simulate

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
)

// formed is an output for text in the format wide or Markdown, which is for people but not for a terminal.
type formed struct {
	io.Writer
	form outputFormat
}

// endless is the width of lines that must not be wrapped.
const endless = math.MaxInt32

// boldMark marks the beginning and the end of bold text until the text is escaped.
const boldMark = "\x01"

// form makes standard output convert text to the format of --output. Call end after the last output, because it writes the rest of the
// output.
func (s *simulation) form() (end func() error) {
	s.verbose = s.verbose || s.output == outputWide
	s.stdout, end = inForm(s.stdout, s.output)
	return end
}

// inForm returns a writer that converts human-readable text to the given output format. Call end after the last output, because it writes
// the rest of the output.
func inForm(w io.Writer, form outputFormat) (formedWriter io.Writer, end func() error) {
	switch form {
	case outputWide:
		return formed{w, outputWide}, func() error { return nil }
	case outputMarkdown:
		m := &markdownWriter{to: w}
		return formed{m, outputMarkdown}, m.end
	}
	return w, func() error { return nil }
}

// markdownWriter converts text to Markdown. Lines stay separate lines. Tables are already in Markdown, and are separated by empty lines.
type markdownWriter struct {
	to      io.Writer
	line    bytes.Buffer
	inTable bool
	empty   bool
	err     error
}

func (m *markdownWriter) Write(p []byte) (int, error) {
	for _, b := range p {
		if b != '\n' {
			m.line.WriteByte(b)
			continue
		}
		m.put(m.line.String())
		m.line.Reset()
	}
	return len(p), m.err
}

// put writes one line.
func (m *markdownWriter) put(line string) {
	isRow := strings.HasPrefix(line, "| ")
	text := line
	if !isRow {
		text = strings.ReplaceAll(escapeMarkdown(strings.TrimSpace(line)), boldMark, "**")
	}
	if isRow != m.inTable && !m.empty && text != "" {
		m.print("\n")
	}
	m.inTable, m.empty = isRow, text == ""
	if !isRow && text != "" {
		text += "  " // two spaces at the end of a line keep Markdown from joining it with the next line
	}
	m.print(text + "\n")
}

func (m *markdownWriter) print(text string) {
	if m.err == nil {
		_, m.err = io.WriteString(m.to, text)
	}
}

// end writes the last line if it has no line break yet.
func (m *markdownWriter) end() error {
	if m.line.Len() > 0 {
		m.put(m.line.String())
		m.line.Reset()
	}
	return m.err
}

// escapeMarkdown escapes the characters that have a meaning in Markdown.
func escapeMarkdown(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_<>|[]#~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// writeMarkdown writes a table as Markdown. Lines below a row are in its last cell.
func (t table) writeMarkdown(w io.Writer) {
	titles, under := make([]string, len(t.columns)), make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i], under[i] = escapeMarkdown(c.title), "---"
		if c.right {
			under[i] = "---:"
		}
	}
	fmt.Fprintf(w, "| %s |\n| %s |\n", strings.Join(titles, " | "), strings.Join(under, " | "))
	for _, r := range t.rows {
		cells := make([]string, len(t.columns))
		for i := range cells {
			if i < len(r.cells) {
				cells[i] = strings.ReplaceAll(escapeMarkdown(strings.TrimSpace(r.cells[i])), boldMark, "**")
			}
		}
		for _, detail := range r.below {
			cells[len(cells)-1] += "<br>" + escapeMarkdown(strings.TrimSpace(detail))
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}

package simulate

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/drawknife/drawknife/internal/printable"
)

// colorMode is a value of --color.
type colorMode string

const (
	colorAuto   colorMode = "auto"
	colorAlways colorMode = "always"
	colorNever  colorMode = "never"
)

// plainWidth is the width of text that does not go to a terminal. The widest table of this command fits in it if names have a usual length.
// The width is fixed, so that files and pipes get the same lines everywhere.
const plainWidth = 120

// canvas contains the capabilities of the output.
type canvas struct {
	// width in columns.
	width int
	// rich allows colours and characters beyond ASCII.
	rich bool
	// rendition returns the text to write for a code of type paint; nil means that ANSI escape sequences are written.
	rendition func(string) string
	// markdown writes tables as Markdown, and marks bold text.
	markdown bool
}

// newCanvas determines the capabilities of w. getenv reads the environment: NO_COLOR (no-color.org) and TERM=dumb request plain text. The
// value always of --color overrides them.
func newCanvas(w io.Writer, mode colorMode, getenv func(string) string) canvas {
	if f, ok := w.(formed); ok {
		return canvas{width: endless, markdown: f.form == outputMarkdown}
	}
	c := canvas{width: plainWidth}
	terminal := isTerminal(w)
	if terminal {
		if width, _, err := term.GetSize(int(unwrapped(w).(*os.File).Fd())); err == nil && width > 0 {
			c.width = width
		}
	}
	switch mode {
	case colorAlways:
		c.rich = true
	case colorAuto:
		c.rich = terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" && speaksUTF8(getenv)
	}
	if p, ok := w.(*printable.Writer); ok {
		c.rendition = p.Paint
	}
	return c
}

// isTerminal reports whether w writes to a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := unwrapped(w).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// unwrapped returns the innermost writer to which w writes.
func unwrapped(w io.Writer) io.Writer {
	if p, ok := w.(*printable.Writer); ok {
		return p.Unwrap()
	}
	return w
}

// speaksUTF8 reports whether the locale's character set is UTF-8. The environment variables have the precedence that POSIX defines.
func speaksUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(getenv(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// paint is an ANSI "select graphic rendition" code.
type paint string

const (
	bold   paint = "1"
	dim    paint = "2"
	red    paint = "31"
	green  paint = "32"
	yellow paint = "33"
)

// paint colours s if the canvas allows colours.
func (c canvas) paint(p paint, s string) string {
	if c.markdown && p == bold && s != "" {
		return boldMark + s + boldMark
	}
	if !c.rich || s == "" {
		return s
	}
	if c.rendition != nil {
		return c.rendition(string(p)) + s + c.rendition("0")
	}
	return "\x1b[" + string(p) + "m" + s + "\x1b[0m"
}

// choose returns the rich or the plain form of a sign, depending on the canvas.
func (c canvas) choose(rich, plain string) string {
	if c.rich {
		return rich
	}
	return plain
}

// times returns the sign that precedes a count: "×" or "x".
func (c canvas) times() string { return c.choose("×", "x") }

// ellipsis returns the sign for omitted text.
func (c canvas) ellipsis() string { return c.choose("…", "...") }

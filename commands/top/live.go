package top

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/drawknife/drawknife/commands/top/clusterreport"
)

// screen is a terminal.
type screen struct {
	io.Writer
	// size returns the numbers of columns and lines.
	size func() (width, height int)
}

// Sizes of a terminal that does not say its size.
const (
	usualWidth  = 80
	usualHeight = 24
)

// terminalOf returns the terminal that w writes to, or nil if it writes to something else.
func terminalOf(w io.Writer) *screen {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return &screen{Writer: file, size: func() (int, int) {
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 || height <= 0 {
			return usualWidth, usualHeight
		}
		return width, height
	}}
}

// colors reports whether a terminal gets colours. NO_COLOR (no-color.org) and TERM=dumb request plain text.
func (o *options) colors() bool { return o.getenv("NO_COLOR") == "" && o.getenv("TERM") != "dumb" }

// speaksUTF8 reports whether the locale's character set is UTF-8. The environment variables have the precedence that POSIX defines.
func speaksUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(getenv(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// Control sequences of terminals.
const (
	// enter switches to the alternate screen, hides the cursor, and switches line wrapping off. leave does the opposite.
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leave = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	home  = "\x1b[H"
	// endLine and endScreen erase the rest of the line and of the screen.
	endLine   = "\x1b[K"
	endScreen = "\x1b[J"
)

// live draws the report, and then a new one after each interval, until ctx ends. It always returns an error.
func (o *options) live(ctx context.Context, from *client, to *screen, report *clusterreport.Report) (err error) {
	if _, err := io.WriteString(to, enter); err != nil {
		return outputError{err}
	}
	defer func() {
		if _, failed := io.WriteString(to, leave); failed != nil && err == nil {
			err = outputError{failed}
		}
	}()
	next := time.NewTicker(o.interval)
	defer next.Stop()
	v := view{colors: o.colors(), signs: speaksUTF8(o.getenv)}
	for {
		v.width, v.height = to.size()
		if err := v.redraw(to, report); err != nil {
			return outputError{err}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-next.C:
		}
		if from.lost != nil {
			if err := from.lost(); err != nil {
				return err
			}
		}
		latest, err := from.report(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			v.problem = fmt.Sprintf("The view is old. Trying again: %s", err)
		default:
			report, v.problem = latest, ""
		}
	}
}

// redraw draws a view over the last one.
func (v view) redraw(to io.Writer, report *clusterreport.Report) error {
	var b strings.Builder
	b.WriteString(home)
	lines := v.lines(report)
	for i, line := range lines[:min(len(lines), v.height)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line + endLine)
	}
	b.WriteString(endScreen)
	_, err := io.WriteString(to, b.String())
	return err
}

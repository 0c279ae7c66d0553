package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/internal/printable"
	"github.com/drawknife/drawknife/internal/version"
)

// escaped writes terminal control characters in JSON's escaped form. Each call of Write must contain complete text, so several goroutines
// may write.
type escaped struct {
	to io.Writer
}

func (e escaped) Write(text []byte) (int, error) {
	if _, err := io.WriteString(e.to, printable.Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// newLogger writes records, as JSON or text, to p.LogOutputPaths, and reports failed writes to p.LogErrorOutputPaths. Each record contains
// the commit of the program, so that a log can be matched with the code years later. Both formats print durations as Go does: "1.5s". The
// returned function closes the files.
func newLogger(p settings.Process, out, trouble io.Writer) (*slog.Logger, func(), error) {
	files := outputs{out: out, trouble: trouble, open: map[string]*os.File{}}
	records, err := files.named(p.LogOutputPaths)
	if err != nil {
		files.close()
		return nil, nil, fmt.Errorf("log-output-paths: %w", err)
	}
	failures, err := files.named(p.LogErrorOutputPaths)
	if err != nil {
		files.close()
		return nil, nil, fmt.Errorf("log-error-output-paths: %w", err)
	}
	writer := reporting{to: all(records), failures: all(failures)}
	options := &slog.HandlerOptions{Level: p.LogLevel, ReplaceAttr: durationsAsText}
	var handler slog.Handler
	if p.LogEncoding == settings.LogConsole {
		handler = slog.NewTextHandler(writer, options)
	} else {
		handler = slog.NewJSONHandler(writer, options)
	}
	_, commit := version.Build()
	return slog.New(handler).With("commit", commit), files.close, nil
}

// durationsAsText makes the JSON log print durations like the text log. By default it would print them as a number of nanoseconds.
func durationsAsText(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// outputs opens the log paths of the settings. A file that is named twice is opened once.
type outputs struct {
	out, trouble io.Writer
	open         map[string]*os.File
}

func (o *outputs) named(paths []string) ([]io.Writer, error) {
	var writers []io.Writer
	for _, path := range paths {
		switch path {
		case "stdout":
			writers = append(writers, o.out)
		case "stderr":
			writers = append(writers, o.trouble)
		default:
			if o.open[path] == nil {
				f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
				if err != nil {
					return nil, err
				}
				o.open[path] = f
			}
			writers = append(writers, o.open[path])
		}
	}
	return writers, nil
}

func (o *outputs) close() {
	for _, f := range o.open {
		_ = f.Close() // there is no output to report this error to
	}
}

// reporting writes records, and reports a failed write to another output.
type reporting struct {
	to, failures io.Writer
}

func (r reporting) Write(record []byte) (int, error) {
	n, err := r.to.Write(record)
	if err != nil {
		fmt.Fprintf(r.failures, "a log record could not be written: %v\n", err)
	}
	return n, err
}

// all is a writer that writes to each of its writers, even if one of them fails.
type all []io.Writer

func (a all) Write(record []byte) (int, error) {
	var errs []error
	for _, w := range a {
		_, err := w.Write(record)
		errs = append(errs, err)
	}
	return len(record), errors.Join(errs...)
}

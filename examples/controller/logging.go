package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/examples/controller/settings"
)

// newLogger writes records where the settings say, JSON for programs or text for people. Each bears the commit that the
// program was built from (SET-066), so that a log can be read years later. The function returned closes the files.
func newLogger(p settings.Process, out, trouble io.Writer) (*slog.Logger, func(), error) {
	var writers []io.Writer
	var files []*os.File
	closeAll := func() {
		for _, f := range files {
			_ = f.Close() // nothing is left that could be told of it
		}
	}
	for _, path := range p.LogOutputPaths {
		switch path {
		case "stdout":
			writers = append(writers, out)
		case "stderr":
			writers = append(writers, trouble)
		default:
			f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				closeAll()
				return nil, nil, fmt.Errorf("log-output-paths: %w", err)
			}
			files, writers = append(files, f), append(writers, f)
		}
	}
	options := &slog.HandlerOptions{Level: p.LogLevel}
	var handler slog.Handler
	if p.LogEncoding == settings.LogConsole {
		handler = slog.NewTextHandler(all(writers), options)
	} else {
		handler = slog.NewJSONHandler(all(writers), options)
	}
	_, commit := reconcilers.Build()
	return slog.New(handler).With("commit", commit), closeAll, nil
}

// all writes everything to each of its writers, also if one of them fails.
type all []io.Writer

func (a all) Write(record []byte) (int, error) {
	var errs []error
	for _, w := range a {
		_, err := w.Write(record)
		errs = append(errs, err)
	}
	return len(record), errors.Join(errs...)
}

package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/drawknife/drawknife/scheduling/manifests"
)

// Options are the settings for rendering folders.
type Options struct {
	// Values are the values files for charts, in the order in which Helm reads them.
	Values []string
	// MaxBytes limits the output of all folders together. Timeout limits the time for each folder.
	MaxBytes int64
	Timeout  time.Duration
}

// DefaultOptions returns options with the same size limit as manifests.Files, and a timeout of two minutes.
func DefaultOptions() Options {
	return Options{MaxBytes: manifests.DefaultMaxBytes, Timeout: 2 * time.Minute}
}

// Error says that a folder could not be rendered.
type Error struct {
	Folder Folder
	// Command is the command line that failed, or that is missing.
	Command string
	// Output is the output of the tool on standard error.
	Output string
	Err    error
}

// Error returns one line with the cause, followed by the lines of Output.
func (e *Error) Error() string {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return fmt.Sprintf("rendering %s needs %s, which is in no folder of PATH: install it, or plan what %q prints elsewhere", e.Folder.Path, e.needs(), e.Command)
	}
	text := fmt.Sprintf("%s: %v", e.Command, e.Err)
	if output := strings.TrimSpace(e.Output); output != "" {
		text += ": " + output
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) needs() string {
	if e.Folder.Tool == Helm {
		return "helm"
	}
	return "kustomize or kubectl"
}

// All renders the folders. The error is an *Error, or the error of the context.
func All(ctx context.Context, folders []Folder, opts Options) ([]manifests.Source, error) {
	left := opts.MaxBytes
	var sources []manifests.Source
	for _, folder := range folders {
		source, err := folder.render(ctx, opts, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(source.Data))
		sources = append(sources, source)
	}
	return sources, nil
}

// Command returns the command line that renders the folder, using the installed tool.
func (f Folder) Command(values []string) []string {
	path := f.Path
	if strings.HasPrefix(path, "-") {
		path = "." + string(filepath.Separator) + path // not a flag
	}
	if f.Tool == Helm {
		command := []string{"helm", "template", releaseName(f.Path), path}
		for _, file := range values {
			command = append(command, "--values", file)
		}
		return command
	}
	if _, err := exec.LookPath("kustomize"); err == nil {
		return []string{"kustomize", "build", path}
	}
	return []string{"kubectl", "kustomize", path}
}

// releaseName returns a name for the release of a chart, made from the name of its folder.
func releaseName(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	const longest = 53 // of Helm
	var b strings.Builder
	for _, c := range strings.ToLower(filepath.Base(path)) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			b.WriteRune(c)
		} else if b.Len() > 0 {
			b.WriteByte('-')
		}
	}
	name := b.String()
	name = strings.TrimRight(name[:min(len(name), longest)], "-")
	if name == "" {
		return "release"
	}
	return name
}

// errTooLarge is the cause of the error if a tool prints too much.
var errTooLarge = errors.New("prints more than the maximum")

// errTooLong is the cause of the error if a tool does not end in time.
var errTooLong = errors.New("did not end within the time limit")

func (f Folder) render(ctx context.Context, opts Options, left int64) (manifests.Source, error) {
	line := f.Command(opts.Values)
	fault := &Error{Folder: f, Command: strings.Join(line, " ")}
	limited, cancel := context.WithTimeoutCause(ctx, opts.Timeout, fmt.Errorf("%w of %s", errTooLong, opts.Timeout))
	defer cancel()
	limited, stop := context.WithCancelCause(limited)
	defer stop(nil)
	out := &boundedBuffer{left: left, full: func() { stop(fmt.Errorf("%w of %d bytes", errTooLarge, opts.MaxBytes)) }}
	const mostMessages = 8 << 10
	messages := &boundedBuffer{left: mostMessages}
	command := exec.CommandContext(limited, line[0], line[1:]...)
	command.Stdout, command.Stderr = out, messages
	command.WaitDelay = 5 * time.Second // a child of the tool may keep the output open
	err := command.Run()
	if cause := context.Cause(limited); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		fault.Err, fault.Output = err, messages.kept.String()
		return manifests.Source{}, fault
	}
	return manifests.Source{Name: fault.Command, Data: out.kept.Bytes()}, nil
}

// boundedBuffer keeps the first bytes that are written to it, up to a limit.
type boundedBuffer struct {
	// kept is a field and not embedded, because the method ReadFrom of an embedded bytes.Buffer would ignore the limit.
	kept bytes.Buffer
	left int64
	// full is called if more bytes are written than the limit allows. If it is nil, the additional bytes are dropped silently.
	full func()
}

// Write keeps as many bytes as the limit allows, and never fails.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	kept := p[:min(int64(len(p)), b.left)]
	b.left -= int64(len(kept))
	b.kept.Write(kept) // never fails
	if len(kept) < len(p) && b.full != nil {
		b.full()
	}
	return len(p), nil
}

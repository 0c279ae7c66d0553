// Command release makes everything that a release of the program drawknife publishes, in one folder:
//
//	go run ./internal/release --version v0.1.0 --output dist
//	go run ./internal/release --version v0.1.0 --output dist --target linux/amd64 --target darwin/arm64
//
// For each system there is an archive with the program, its licence and notices, and a list of the modules in it (CycloneDX). SHA256SUMS has
// the checksums, drawknife.yaml is the manifest for krew, the plugin manager of kubectl, and drawknife.rb the formula for Homebrew. The
// command publishes nothing. The same commit, Go release and version give the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// target is a system that programs are built for.
type target struct{ os, arch string }

// targets returns all systems of a release.
func targets() []target {
	return []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}
}

func (t target) String() string { return t.os + "/" + t.arch }

// program returns the file name of the program.
func (t target) program() string {
	if t.os == "windows" {
		return "drawknife.exe"
	}
	return "drawknife"
}

// release is what the command makes.
type release struct {
	version string
	// root is the folder of the repository, output that of the files that are made.
	root, output string
	targets      []target
	// time is the time of the commit, which all files in archives have.
	time     time.Time
	progress io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	r := &release{progress: stdout}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.version, "version", "", "`VERSION` of the release, such as v0.1.0")
	flags.StringVar(&r.output, "output", "dist", "`FOLDER` for the files; it is made, and must be empty")
	flags.StringVar(&r.root, "root", ".", "`FOLDER` of the repository")
	flags.Func("target", "build for this `OS/ARCH` only; may be repeated", func(text string) error {
		for _, t := range targets() {
			if t.String() == text {
				r.targets = append(r.targets, t)
				return nil
			}
		}
		return fmt.Errorf("not one of %v", targets())
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("arguments are not accepted: %q", flags.Args())
	}
	if !regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`).MatchString(r.version) {
		return fmt.Errorf("--version %q: must be a version such as v0.1.0", r.version)
	}
	if len(r.targets) == 0 {
		r.targets = targets()
	}
	if entries, err := os.ReadDir(r.output); err == nil && len(entries) > 0 {
		return fmt.Errorf("--output %q: the folder is not empty", r.output)
	}
	return r.make(ctx)
}

// make writes all files.
func (r *release) make(ctx context.Context) error {
	if err := os.MkdirAll(r.output, 0o777); err != nil {
		return err
	}
	absolute, err := filepath.Abs(r.output)
	if err != nil {
		return err
	}
	r.output = absolute
	seconds, err := r.command(ctx, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the commit: %w", err)
	}
	r.time = time.Unix(n, 0).UTC()
	var archives []archive
	for _, t := range r.targets {
		a, err := r.build(ctx, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		archives = append(archives, a)
		fmt.Fprintf(r.progress, "%s: %s, %d bytes\n", t, a.name, a.size)
	}
	return errors.Join(r.writeSums(archives), r.writeManifest("drawknife.yaml", krewManifest, archives), r.writeManifest("drawknife.rb", homebrewFormula, archives))
}

// build builds the program for a target, and writes its archive and the list of its modules.
func (r *release) build(ctx context.Context, t target) (archive, error) {
	dir, err := os.MkdirTemp("", "drawknife-release-")
	if err != nil {
		return archive{}, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, t.program())
	environment := []string{"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + t.arch, "GOFLAGS="}
	if _, err := r.command(ctx, environment, "go", "build", "-C", "examples/drawknife", "-trimpath", "-tags=aws", "-ldflags=-s -w -X github.com/drawknife/drawknife/internal/version.stamped="+r.version, "-o", program, "."); err != nil {
		return archive{}, err
	}
	base := fmt.Sprintf("drawknife_%s_%s_%s", r.version, t.os, t.arch)
	if _, err := r.command(ctx, []string{"GOFLAGS="}, "go", "-C", "internal/tools", "tool", "cyclonedx-gomod", "bin", "-json", "-noserial", "-version="+r.version,
		"-output="+filepath.Join(r.output, base+".cdx.json"), program); err != nil {
		return archive{}, err
	}
	files := []string{program, filepath.Join(r.root, "LICENSE"), filepath.Join(r.root, "NOTICE"), filepath.Join(r.root, "docs", "drawknife.md")}
	return writeArchive(r.output, base, t, files, r.time)
}

// command runs a program in the folder of the repository, with additional variables, and returns what it prints.
func (r *release) command(ctx context.Context, environment []string, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = r.root, append(os.Environ(), environment...)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

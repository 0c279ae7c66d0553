// Package binaries builds programs that tests run as separate processes. Each program is built from a nested module. The module's go.mod
// determines the release. Binaries are kept, because the first build takes many minutes.
//
//	path, err := binaries.ControlPlane().Find(ctx) // errors.Is(err, binaries.ErrNotBuilt): skip the test, or call Build
package binaries

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// ErrNotBuilt means that a program is not built yet. The text of an error that wraps it says how to build the program.
var ErrNotBuilt = errors.New("is not built yet")

// Program is a program that tests run.
type Program struct {
	// Name is the folder of its nested module, and the first part of the file name.
	Name string
	// Variable is an environment variable with the path of a program, which is used in place of the cached one.
	Variable string
	// Module is the released module that contains the program.
	Module string
	// Package is the package to build. It belongs to the nested module, or to a module that the nested module requires.
	Package string
	// Versioned returns the program's variables that the linker sets for a version, with their values.
	Versioned func(version string) map[string]string
	// Flag is the flag with which the command up builds the program. Takes says how much time and memory the build takes.
	Flag, Takes string
}

// ControlPlane is etcd, kube-apiserver, kube-controller-manager and kube-scheduler in one program.
func ControlPlane() Program {
	return Program{
		Name: "controlplane", Variable: "DRAWKNIFE_CONTROLPLANE", Module: "k8s.io/kubernetes", Package: ".",
		Flag: "-build-only", Takes: "12 to 14 minutes of processor time and 3 GB of memory",
		// If the linker does not set the version, checks of the server's version fail.
		Versioned: func(version string) map[string]string {
			number := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
			const of = "k8s.io/component-base/version."
			return map[string]string{of + "gitVersion": version, of + "gitMajor": number[0], of + "gitMinor": number[1], of + "gitTreeState": "clean"}
		},
	}
}

// Kueue is the manager of Kueue, in the released version.
func Kueue() Program {
	return Program{
		Name: "kueue", Variable: "DRAWKNIFE_KUEUE", Module: "sigs.k8s.io/kueue", Package: "sigs.k8s.io/kueue/cmd/kueue",
		Flag: "-kueue", Takes: "4 to 5 minutes of processor time and 2 GB of memory",
		Versioned: func(version string) map[string]string {
			return map[string]string{"sigs.k8s.io/kueue/pkg/version.GitVersion": version}
		},
	}
}

// Find returns the path of the program. This is the path in the environment variable Variable if it is set. Otherwise it is the cached
// program that was built from the same sources with the same version of Go. If there is no such program, the error is ErrNotBuilt. The
// working directory must be in the module internal/e2e.
func (p Program) Find(ctx context.Context) (string, error) {
	if named := os.Getenv(p.Variable); named != "" {
		if _, err := os.Stat(named); err != nil {
			return "", fmt.Errorf("%s: %w", p.Variable, err)
		}
		return filepath.Abs(named)
	}
	s, err := p.findSource(ctx)
	if err != nil {
		return "", err
	}
	path, err := s.cached()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s %w: run \"go -C internal/e2e run ./up %s\", which takes %s the first time, or set %s", p.Name, ErrNotBuilt, p.Flag, p.Takes, p.Variable)
	}
	return path, nil
}

// Build is like Find, but builds the program if it is missing. progress receives the output of the go command.
func (p Program) Build(ctx context.Context, progress io.Writer) (string, error) {
	path, err := p.Find(ctx)
	if !errors.Is(err, ErrNotBuilt) {
		return path, err
	}
	s, err := p.findSource(ctx)
	if err != nil {
		return "", err
	}
	if path, err = s.cached(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	// The program is built under another name and then moved, so that an interrupted build leaves no incomplete program.
	half, err := os.MkdirTemp(filepath.Dir(path), "build-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(half) }()
	built := filepath.Join(half, filepath.Base(path))
	args := []string{"go", "build", "-ldflags", s.linkerFlags(), "-o", built, p.Package}
	if nice, err := exec.LookPath("nice"); err == nil {
		args = append([]string{nice, "-n", "10"}, args...)
	}
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Dir, command.Stdout, command.Stderr = s.dir, progress, progress
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("building %s in %s: %w", p.Name, s.dir, err)
	}
	if err := os.Rename(built, path); err != nil {
		return "", err
	}
	return path, nil
}

// Sources returns the folder of the module that contains the program, with the manifests of the release.
func (p Program) Sources(ctx context.Context) (string, error) {
	dir, err := p.dir(ctx)
	if err != nil {
		return "", err
	}
	printed, err := output(ctx, dir, "go", "mod", "download", "-json", p.Module)
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(printed), &module); err != nil {
		return "", fmt.Errorf("reading where %s is: %w", p.Module, err)
	}
	return module.Dir, nil
}

// dir returns the folder of the nested module.
func (p Program) dir(ctx context.Context) (string, error) {
	goMod, err := output(ctx, "", "go", "env", "GOMOD")
	return filepath.Join(filepath.Dir(strings.TrimSpace(goMod)), p.Name), err
}

// source is the nested module from which a program is built.
type source struct {
	Program
	dir     string
	version string // the release, for instance "v1.37.0"
	key     string // a hash of everything on which the program depends
}

func (p Program) findSource(ctx context.Context) (source, error) {
	s := source{Program: p}
	var err error
	if s.dir, err = p.dir(ctx); err != nil {
		return source{}, err
	}
	build, err := output(ctx, "", "go", "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return source{}, err
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "*.go"))
	if err != nil {
		return source{}, err
	}
	hash := sha256.New()
	fmt.Fprintln(hash, build)
	for _, file := range append(files, filepath.Join(s.dir, "go.mod"), filepath.Join(s.dir, "go.sum")) {
		content, err := os.ReadFile(file)
		if err != nil {
			return source{}, fmt.Errorf("reading the sources of %s (is the working directory in the module internal/e2e?): %w", p.Name, err)
		}
		fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(file), len(content), content)
	}
	s.key = hex.EncodeToString(hash.Sum(nil))[:16]
	s.version, err = p.release(ctx, s.dir)
	return s, err
}

// cached returns the path of the cached program: $XDG_CACHE_HOME/drawknife/controlplane-v1.37.0-0123456789abcdef on Linux.
func (s source) cached() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name := s.Name + "-" + s.version + "-" + s.key
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(base, "drawknife", name), nil
}

// linkerFlags returns the flags that set the version of the program.
func (s source) linkerFlags() string {
	flags, values := "-s -w", s.Versioned(s.version)
	for _, variable := range slices.Sorted(maps.Keys(values)) {
		flags += " -X " + variable + "=" + values[variable]
	}
	return flags
}

// release returns the release of the program's module that the nested module requires.
func (p Program) release(ctx context.Context, dir string) (string, error) {
	printed, err := output(ctx, dir, "go", "mod", "edit", "-json")
	if err != nil {
		return "", err
	}
	var module struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(printed), &module); err != nil {
		return "", fmt.Errorf("reading go.mod in %s: %w", dir, err)
	}
	for _, required := range module.Require {
		if required.Path == p.Module && strings.Count(required.Version, ".") >= 2 {
			return required.Version, nil
		}
	}
	return "", fmt.Errorf("go.mod in %s does not require %s", dir, p.Module)
}

// output returns the output of a command.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = dir
	printed, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(printed), nil
}

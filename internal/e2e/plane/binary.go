package plane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// BinaryVariable names the control plane's binary to use instead of the cached one.
const BinaryVariable = "DRAWKNIFE_CONTROLPLANE"

// ErrNotBuilt says that the control plane's binary is not there yet; its text tells how to build it.
var ErrNotBuilt = errors.New("the control plane is not built yet: run \"go -C internal/e2e run ./up -build-only\", which takes " +
	"many minutes the first time, or set " + BinaryVariable)

// kubernetesModule is what the binary is built from.
const kubernetesModule = "k8s.io/kubernetes"

// Binary is the path of the control plane's binary: the one BinaryVariable names, else the one built earlier from the
// sources as they are and by this Go. When there is none the error is ErrNotBuilt. The working directory is to be in the
// module internal/e2e.
func Binary(ctx context.Context) (string, error) {
	if named := os.Getenv(BinaryVariable); named != "" {
		if _, err := os.Stat(named); err != nil {
			return "", fmt.Errorf("%s: %w", BinaryVariable, err)
		}
		return filepath.Abs(named)
	}
	s, err := findSource(ctx)
	if err != nil {
		return "", err
	}
	path, err := s.cached()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", ErrNotBuilt
	}
	return path, nil
}

// Build is Binary, and builds the binary when there is none: 12 to 14 minutes of processor time and 3 GB of memory when
// Go's build cache holds nothing of it. What the go command prints goes to progress.
func Build(ctx context.Context, progress io.Writer) (string, error) {
	path, err := Binary(ctx)
	if !errors.Is(err, ErrNotBuilt) {
		return path, err
	}
	s, err := findSource(ctx)
	if err != nil {
		return "", err
	}
	if path, err = s.cached(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	// Built in addition to its place and moved there, so that a build that is broken off leaves nothing that looks whole.
	half, err := os.MkdirTemp(filepath.Dir(path), "build-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(half) }()
	built := filepath.Join(half, filepath.Base(path))
	args := []string{"go", "build", "-ldflags", s.linkerFlags(), "-o", built, "."}
	if nice, err := exec.LookPath("nice"); err == nil {
		args = append([]string{nice, "-n", "10"}, args...)
	}
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Dir, command.Stdout, command.Stderr = s.dir, progress, progress
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("building the control plane in %s: %w", s.dir, err)
	}
	if err := os.Rename(built, path); err != nil {
		return "", err
	}
	return path, nil
}

// source is the module that the binary is built from.
type source struct {
	dir     string
	version string // of Kubernetes: "v1.37.0"
	key     string // of what the binary depends on
}

func findSource(ctx context.Context) (source, error) {
	ours, err := output(ctx, "", "go", "env", "GOMOD", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return source{}, err
	}
	goMod, build, _ := strings.Cut(ours, "\n")
	s := source{dir: filepath.Join(filepath.Dir(goMod), "controlplane")}
	files, err := filepath.Glob(filepath.Join(s.dir, "*.go"))
	if err != nil {
		return source{}, err
	}
	hash := sha256.New()
	fmt.Fprintln(hash, build)
	for _, file := range append(files, filepath.Join(s.dir, "go.mod"), filepath.Join(s.dir, "go.sum")) {
		content, err := os.ReadFile(file)
		if err != nil {
			return source{}, fmt.Errorf("reading the control plane's sources (is the working directory in the module internal/e2e?): %w", err)
		}
		fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(file), len(content), content)
	}
	s.key = hex.EncodeToString(hash.Sum(nil))[:16]
	s.version, err = kubernetesVersion(ctx, s.dir)
	return s, err
}

// cached is where the binary is kept: $XDG_CACHE_HOME/drawknife/controlplane-v1.37.0-0123456789abcdef on Linux.
func (s source) cached() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name := "controlplane-" + s.version + "-" + s.key
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(base, "drawknife", name), nil
}

// linkerFlags tell the binary which Kubernetes it is; checks of the server's version fail otherwise.
func (s source) linkerFlags() string {
	number := strings.SplitN(strings.TrimPrefix(s.version, "v"), ".", 3)
	const variable = " -X k8s.io/component-base/version."
	return "-s -w" + variable + "gitVersion=" + s.version + variable + "gitMajor=" + number[0] + variable + "gitMinor=" + number[1] +
		variable + "gitTreeState=clean"
}

// kubernetesVersion is the release that a module requires.
func kubernetesVersion(ctx context.Context, dir string) (string, error) {
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
		if required.Path == kubernetesModule && strings.Count(required.Version, ".") >= 2 {
			return required.Version, nil
		}
	}
	return "", fmt.Errorf("go.mod in %s does not require %s", dir, kubernetesModule)
}

// output is what a command prints.
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

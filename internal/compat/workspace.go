package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// workspace is the folder with the patched copies. It is kept between runs, so that compiled code is reused.
type workspace struct {
	here, dir string
	peers     map[string]string // module to folder
	built     map[string]bool
	versions  []string // the versions of the released modules, for the report
	again     bool     // true to use the results of the last run

	verdictsFile string // the file with kube-scheduler's verdicts, or "" until it exists
}

func newWorkspace(here, dir string) (*workspace, error) {
	w := &workspace{here: here, dir: dir, peers: map[string]string{}, built: map[string]bool{}}
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
		return nil, err
	}
	for _, p := range []peer{karpenter(), provider()} {
		folder := filepath.Join(dir, filepath.Base(p.module))
		if err := p.unpack(here, folder); err != nil {
			return nil, err
		}
		w.peers[p.module] = folder
		version, err := moduleVersion(here, p.module)
		if err != nil {
			return nil, err
		}
		w.versions = append(w.versions, p.module+" "+version)
	}
	return w, w.writeModfile()
}

func (w *workspace) modfile() string { return filepath.Join(w.dir, "go.mod") }

// writeModfile writes a copy of this module's go.mod in which the patched copies replace the releases.
func (w *workspace) writeModfile() error {
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(w.here, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(w.dir, name), data, 0o644); err != nil {
			return err
		}
	}
	root := filepath.Dir(filepath.Dir(w.here))
	args := []string{"mod", "edit", "-replace=github.com/drawknife/drawknife=" + root,
		"-replace=github.com/drawknife/drawknife/scheduling/dra=" + filepath.Join(root, "scheduling", "dra")}
	for module, dir := range w.peers {
		args = append(args, "-replace="+module+"="+dir)
	}
	cmd := exec.Command("go", append(args, w.modfile())...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

func workFolder() (string, error) {
	if dir := strings.TrimSpace(os.Getenv("DRAWKNIFE_COMPAT")); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "drawknife", "compat"), nil
}

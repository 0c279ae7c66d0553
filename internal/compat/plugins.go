package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// pluginPath is the folder of kube-scheduler's plugins in its release. Each plugin is a package.
const pluginPath = "pkg/scheduler/framework/plugins"

// plugin is one of kube-scheduler's filter plugins. Its tests run from a patched copy.
type plugin struct {
	folder string // under pluginPath
	title  string
	// methods are names of the form "receiver method". The functions in the file wrapper replace these methods and then call them.
	methods []string
	wrapper string
	// world is Go code for the fields of a verdicts.World, which has the plugin's inputs other than pod and node. It is inserted into a
	// method of the plugin.
	world string
}

func plugins() []plugin {
	const (
		claims  = "Claim: func(n, c string) (*corev1.PersistentVolumeClaim, error) { return pl.pvcLister.PersistentVolumeClaims(n).Get(c) }, "
		volumes = "Volume: pl.pvLister, Class: pl.scLister, "
	)
	of := func(folder, receiver, world string) plugin {
		title := strings.TrimPrefix(receiver, "*")
		return plugin{folder: folder, title: title, methods: []string{receiver + " PreFilter", receiver + " Filter"}, wrapper: "patches/plugin.go.txt", world: world}
	}
	return []plugin{
		of("nodeunschedulable", "*NodeUnschedulable", ""),
		of("tainttoleration", "*TaintToleration", ""),
		of("nodeaffinity", "*NodeAffinity", "Set: pl.addedNodeSelector != nil"),
		of("nodeports", "*NodePorts", ""),
		of("noderesources", "*Fit", "Set: pl.ignoredResources.Len()+pl.ignoredResourceGroups.Len() > 0"),
		of("volumerestrictions", "*VolumeRestrictions", claims+"Shared: pl.sharedLister"),
		of("nodevolumelimits", "*CSILimits", claims+volumes+"CSINode: pl.csiManager.CSINodes().Get, Attachments: pl.vaIndexer.List"),
		of("volumezone", "*VolumeZone", claims+volumes),
		of("podtopologyspread", "*PodTopologySpread", "Shared: pl.sharedLister, DefaultSpread: pl.defaultConstraints"),
		of("interpodaffinity", "*InterPodAffinity", "Shared: pl.sharedLister, Namespaces: pl.nsLister"),
		{folder: "volumebinding", title: "VolumeBinding", methods: []string{"*VolumeBinding PreFilter", "*volumeBinder FindPodVolumes"}, wrapper: "patches/volumebinding.go.txt"},
	}
}

var (
	startOfTest = regexp.MustCompile(`func(?: Test\w+)?\((t|tCtx) (?:\*testing\.T|ktesting\.TContext)\) \{`)
	parallel    = regexp.MustCompile(`\bt\.Parallel\(\)`)
)

// unpack copies the plugin's package from the release. It patches the copy so that its tests record their names and run one at a time.
func (p plugin) unpack(here, release, to string) error {
	if err := copyTree(filepath.Join(release, pluginPath, p.folder), to); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(to, "*.go"))
	if err != nil {
		return err
	}
	found := map[string]int{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := string(data)
		if strings.HasSuffix(file, "_test.go") {
			if startOfTest.MatchString(text) {
				text = startOfTest.ReplaceAllString(parallel.ReplaceAllString(text, ""), "$0 verdicts.Enter($1); ")
				text = strings.Replace(text, "import (", "import (\n\t\"github.com/drawknife/drawknife/internal/compat/verdicts\"", 1)
			}
		} else {
			for _, method := range p.methods {
				receiver, name, _ := strings.Cut(method, " ")
				declaration := regexp.MustCompile(`(?m)^func \((\w+ ` + regexp.QuoteMeta(receiver) + `)\) ` + name + `\(`)
				found[method] += len(declaration.FindAllString(text, -1))
				text = declaration.ReplaceAllString(text, "func ($1) released"+name+"(")
			}
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, method := range p.methods {
		if found[method] != 1 {
			return fmt.Errorf("patching %s: it has %s %d times, want once: look at what the release changed", p.folder, method, found[method])
		}
	}
	wrapper, err := os.ReadFile(filepath.Join(here, p.wrapper))
	if err != nil {
		return err
	}
	receiver, _, _ := strings.Cut(p.methods[0], " ")
	text := strings.NewReplacer("PACKAGE", p.folder, "RECEIVER", receiver, "WORLD", p.world).Replace(string(wrapper))
	return os.WriteFile(filepath.Join(to, "compat.go"), []byte(text), 0o644)
}

// verdicts returns the file with kube-scheduler's verdicts. They do not depend on this project's planner. It runs the plugins' tests only
// if the release or the recording code has changed. Otherwise it keeps the existing file.
func (w *workspace) verdicts() (string, error) {
	if w.verdictsFile != "" {
		return w.verdictsFile, nil
	}
	module := filepath.Join(w.here, "verdicts")
	release, err := moduleFolder(module, "k8s.io/kubernetes")
	if err != nil {
		return "", err
	}
	version, err := moduleVersion(module, "k8s.io/kubernetes")
	if err != nil {
		return "", err
	}
	w.versions = append(w.versions, "k8s.io/kubernetes "+version)
	recorded := []string{module, filepath.Join(w.here, "plugins.go")}
	for _, p := range plugins() {
		recorded = append(recorded, filepath.Join(w.here, p.wrapper))
	}
	key, err := contents(recorded...)
	if err != nil {
		return "", err
	}
	file := filepath.Join(w.dir, "verdicts.json")
	w.verdictsFile = file
	if was, err := os.ReadFile(file + ".key"); err == nil && string(was) == key {
		return file, nil
	}
	return file, w.recordVerdicts(module, release, file, key)
}

func (w *workspace) recordVerdicts(module, release, file, key string) error {
	dir := filepath.Join(w.dir, "verdicts")
	for _, stale := range []string{dir, file, file + ".key"} {
		if err := os.RemoveAll(stale); err != nil {
			return err
		}
	}
	if err := copyTree(module, dir); err != nil {
		return err
	}
	for _, p := range plugins() {
		if err := p.unpack(w.here, release, filepath.Join(dir, "plugins", p.folder)); err != nil {
			return err
		}
	}
	// The tests of one plugin run after those of another, so that the order in the file is always the same. Tests of deferred resizes are
	// left out, because their pods are already bound.
	cmd := exec.Command("go", "test", "-count=1", "-p=1", "-timeout=10m", "-vet=off", "-skip=DeferredResize", "-ldflags=-s -w", "./plugins/...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "COMPAT_VERDICTS="+file)
	out, err := cmd.CombinedOutput()
	if err := os.WriteFile(filepath.Join(w.dir, "verdicts.log"), out, 0o644); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("the tests of kube-scheduler's plugins: %w: see %s", err, filepath.Join(w.dir, "verdicts.log"))
	}
	return os.WriteFile(file+".key", []byte(key), 0o644)
}

// contents returns a checksum of files and folders.
func contents(paths ...string) (string, error) {
	sum := sha256.New()
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(file), len(data), data)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

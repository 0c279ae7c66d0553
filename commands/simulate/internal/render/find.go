// Package render finds the folders of Kustomize and Helm in the input, and runs the user's own tools to render them to objects.
//
// Stability: internal.
package render

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Tool is the tool that renders a folder.
type Tool string

const (
	// Kustomize renders folders with a kustomization.
	Kustomize Tool = "Kustomize"
	// Helm renders folders with a chart.
	Helm Tool = "Helm"
)

// Folder is a folder that a tool renders to objects.
type Folder struct {
	Path string
	Tool Tool
}

// Layout says which folders of the input are rendered, and which files are read as manifests.
type Layout struct {
	// Folders are the folders to render, in the order of their paths.
	Folders []Folder
	// Files are the inputs to read as manifests. If there is nothing to render, they are the paths passed to Find. Otherwise they are the
	// files in these paths that belong to no folder of a tool.
	Files []string
	// Unused are folders of tools that are not rendered and that no kustomization refers to. They are inside a folder that is rendered, or
	// they are charts without objects (type library).
	Unused []string
}

// AlternativesError says that folders are alternatives, for example overlays of one base for several environments: rendering all of them
// would count their objects several times.
type AlternativesError struct {
	// Folders are the alternatives, and Base is a folder to which all of them refer.
	Folders []string
	Base    string
}

// Error names the alternatives.
func (e *AlternativesError) Error() string {
	return fmt.Sprintf("%s are alternatives: all of them refer to %s; give the one to plan instead of the folder above", strings.Join(e.Folders, " and "), e.Base)
}

// Bounds of the search.
const (
	// mostFolders is the largest number of Kustomize and Helm folders that are read.
	mostFolders = 1000
	// mostBytes is the maximum size of a kustomization or Chart.yaml.
	mostBytes = 1 << 20
)

// finder is the state of the search through one of the inputs.
type finder struct {
	root string
	// kustomizations has the kustomization of each folder of the input, if the folder has one. charts has the folders with charts.
	kustomizations map[string]*kustomization
	charts         map[string]bool
	files          []string
}

// kustomization contains the fields of a kustomization that refer to folders.
type kustomization struct {
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Bases      []string `json:"bases"`
	Components []string `json:"components"`
	// refers are the folders of the input to which the kustomization refers.
	refers []string
}

// Find finds the folders of tools in the paths. Paths that are files or can't be read are added to Layout.Files: the code that reads these
// files reports errors. The error is an *AlternativesError, or names the kustomization that can't be read.
func Find(paths []string) (*Layout, error) {
	layout := &Layout{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			layout.Files = append(layout.Files, path)
			continue
		}
		f := &finder{root: filepath.Clean(path), kustomizations: map[string]*kustomization{}, charts: map[string]bool{}}
		if err := f.walk(); err != nil {
			return nil, err
		}
		if len(f.kustomizations)+len(f.charts) == 0 {
			layout.Files = append(layout.Files, path)
			continue
		}
		if err := f.add(layout); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(layout.Folders, func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
	layout.Folders = slices.Compact(layout.Folders)
	return layout, nil
}

// walk visits the folders of the input. It skips files and folders whose names start with a dot, and folders inside charts.
func (f *finder) walk() error {
	err := filepath.WalkDir(f.root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(entry.Name(), ".") && path != f.root:
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !entry.IsDir():
			f.files = append(f.files, path)
			return nil
		}
		k, err := readKustomization(path)
		if err != nil {
			return err
		}
		if k != nil {
			f.kustomizations[path] = k
		} else if isFile(filepath.Join(path, "Chart.yaml")) {
			f.charts[path] = true
			return filepath.SkipDir
		}
		if len(f.kustomizations)+len(f.charts) > mostFolders {
			return fmt.Errorf("more than %d folders of Kustomize and Helm: give fewer of them", mostFolders)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("searching %s for folders of Kustomize and Helm: %w", f.root, err)
	}
	for _, dir := range slices.Sorted(maps.Keys(f.kustomizations)) {
		k := f.kustomizations[dir]
		for _, to := range slices.Concat(k.Resources, k.Bases, k.Components) {
			if to = filepath.Join(dir, filepath.FromSlash(to)); f.kustomizations[to] != nil && to != dir {
				k.refers = append(k.refers, to)
			}
		}
	}
	return nil
}

// readKustomization reads the kustomization of a folder. It returns nil if the folder has none.
func readKustomization(dir string) (*kustomization, error) {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		path := filepath.Join(dir, name)
		if !isFile(path) {
			continue
		}
		text, err := readBounded(path)
		if err != nil {
			return nil, err
		}
		k := &kustomization{}
		if err := yaml.Unmarshal(text, k); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return k, nil
	}
	return nil, nil
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	text, err := io.ReadAll(io.LimitReader(file, mostBytes+1))
	if err == nil && len(text) > mostBytes {
		err = fmt.Errorf("%s: is larger than %d bytes", path, mostBytes)
	}
	return text, err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// add adds the folders of the input to the layout.
func (f *finder) add(layout *Layout) error {
	roots := f.roots()
	if err := f.checkAlternatives(roots); err != nil {
		return err
	}
	inside := make(map[string]bool) // roots, and the kustomizations to which they refer
	for _, root := range roots {
		layout.Folders = append(layout.Folders, Folder{root, Kustomize})
		f.reach(root, inside, true)
	}
	for _, dir := range slices.Sorted(maps.Keys(f.kustomizations)) {
		if !inside[dir] {
			layout.Unused = append(layout.Unused, dir)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(f.charts)) {
		if f.inKustomization(dir) || isLibrary(dir) {
			layout.Unused = append(layout.Unused, dir)
			continue
		}
		layout.Folders = append(layout.Folders, Folder{dir, Helm})
	}
	for _, file := range f.files {
		switch strings.ToLower(filepath.Ext(file)) {
		case ".yaml", ".yml", ".json":
			if !f.inKustomization(file) {
				layout.Files = append(layout.Files, file)
			}
		}
	}
	return nil
}

// roots returns the folders of the kustomizations to render. If the input itself has a kustomization, this is the only one. Otherwise they
// are all kustomizations to which no other kustomization refers, except components.
func (f *finder) roots() []string {
	if f.kustomizations[f.root] != nil {
		return []string{f.root}
	}
	referred := make(map[string]bool)
	for _, k := range f.kustomizations {
		for _, to := range k.refers {
			referred[to] = true
		}
	}
	var roots []string
	for _, dir := range slices.Sorted(maps.Keys(f.kustomizations)) {
		if !referred[dir] && f.kustomizations[dir].Kind != "Component" {
			roots = append(roots, dir)
		}
	}
	if len(roots) == 0 {
		return nil // the kustomizations refer to each other in circles, so none can be rendered
	}
	return roots
}

// checkAlternatives refuses roots that refer to the same base. A component is not such a base, because several roots may use it.
func (f *finder) checkAlternatives(roots []string) error {
	first := make(map[string]string)
	for _, root := range roots {
		bases := make(map[string]bool)
		f.reach(root, bases, false)
		for _, base := range slices.Sorted(maps.Keys(bases)) {
			if other, taken := first[base]; taken {
				return &AlternativesError{Folders: []string{other, root}, Base: base}
			}
			first[base] = root
		}
	}
	return nil
}

// reach adds dir and all kustomizations to which it refers, directly or indirectly, to into. Components are added only if components is
// true.
func (f *finder) reach(dir string, into map[string]bool, components bool) {
	if into[dir] || !components && f.kustomizations[dir].Kind == "Component" {
		return
	}
	into[dir] = true
	for _, to := range f.kustomizations[dir].refers {
		f.reach(to, into, components)
	}
}

// inKustomization reports whether a file or folder is inside the folder of a kustomization.
func (f *finder) inKustomization(path string) bool {
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if f.kustomizations[at] != nil {
			return true
		}
		if at == f.root || at == filepath.Dir(at) {
			return false
		}
	}
}

// isLibrary reports whether a chart is a library chart, which creates no objects itself.
func isLibrary(dir string) bool {
	text, err := readBounded(filepath.Join(dir, "Chart.yaml"))
	var chart struct {
		Type string `json:"type"`
	}
	return err == nil && yaml.Unmarshal(text, &chart) == nil && chart.Type == "library"
}

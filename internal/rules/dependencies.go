package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Banned returns the packages that nothing in the root module may import, not even tests. Users must be free to choose the versions of
// these packages. Code that needs them is in a nested module.
func Banned() []string {
	return []string{
		"k8s.io/client-go",
		"k8s.io/component-helpers",
		"k8s.io/kubernetes",
		"sigs.k8s.io/controller-runtime",
		"github.com/onsi/ginkgo",
		"github.com/onsi/gomega",
		"github.com/stretchr/testify",
	}
}

// CheckBanned finds banned packages in list, the output of "go list -deps -test ./...".
func CheckBanned(list string) []Fault {
	banned := make(map[string]bool)
	for line := range strings.Lines(list) {
		p, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, module := range Banned() {
			if p == module || strings.HasPrefix(p, module+"/") {
				banned[module] = true
			}
		}
	}
	var faults []Fault
	for module := range banned {
		faults = append(faults, fault("go.mod", "something in the module needs %s; go mod why -m says what", module))
	}
	return sorted(faults)
}

// Requirements are the direct requirements of a module.
type Requirements struct {
	// GoMod is the path of the module's go.mod, relative to the root of the repository.
	GoMod string
	// Paths are the modules that it requires directly, and the tools that it runs, in the order of go.mod.
	Paths []string
}

// ParseRequirements reads the output of "go mod edit -json". It leaves out requirements that are replaced by a folder of the repository,
// because they are part of the project.
func ParseRequirements(goMod string, printed []byte) (Requirements, error) {
	var m struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool    []struct{ Path string }
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal(printed, &m); err != nil {
		return Requirements{}, fmt.Errorf("%s: %w", goMod, err)
	}
	ours := make(map[string]bool)
	for _, r := range m.Replace {
		if r.New.Version == "" && strings.HasPrefix(r.New.Path, ".") {
			ours[r.Old.Path] = true
		}
	}
	r := Requirements{GoMod: goMod}
	for _, required := range m.Require {
		if !required.Indirect && !ours[required.Path] {
			r.Paths = append(r.Paths, required.Path)
		}
	}
	for _, tool := range m.Tool {
		r.Paths = append(r.Paths, tool.Path)
	}
	slices.Sort(r.Paths)
	return r, nil
}

// CheckDependencyReasons finds direct dependencies of a module that have no line in CONTRIBUTING.md, and lines for dependencies that are no
// longer direct. The lines of a module are the rows of the table below the heading that has the module's go.mod in backquotes. The first
// cell of a row is the path of the dependency in backquotes. The second cell (what for) and the third cell (why this one) must not be
// empty.
func CheckDependencyReasons(contributing string, modules []Requirements) []Fault {
	const file = "CONTRIBUTING.md"
	var faults []Fault
	stated := make(map[string]map[string]bool)
	section := ""
	for n, line := range lines(contributing) {
		where := fmt.Sprintf("%s:%d", file, n+1)
		if strings.HasPrefix(line, "#") {
			section = ""
			if quoted := backquoted(line); len(quoted) == 1 && path.Base(quoted[0]) == "go.mod" {
				section = quoted[0]
				stated[section] = make(map[string]bool)
			}
			continue
		}
		cells := tableRow(line)
		if section == "" || len(cells) == 0 {
			continue
		}
		dependency := backquoted(cells[0])
		if len(dependency) != 1 {
			continue // the table's head
		}
		stated[section][dependency[0]] = true
		if len(cells) != 3 || cells[1] == "" || cells[2] == "" {
			faults = append(faults, fault(where, "%s needs what it is for and why it was chosen", dependency[0]))
		}
	}
	for _, m := range modules {
		for _, p := range m.Paths {
			if !stated[m.GoMod][p] {
				faults = append(faults, fault(file, "%s requires %s: say under a heading with `%s` what for and why this one", m.GoMod, p, m.GoMod))
			}
			delete(stated[m.GoMod], p)
		}
	}
	for section, left := range stated {
		for _, p := range slices.Sorted(maps.Keys(left)) {
			faults = append(faults, fault(file, "%s does not require %s directly: remove its line", section, p))
		}
	}
	return sorted(faults)
}

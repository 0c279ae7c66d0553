package rules

import (
	"maps"
	"slices"
	"strings"
)

// foundation is the floor below floor 0. It has shared packages that don't depend on the project.
const foundation = -1

// floors returns the floor of each folder (see docs/architecture.md). A package belongs to the longest path that is the package's folder or
// above it.
func floors() map[string]int {
	return map[string]int{
		"api/conversion":      foundation,
		"api/conditions":      foundation,
		"api/option":          foundation,
		"internal/drifthash":  foundation,
		"internal/fieldtypes": foundation,
		"internal/quantities": foundation,
		"internal/printable":  foundation,
		"internal/interrupt":  foundation,
		"internal/spelling":   foundation,
		"internal/version":    foundation,

		"api/v1":                  0,
		"api/kinds":               0,
		"api/v1beta1":             0,
		"api/v1alpha5":            0,
		"api/autoscaling/v1":      0,
		"api/autoscaling/v1beta1": 0,
		"api/crds":                0,
		"aws/api/v1":              0,
		"aws/api/v1beta1":         0,
		"aws/api/v1alpha1":        0,

		"api/requirements": 1,
		"aws/convert":      1,

		"cloudprovider": 2,

		// The rooms (packages) of the planner, each with one task: see engine.go.
		"internal/engine": 3,
		// Package podgroups reads groups of pods for all packages that make snapshots.
		"internal/podgroups": 3,
		// Package planning has the inputs and outputs of planners. Planners import them.
		"scheduling/planning": 3,
		// Package spotlimits reads what pods request about spot nodes, for the planner and its users.
		"scheduling/spotlimits": 3,

		"scheduling": 4,

		"provisioning": 5,
		"disruption":   5,
		// The results of disruption planning, and the rooms of the disruption planners (see engine.go).
		"disruption/decision":  5,
		"internal/consolidate": 5,
		"aws":                  5,
		"fake":                 5,

		"cloudprovider/conformance": 6,
		"examples":                  6,
		"examples/settings":         6,
		"commands":                  6,
		"fake/world":                6,
		"":                          6,

		// Packages that only tests and benchmarks use are on the highest floor, so that no shipped package can import them.
		"internal":              6,
		"aws/internal/mototest": 6,
	}
}

// hubs returns, for an entry of floors, the other entries on the same floor that its packages may import. For example, an API version may
// import later versions, because objects are converted to v1 step by step.
func hubs() map[string][]string {
	return map[string][]string{
		"internal/fieldtypes":   {"internal/quantities"},
		"api/conversion":        {"internal/quantities"},
		"aws/internal/mototest": {"internal"}, // mototest connects to the server in the folder internal
		"internal/engine":       {"scheduling/planning", "scheduling/spotlimits"},
		"internal/podgroups":    {"scheduling/planning"},

		// Programs in examples consist of commands, and commands read the controller's settings.
		"examples": {"commands", "examples/settings"},
		"commands": {"examples/settings"},

		// Package disruption/decision is below the disruption planners. The disruption planners are below package disruption, which users
		// call.
		"internal/consolidate": {"disruption/decision"},
		"disruption":           {"internal/consolidate", "disruption/decision"},

		"api/kinds":               {"api/v1"},
		"api/autoscaling/v1beta1": {"api/autoscaling/v1"},
		"api/v1beta1":             {"api/v1"},
		"api/v1alpha5":            {"api/v1beta1", "api/v1"},
		"aws/api/v1beta1":         {"aws/api/v1"},
		"aws/api/v1alpha1":        {"aws/api/v1beta1", "aws/api/v1"},
	}
}

// floorOf returns the floor of a package, and the entry of floors to which the package belongs.
func floorOf(dir string) (floor int, entry string, ok bool) {
	all := floors()
	for entry = dir; ; entry = parent(entry) {
		if floor, ok = all[entry]; ok && (entry != "" || dir == "") {
			return floor, entry, true
		}
		if entry == "" {
			return 0, "", false
		}
	}
}

func parent(dir string) string {
	if i := strings.LastIndexByte(dir, '/'); i >= 0 {
		return dir[:i]
	}
	return ""
}

// CheckFloors finds imports that don't lead to a lower floor. These are imports of a package on a higher floor, and imports of another
// package on the same floor. On its own floor, a package may import only its parent folder, its subfolders and its hubs. Providers may
// import only floors 0 to 2, so that they and the planners don't depend on each other. Only tests may import packages of higher floors.
func CheckFloors(t *Tree) []Fault {
	var faults []Fault
	for dir, files := range t.packages() {
		floor, entry, ok := floorOf(dir)
		if !ok {
			faults = append(faults, fault(files[0].Name, "package %s stands on no floor: name it in internal/rules/floors.go", dir))
			continue
		}
		for _, f := range files {
			if f.Test {
				continue
			}
			for p, node := range f.imports() {
				imported, ours := strings.CutPrefix(p, Module+"/")
				if !ours {
					continue
				}
				if why := upward(floor, entry, imported); why != "" {
					faults = append(faults, fault(t.at(node), "%s must not import %s: %s", nameOf(dir), imported, why))
				}
			}
		}
	}
	return sorted(faults)
}

// upward says why a package may not import the package with the path imported, or returns "" if the import is allowed. The importing
// package is on the given floor and belongs to the given entry of floors.
func upward(floor int, entry, imported string) string {
	other, otherEntry, ok := floorOf(imported)
	switch {
	case !ok:
		return "it stands on no floor"
	case otherEntry == entry:
		return ""
	case other > floor:
		return "it stands on a higher floor"
	case other == floor && !slices.Contains(hubs()[entry], otherEntry):
		return "it stands on the same floor"
	case slices.Contains([]string{"aws", "fake"}, entry) && other > 2:
		return "providers use floors 0 to 2 alone"
	}
	return ""
}

func nameOf(dir string) string {
	if dir == "" {
		return "the root package"
	}
	return dir
}

// CheckAWSSDK finds imports of the AWS SDK outside package aws and the programs, because offline planning must work without the SDK.
func CheckAWSSDK(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Files {
		if within(f.Dir, "aws", "commands", "examples") && !within(f.Dir, "aws/catalog", "aws/instancetype", "aws/api", "aws/convert") {
			continue
		}
		for p, node := range f.imports() {
			if strings.HasPrefix(p, "github.com/aws/") {
				faults = append(faults, fault(t.at(node), "%s must work without the AWS SDK, but imports %s", nameOf(f.Dir), p))
			}
		}
	}
	return sorted(faults)
}

// CheckTopLevel finds folders at the root of the repository that are not part of the architecture. Folders with names that begin with a dot
// are skipped.
func CheckTopLevel(folders []string) []Fault {
	known := map[string]bool{
		"api": true, "aws": true, "cloudprovider": true, "commands": true, "disruption": true, "docs": true, "examples": true, "fake": true,
		"internal": true, "provisioning": true, "scheduling": true,
	}
	var faults []Fault
	for _, folder := range folders {
		if !known[folder] && !strings.HasPrefix(folder, ".") {
			faults = append(faults, fault(folder, "top-level folders are %s, and no others",
				strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
		}
	}
	return sorted(faults)
}

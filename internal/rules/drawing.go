package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// room is one box in the drawing of imports. It represents folders, with all of their subfolders.
type room struct {
	// id identifies the box in the drawing. text is what the box shows.
	id, text string
	folders  []string
}

// rooms returns the boxes of the drawing, from top to bottom. A package belongs to the room with the longest folder that is the package's
// folder or above it. A package without a room is not drawn.
func rooms() []room {
	return []room{
		{"examples", "examples, commands", []string{"examples", "commands"}},
		{"conformance", "cloudprovider/conformance", []string{"cloudprovider/conformance"}},
		{"world", "fake/world", []string{"fake/world"}},
		{"provisioning", "provisioning", []string{"provisioning"}},
		{"disruption", "disruption", []string{"disruption"}},
		{"consolidate", "internal/consolidate", []string{"internal/consolidate"}},
		{"decision", "disruption/decision", []string{"disruption/decision"}},
		{"aws", "aws", []string{"aws"}},
		{"fake", "fake", []string{"fake"}},
		{"scheduling", "scheduling", []string{"scheduling"}},
		{"engine", "internal/engine", []string{"internal/engine"}},
		{"planning", "scheduling/planning", []string{"scheduling/planning", "scheduling/spotlimits"}},
		{"cloudprovider", "cloudprovider", []string{"cloudprovider"}},
		{"convert", "aws/convert", []string{"aws/convert"}},
		{"requirements", "api/requirements", []string{"api/requirements"}},
		{"objects", "api, aws/api", []string{"api", "aws/api"}},
	}
}

// roomOf returns the id of the package's room, or "" if the package has no room.
func roomOf(dir string) string {
	best, id := -1, ""
	for _, r := range rooms() {
		for _, folder := range r.folders {
			if within(dir, folder) && len(folder) > best {
				best, id = len(folder), r.id
			}
		}
	}
	return id
}

// DrawImports returns a Mermaid flowchart that shows which room imports which other rooms. It leaves out an arrow if a longer path of
// arrows leads to the same room.
func DrawImports(t *Tree) string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for _, r := range rooms() {
		fmt.Fprintf(&b, "    %s[\"%s\"]\n", r.id, r.text)
	}
	for _, a := range reduced(roomImports(t)) {
		fmt.Fprintf(&b, "    %s --> %s\n", a[0], a[1])
	}
	return b.String()
}

// CheckDrawing compares the drawing after the line <!-- imports --> with the imports in the tree. `go test ./internal/rules -update` draws
// it again.
func CheckDrawing(t *Tree, name, page string) []Fault {
	got, err := Fence(page, "<!-- imports -->", "mermaid")
	if err != nil {
		return []Fault{fault(name, "%v", err)}
	}
	want := DrawImports(t)
	var faults []Fault
	for _, line := range lines(want) {
		if !slices.Contains(lines(got), line) {
			faults = append(faults, fault(name, "the drawing of imports lacks %q", strings.TrimSpace(line)))
		}
	}
	for _, line := range lines(got) {
		if !slices.Contains(lines(want), line) {
			faults = append(faults, fault(name, "the drawing of imports has %q, which is not so", strings.TrimSpace(line)))
		}
	}
	return sorted(faults)
}

// roomImports returns the pairs of rooms (from, to) for which a package in from imports a package in to. Tests don't count.
func roomImports(t *Tree) map[[2]string]bool {
	out := make(map[[2]string]bool)
	for _, f := range t.Files {
		from := roomOf(f.Dir)
		if f.Test || from == "" {
			continue
		}
		for p := range f.imports() {
			dir, ours := strings.CutPrefix(p, Module+"/")
			if to := roomOf(dir); ours && to != "" && to != from {
				out[[2]string{from, to}] = true
			}
		}
	}
	return out
}

// reduced leaves out each arrow whose ends are also connected by a longer path of arrows. The order of the rooms stays the same. It works
// only if the arrows form no cycle. Imports of packages never form cycles, and CheckFloors finds cycles between rooms.
func reduced(arrows map[[2]string]bool) [][2]string {
	var reaches func(from, to string, seen map[string]bool) bool
	reaches = func(from, to string, seen map[string]bool) bool {
		for a := range arrows {
			if a[0] != from || seen[a[1]] {
				continue
			}
			seen[a[1]] = true
			if a[1] == to || reaches(a[1], to, seen) {
				return true
			}
		}
		return false
	}
	var out [][2]string
	for _, from := range rooms() {
		for _, to := range rooms() {
			if !arrows[[2]string{from.id, to.id}] {
				continue
			}
			around := false
			for _, via := range rooms() {
				around = around || via.id != to.id && arrows[[2]string{from.id, via.id}] && reaches(via.id, to.id, map[string]bool{})
			}
			if !around {
				out = append(out, [2]string{from.id, to.id})
			}
		}
	}
	return out
}

// CheckFloorTable compares the table after the line <!-- floors --> with floors(), which the rules for imports use. Each row of the table
// has a floor, and its packages in backquotes.
func CheckFloorTable(name, page string) []Fault {
	_, table, found := strings.Cut(page, "\n<!-- floors -->\n")
	if !found {
		return []Fault{fault(name, "no line <!-- floors -->")}
	}
	shown := make(map[string]string)
	for _, line := range lines(strings.TrimLeft(table, "\n")) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if cells := tableRow(line); len(cells) > 1 {
			for _, dir := range backquoted(cells[1]) {
				shown[dir] = cells[0]
			}
		}
	}
	var faults []Fault
	for entry, floor := range floors() {
		dir, want := entry, fmt.Sprint(floor)
		if dir == "" {
			dir = "."
		}
		if floor == foundation {
			want = "below"
		}
		if got, ok := shown[dir]; !ok {
			faults = append(faults, fault(name, "the table of floors lacks %s, which is on floor %s", dir, want))
		} else if got != want {
			faults = append(faults, fault(name, "the table of floors has %s on floor %s; it is on floor %s", dir, got, want))
		}
		delete(shown, dir)
	}
	for _, dir := range slices.Sorted(maps.Keys(shown)) {
		faults = append(faults, fault(name, "the table of floors has %s, which internal/rules/floors.go does not", dir))
	}
	return sorted(faults)
}

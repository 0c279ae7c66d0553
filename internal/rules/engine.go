package rules

import (
	"slices"
	"strings"
)

// engine is the folder of the rooms that the planner is made of.
const engine = "internal/engine"

// mostFiles is how many files a room has at most, tests aside.
const mostFiles = 25

// CheckEngine compares the table after the line <!-- engine -->, whose rows begin with a link to a room, from above to below, with the
// packages of the engine. It finds rooms that import one above them, and rooms with too many files.
func CheckEngine(t *Tree, name, page string) []Fault {
	_, table, found := strings.Cut(page, "\n<!-- engine -->\n")
	if !found {
		return []Fault{fault(name, "no line <!-- engine -->")}
	}
	var order []string
	for _, line := range lines(strings.TrimLeft(table, "\n")) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if _, link, isLink := strings.Cut(line, "["); isLink {
			room, _, _ := strings.Cut(link, "]")
			order = append(order, room)
		}
	}
	var faults []Fault
	files := make(map[string]int)
	for _, f := range t.Files {
		room, isRoom := strings.CutPrefix(f.Dir, engine+"/")
		if !isRoom || f.Test {
			continue
		}
		if files[room]++; files[room] == mostFiles+1 {
			faults = append(faults, fault(f.Name, "%s has more than %d files: split it by question", f.Dir, mostFiles))
		}
		at := slices.Index(order, room)
		if at < 0 && files[room] == 1 {
			faults = append(faults, fault(name, "the table of rooms lacks %s", room))
		}
		for p, node := range f.imports() {
			other, ours := strings.CutPrefix(p, Module+"/"+engine+"/")
			if below := slices.Index(order, other); ours && at >= 0 && below >= 0 && below <= at {
				faults = append(faults, fault(t.at(node), "%s must not import %s, which is above it (%s)", room, other, name))
			}
		}
	}
	for _, room := range order {
		if files[room] == 0 {
			faults = append(faults, fault(name, "the table of rooms has %s, which does not exist", room))
		}
	}
	return sorted(faults)
}

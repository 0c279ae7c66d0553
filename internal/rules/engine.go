package rules

import (
	"slices"
	"strings"
)

// engine and consolidate are folders. Their packages (called rooms) are the planner and the disruption planners.
const (
	engine      = "internal/engine"
	consolidate = "internal/consolidate"
)

// mostFiles is the largest number of files in a room, not counting tests.
const mostFiles = 25

// CheckEngine compares the rooms of the engine with the table after the line <!-- engine -->.
func CheckEngine(t *Tree, name, page string) []Fault {
	return checkRooms(t, engine, "engine", name, page)
}

// CheckConsolidate compares the rooms of the disruption planners with the table after the line <!-- consolidate -->. It also checks the
// imports of these rooms and of disruption/decision: they may import the engine's rooms and the data types, but not the facade that users
// call.
func CheckConsolidate(t *Tree, name, page string) []Fault {
	return sorted(append(checkRooms(t, consolidate, "consolidate", name, page), checkAroundFacade(t, consolidate, "disruption/decision")...))
}

// checkAroundFacade finds files in the folders that import package scheduling, the planner's facade. These imports are not allowed, because
// scheduling would have to export functions that only planners of this module need.
func checkAroundFacade(t *Tree, folders ...string) []Fault {
	var faults []Fault
	for _, f := range t.Files {
		if f.Test || !within(f.Dir, folders...) {
			continue
		}
		if node := f.imports()[Module+"/scheduling"]; node != nil {
			faults = append(faults, fault(t.at(node), "%s must not import scheduling, which is for users: use scheduling/planning and the rooms of %s", f.Dir, engine))
		}
	}
	return faults
}

// checkRooms compares the packages in the folder parent with the table after the marker in a page. The first link of each row names a room,
// and a room may only import the rooms below it in the table. It reports rooms that break this rule, and rooms with more than mostFiles
// files.
func checkRooms(t *Tree, parent, marker, name, page string) []Fault {
	_, table, found := strings.Cut(page, "\n<!-- "+marker+" -->\n")
	if !found {
		return []Fault{fault(name, "no line <!-- %s -->", marker)}
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
		room, isRoom := strings.CutPrefix(f.Dir, parent+"/")
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
			other, ours := strings.CutPrefix(p, Module+"/"+parent+"/")
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

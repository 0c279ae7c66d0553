package rules

import (
	"slices"
	"strings"
)

// engine and consolidate are the folders of the rooms that the planner, and the planners of disruption, are made of.
const (
	engine      = "internal/engine"
	consolidate = "internal/consolidate"
)

// mostFiles is how many files a room has at most, tests aside.
const mostFiles = 25

// CheckEngine holds the rooms of the engine to the table after the line <!-- engine -->.
func CheckEngine(t *Tree, name, page string) []Fault {
	return checkRooms(t, engine, "engine", name, page)
}

// CheckConsolidate holds the rooms of the planners of disruption to the table after the line <!-- consolidate -->.
func CheckConsolidate(t *Tree, name, page string) []Fault {
	return checkRooms(t, consolidate, "consolidate", name, page)
}

// checkRooms compares the table after a marker, whose rows begin with a link to a room, from above to below, with the packages of a
// folder. It finds rooms that import one above them, and rooms with too many files.
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

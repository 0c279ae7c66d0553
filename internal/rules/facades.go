package rules

import (
	"go/ast"
	"slices"
)

// CheckFacades finds packages that are too large to understand as a whole. It finds facades with too many files, and types of facades and
// rooms with too many methods. The map then lists, by package and name, the types that already had too many methods when the rule was made.
// Its values are the numbers of methods that these types had. A listed type that has fewer methods now is also a fault, so that its number
// in the map gets lowered.
func CheckFacades(t *Tree, facades, rooms []string, then map[string]int) []Fault {
	files, methods, places := map[string]int{}, map[string]int{}, map[string]string{}
	for _, f := range t.Files {
		facade, room := slices.Contains(facades, f.Dir), within(f.Dir, rooms...)
		if f.Test || !facade && !room {
			continue
		}
		if files[f.Dir]++; facade {
			places[f.Dir] = f.Name
		}
		for _, d := range f.Syntax.Decls {
			method, ok := d.(*ast.FuncDecl)
			if !ok || method.Recv == nil || facade && !method.Name.IsExported() {
				continue
			}
			name := f.Dir + "." + receiverName(method)
			methods[name]++
			places[name] = t.at(method)
		}
	}
	var faults []Fault
	for _, dir := range facades {
		if n := files[dir]; n > mostFiles {
			faults = append(faults, fault(places[dir], "%s has %d files, and at most %d: move what users don't touch to a room", dir, n, mostFiles))
		}
	}
	for name, n := range methods {
		most := mostMethods
		if slices.ContainsFunc(facades, func(dir string) bool { return len(name) > len(dir) && name[:len(dir)+1] == dir+"." }) {
			most = mostPublicMethods
		}
		switch before := then[name]; {
		case before == 0 && n > most:
			faults = append(faults, fault(places[name], "%s has %d methods, and at most %d: give part of it a type of its own", name, n, most))
		case before > 0 && n != before:
			faults = append(faults, fault(places[name], "%s has %d methods, and %d are recorded: record fewer, or give part of it a type of its own", name, n, before))
		}
	}
	return sorted(faults)
}

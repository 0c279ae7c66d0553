package catalog

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:generate go run generate_branches.go

//go:embed branches.txt
var embeddedBranches string

// BranchLimits returns the number of branch network interfaces that each instance type supports, by type name; 0 for types that can't have
// a trunk interface. It is the same in all regions. If a type is missing, it is newer than the table, and its limit is unknown. The caller
// owns the map.
func BranchLimits() map[string]int64 {
	limits := make(map[string]int64, strings.Count(embeddedBranches, "\n"))
	for line := range strings.Lines(embeddedBranches) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			limits[name] = n
		}
	}
	return limits
}

// branchTable returns the source of the embedded table with the limits of branch interfaces.
func branchTable() string {
	first, _, _ := strings.Cut(embeddedBranches, "\n")
	_, source, _ := strings.Cut(first, "table of ")
	source, _, _ = strings.Cut(source, ";")
	return source
}

// setBranches sets the limits of branch interfaces of types. They come from the embedded table, or from the catalogue older if the table
// does not have the type.
func setBranches(types []Type, older *Catalog) {
	limits := BranchLimits()
	for i := range types {
		if n, known := limits[types[i].Name]; known {
			types[i].BranchENIs = &n
		} else if older != nil {
			if known, ok := older.Lookup(types[i].Name); ok {
				types[i].BranchENIs = known.BranchENIs
			}
		}
	}
}

package catalog

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:generate go run generate_branches.go

//go:embed branches.txt
var embeddedBranches string

// BranchLimits says how many branch interfaces instance types can have as trunks, 0 for those that can't be one, by name. It is the same in
// all regions. A type that is missing is newer than the table: nothing is known of it. The caller owns the map.
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

// branchTable says where the limits are from.
func branchTable() string {
	first, _, _ := strings.Cut(embeddedBranches, "\n")
	_, source, _ := strings.Cut(first, "table of ")
	source, _, _ = strings.Cut(source, ";")
	return source
}

// setBranches fills in the limits of types, which a table of ours knows better than an older catalogue, from which comes what it does not know.
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

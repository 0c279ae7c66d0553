package rules

import (
	"regexp"
	"slices"
)

// stability matches the paragraph of a package comment that says whether users can rely on the package. docs/packages.md explains its
// words.
var stability = regexp.MustCompile(`(?m)^Stability: (stable|beta)\.$`)

// CheckStability finds packages that users can import and that don't say in their comment how stable they are. Packages below internal and
// the programs in examples need no such statement: they have no API for users.
func CheckStability(t *Tree) []Fault {
	var faults []Fault
	for dir, files := range t.packages() {
		if library := libraryOf(dir, files); library != nil && !stability.MatchString(packageComment(library)) {
			faults = append(faults, fault(library[0].Name, `the comment of package %s must have a paragraph "Stability: stable." or "Stability: beta.": docs/packages.md says which`, dir))
		}
	}
	return sorted(faults)
}

// libraryOf returns the files of the package in dir if users of the library import it. It leaves out tests and files that builds ignore. It
// returns nil for packages that are private, examples or commands.
func libraryOf(dir string, files []*File) []*File {
	if dir == "" || private(dir) || within(dir, "examples") {
		return nil
	}
	library := slices.DeleteFunc(slices.Clone(files), func(f *File) bool { return f.Test || f.ignored() })
	if len(library) == 0 || library[0].command() {
		return nil
	}
	return library
}

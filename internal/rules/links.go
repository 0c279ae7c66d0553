package rules

import (
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	namedAnchor  = regexp.MustCompile(`<a id="([^"]+)">`)
	testName     = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz|Example)[A-Z][A-Za-z0-9_]*$`)
)

// CheckLinks finds broken links in documents: links to files that are not in the repository, and links to headings that a document does not
// have. documents maps paths to texts. Links in fenced blocks and links to the web are not checked.
func CheckLinks(fsys fs.FS, documents map[string]string) ([]Fault, error) {
	known := make(map[string][]string)
	for name, text := range documents {
		known[name] = anchors(text)
		for _, m := range namedAnchor.FindAllStringSubmatch(text, -1) {
			known[name] = append(known[name], m[1])
		}
	}
	var faults []Fault
	for name, text := range documents {
		fenced := false
		for i, line := range lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
			}
			if fenced {
				continue
			}
			for _, m := range markdownLink.FindAllStringSubmatch(line, -1) {
				target, anchor, _ := strings.Cut(m[1], "#")
				if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
					continue
				}
				where, file := fmt.Sprintf("%s:%d", name, i+1), name
				if target != "" {
					file = path.Join(path.Dir(name), target)
				}
				_, err := fs.Stat(fsys, file)
				switch headings, document := known[file]; {
				case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid):
					faults = append(faults, fault(where, "links to %s, which is not there", file))
				case err != nil:
					return nil, fmt.Errorf("following the links of %s: %w", name, err)
				case anchor != "" && document && !slices.Contains(headings, anchor):
					faults = append(faults, fault(where, "links to %s#%s, and there is no such heading", file, anchor))
				}
			}
		}
	}
	return sorted(faults), nil
}

// CheckNamedTests finds names of tests, benchmarks, fuzz targets and examples that documents mention in backquotes but that do not exist.
func CheckNamedTests(t *Tree, documents map[string]string) []Fault {
	known := make(map[string]bool)
	for _, f := range t.Files {
		for _, d := range f.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.Test && fn.Recv == nil {
				known[fn.Name.Name] = true
			}
		}
	}
	var faults []Fault
	for name, text := range documents {
		for i, line := range lines(text) {
			for _, piece := range backquoted(line) {
				if testName.MatchString(piece) && !known[piece] {
					faults = append(faults, fault(fmt.Sprintf("%s:%d", name, i+1), "names %s, and there is no such test", piece))
				}
			}
		}
	}
	return sorted(faults)
}

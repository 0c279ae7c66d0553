package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// These are the Mermaid statements that documents of this project use. Other statements are faults, even if they are valid in Mermaid,
// because this check runs without a browser and so can't run Mermaid.
var (
	mermaidBox   = `[A-Za-z][A-Za-z0-9_]*(?:\["[^"]*"\]|\(\["[^"]*"\]\)|\{"[^"]*"\}|\[\("[^"]*"\)\])?`
	mermaidState = `(?:[A-Za-z][A-Za-z0-9_]*|\[\*\])`

	mermaidStatements = map[string][]*regexp.Regexp{
		"flowchart": {
			regexp.MustCompile(`^` + mermaidBox + `$`),
			regexp.MustCompile(`^` + mermaidBox + `(?: (?:-->|-\.->|==>)(?:\|"[^"|]*"\|)? ` + mermaidBox + `)+$`),
			regexp.MustCompile(`^subgraph [A-Za-z][A-Za-z0-9_]*(?:\["[^"]*"\])?$`),
			regexp.MustCompile(`^direction (?:TB|TD|LR)$`),
			regexp.MustCompile(`^end$`),
		},
		"stateDiagram-v2": {
			regexp.MustCompile(`^` + mermaidState + ` --> ` + mermaidState + `(?:: [^:;]+)?$`),
			regexp.MustCompile(`^direction (?:TB|LR)$`),
			regexp.MustCompile(`^state "[^"]*" as [A-Za-z][A-Za-z0-9_]*$`),
		},
		"sequenceDiagram": {
			regexp.MustCompile(`^participant [A-Za-z][A-Za-z0-9_]*(?: as [^:;]+)?$`),
			regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(?:->>|-->>)[A-Za-z][A-Za-z0-9_]*: [^;]+$`),
			regexp.MustCompile(`^Note over [A-Za-z][A-Za-z0-9_]*(?:,[A-Za-z][A-Za-z0-9_]*)?: [^;]+$`),
			regexp.MustCompile(`^(?:loop|opt|alt|else) [^;]+$`),
			regexp.MustCompile(`^end$`),
		},
	}
	mermaidHead = regexp.MustCompile(`^(flowchart|stateDiagram-v2|sequenceDiagram)(?: (?:TD|TB|LR))?$`)
)

// CheckMermaid finds drawings in documents that Mermaid might not parse. These are drawings with a line that is not one of the known
// statements, and code blocks without an end. In the stage "drawings" of .ci/run, Mermaid itself draws the drawings.
func CheckMermaid(documents map[string]string) []Fault {
	var faults []Fault
	for name, text := range documents {
		kind, inside, depth := "", false, 0
		for i, line := range lines(text) {
			where, line := fmt.Sprintf("%s:%d", name, i+1), strings.TrimSpace(line)
			switch {
			case line == "```mermaid":
				kind, inside, depth = "", true, 0
			case !inside:
			case line == "```":
				if inside = false; depth != 0 {
					faults = append(faults, fault(where, "the drawing ends inside of %d of its blocks", depth))
				}
			case kind == "":
				m := mermaidHead.FindStringSubmatch(line)
				if m == nil {
					faults = append(faults, fault(where, "a drawing begins with %q: only flowchart, stateDiagram-v2 and sequenceDiagram are used", line))
					inside = false
					continue
				}
				kind = m[1]
			case line == "" || strings.HasPrefix(line, "%% "):
			case !slices.ContainsFunc(mermaidStatements[kind], func(r *regexp.Regexp) bool { return r.MatchString(line) }):
				faults = append(faults, fault(where, "%q is no statement of a %s that internal/rules/mermaid.go knows", line, kind))
			case line == "end":
				if depth--; depth < 0 {
					faults = append(faults, fault(where, "there is no block to end"))
					depth = 0
				}
			default:
				switch word, _, _ := strings.Cut(line, " "); word {
				case "subgraph", "loop", "opt", "alt":
					depth++
				}
			}
		}
		if inside {
			faults = append(faults, fault(name, "a drawing does not end"))
		}
	}
	return sorted(faults)
}

package rules

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// CheckNoCloud finds code that depends on one cloud in packages that are for all clouds: imports of AWS's packages, and names of AWS's
// kinds of node classes. The callers of these packages pass the facts about a cloud to them (api/kinds, cloudprovider.Capabilities).
func CheckNoCloud(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Files {
		if f.Test || !within(f.Dir, "api", "cloudprovider", "scheduling", "provisioning", "disruption", "internal/engine") || within(f.Dir, "api/crds") {
			continue
		}
		for p, node := range f.imports() {
			if imported, ours := strings.CutPrefix(p, Module+"/"); ours && within(imported, "aws") {
				faults = append(faults, fault(t.at(node), "%s knows no cloud, but imports %s: take what it needs of one from the caller", f.Dir, imported))
			}
		}
		if !within(f.Dir, "scheduling") {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if ok && literal.Kind == token.STRING && slices.ContainsFunc([]string{"EC2NodeClass", "AWSNodeTemplate"}, func(kind string) bool {
				return strings.Contains(literal.Value, kind)
			}) {
				faults = append(faults, fault(t.at(n), "%s knows no cloud, but names %s: take kinds of node classes from the caller", f.Dir, literal.Value))
			}
			return true
		})
	}
	return sorted(faults)
}

package rules

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// CheckZeros finds fields of public packages that are numbers or durations and for which 0 means a default. It recognizes them by their
// comments, or by code that replaces a 0 by a constant Default…. An option with a default must be a pointer for which nil means the
// default, or its type must have a function Default… that returns all defaults. The map reasons has a reason for each field that is allowed
// as an exception, such as "aws/prices.Feed.Every". A reason for a field that is not such an exception is also a fault.
func CheckZeros(t *Tree, reasons map[string]string) []Fault {
	var faults []Fault
	used := make(map[string]bool)
	for _, f := range t.Files {
		if f.Test || f.Generated || slices.Contains(strings.Split(f.Dir, "/"), "internal") {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				structure, ok := n.Type.(*ast.StructType)
				if !ok || !n.Name.IsExported() {
					return true
				}
				for _, field := range structure.Fields.List {
					if !number(field.Type) || !zeroIsDefault(field.Doc.Text()+" "+field.Comment.Text()) {
						continue
					}
					for _, name := range field.Names {
						if full := f.Dir + "." + n.Name.Name + "." + name.Name; reasons[full] != "" {
							used[full] = true
						} else if name.IsExported() {
							faults = append(faults, fault(t.at(name), "%s has a default for 0: make it a pointer, with nil for the default", full))
						}
					}
				}
			case *ast.IfStmt:
				if field := replacesZero(n); field != "" && !excusedField(reasons, f.Dir, field) {
					faults = append(faults, fault(t.at(n), "%s is replaced by a default if it is 0: make it a pointer, and read it with option.Or", field))
				}
			}
			return true
		})
	}
	for name := range reasons {
		if !used[name] {
			faults = append(faults, fault("internal/rules", "%s is listed as a field whose default is 0, and its comment does not say so", name))
		}
	}
	return sorted(faults)
}

// number reports whether the type of a field is a number or a duration.
func number(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.HasPrefix(e.Name, "int") || strings.HasPrefix(e.Name, "uint") || strings.HasPrefix(e.Name, "float")
	case *ast.SelectorExpr:
		return e.Sel.Name == "Duration"
	}
	return false
}

// zeroIsDefault reports whether the comment of a field says that 0 means a default.
func zeroIsDefault(comment string) bool {
	return regexp.MustCompile(`(?i)\b(0|zero)( or less)?( is| means| stands for| for|:)( that of| those of)? (the )?([a-z]+'s )?(own )?(defaults?\b|Default[A-Z]|as many as)`).
		MatchString(strings.Join(strings.Fields(comment), " "))
}

// replacesZero returns the name of the field that the statement sets to a constant Default… if the field is 0, or 0 or less. It returns ""
// for other statements.
func replacesZero(s *ast.IfStmt) string {
	condition, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || condition.Op != token.EQL && condition.Op != token.LEQ || len(s.Body.List) != 1 {
		return ""
	}
	field, ok := condition.X.(*ast.SelectorExpr)
	zero, isLiteral := condition.Y.(*ast.BasicLit)
	assign, assigns := s.Body.List[0].(*ast.AssignStmt)
	if !ok || !isLiteral || zero.Value != "0" || !assigns || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return ""
	}
	set, ok := assign.Lhs[0].(*ast.SelectorExpr)
	if !ok || set.Sel.Name != field.Sel.Name || !defaultConstant(assign.Rhs[0]) {
		return ""
	}
	return field.Sel.Name
}

func defaultConstant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.HasPrefix(e.Name, "Default")
	case *ast.SelectorExpr:
		return strings.HasPrefix(e.Sel.Name, "Default")
	}
	return false
}

// excusedField reports whether the map reasons has an entry for the field of this name in a type of the package in dir.
func excusedField(reasons map[string]string, dir, field string) bool {
	for name := range reasons {
		if strings.HasPrefix(name, dir+".") && strings.HasSuffix(name, "."+field) {
			return true
		}
	}
	return false
}

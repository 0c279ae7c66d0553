package rules

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// logMethods returns the methods of slog.Logger that write a record, each with the index of the message in its arguments.
func logMethods() map[string]int {
	return map[string]int{
		"Debug": 0, "Info": 0, "Warn": 0, "Error": 0,
		"DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1, "Log": 2,
	}
}

// logKeys returns the keys whose spelling is fixed, because programs that read the logs rely on them.
func logKeys() []string {
	return []string{
		"capacityType", "configMap", "error", "instanceID", "instanceType", "launchTemplate", "node", "nodeClaim", "nodeClass", "nodeOverlay",
		"nodePool", "pod", "providerID", "reason", "zone",
	}
}

// irregularPasts are the past tenses without "ed" that a message may begin with.
func irregularPasts() []string {
	return []string{"began", "cut", "found", "gave", "kept", "left", "lost", "made", "put", "read", "sent", "set", "shut", "took", "undid", "wrote"}
}

// CheckLogs finds log messages that don't have the form in docs/glossary.md and CONTRIBUTING.md. A message is a constant text without a
// full stop and without retired words. It begins with what was done ("launched instance"), with what is being done ("waiting for …") or
// with "cannot". Data are in pairs of key and value; keys are in camelCase, and each key has only one spelling.
func CheckLogs(t *Tree, retired []string) []Fault {
	var faults []Fault
	for _, f := range t.Files {
		if f.Test || f.Generated {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			at, ok := messageOf(call)
			if !ok {
				return true
			}
			for _, why := range append(wrongMessage(call.Args[at], retired), wrongKeys(call.Args[at+1:])...) {
				faults = append(faults, fault(t.at(call), "%s", why))
			}
			return true
		})
	}
	return sorted(faults)
}

// messageOf returns the index of the message in the arguments of the call, or false if the call writes no log record.
func messageOf(call *ast.CallExpr) (int, bool) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return 0, false
	}
	at, ok := logMethods()[method.Sel.Name]
	return at, ok && len(call.Args) > at && isLogger(method.X)
}

// isLogger reports whether the expression has the name of a logger: log, logger, x.log, x.Logger or x.log().
func isLogger(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		return isLogger(e.Fun)
	case *ast.SelectorExpr:
		return isLogger(e.Sel)
	case *ast.Ident:
		return slices.Contains([]string{"log", "logger", "slog"}, strings.ToLower(e.Name))
	}
	return false
}

// handed is the parameter name that functions use for a log message which their callers pass. For such a function, the messages that
// callers pass are checked instead.
const handed = "failure"

func wrongMessage(e ast.Expr, retired []string) []string {
	if name, ok := e.(*ast.Ident); ok && name.Name == handed {
		return nil
	}
	text, ok := constantText(e)
	if !ok {
		return []string{"a log message must be a text that never changes, so that one can search for it: put data into pairs"}
	}
	var wrong []string
	first, _, _ := strings.Cut(text, " ")
	switch {
	case text == "" || !unicode.IsLower(rune(text[0])):
		wrong = append(wrong, "log message "+strconv.Quote(text)+" must begin with a small letter")
	case !strings.HasSuffix(first, "ed") && !strings.HasSuffix(first, "ing") && first != "cannot" && !slices.Contains(irregularPasts(), first):
		wrong = append(wrong, "log message "+strconv.Quote(text)+" must begin with a verb: what was done (launched), what is being done (waiting), or cannot")
	}
	if strings.HasSuffix(text, ".") {
		wrong = append(wrong, "log message "+strconv.Quote(text)+" must not end in a full stop")
	}
	for _, word := range slices.Sorted(maps.Keys(CountWords(retired, map[string]string{"": text}))) {
		// The word Machines is part of names of AWS and Kubernetes, so it is allowed.
		if word == "machine" && strings.Contains(text, "Machines") {
			continue
		}
		wrong = append(wrong, "log message "+strconv.Quote(text)+" has the retired word "+strconv.Quote(word)+": see docs/glossary.md")
	}
	return wrong
}

// constantText returns the text of a string literal or of a sum of string literals, or false for other expressions.
func constantText(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := constantText(e.X)
		right, ok2 := constantText(e.Y)
		return left + right, ok && ok2 && e.Op == token.ADD
	}
	return "", false
}

// wrongKeys returns what is wrong with the keys of a log record. args are the keys and values after the message. The check stops at the
// first key that is not a constant.
func wrongKeys(args []ast.Expr) []string {
	camelCase := regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	var wrong []string
	for i := 0; i < len(args); i += 2 {
		key, ok := constantText(args[i])
		if !ok {
			return wrong
		}
		if !camelCase.MatchString(key) {
			wrong = append(wrong, "log key "+strconv.Quote(key)+" must be camelCase")
		}
		for _, known := range logKeys() {
			if key != known && strings.EqualFold(key, known) {
				wrong = append(wrong, "log key "+strconv.Quote(key)+" must be spelled "+known)
			}
		}
	}
	return wrong
}

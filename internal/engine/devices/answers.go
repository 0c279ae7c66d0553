package devices

import (
	"fmt"
	"slices"
	"strings"
)

// answers caches the results of a Matcher by the device properties that an expression can see. Expressions rarely read attributes that
// differ from device to device, such as UUIDs. So if an expression reads only attributes whose names it contains, it is evaluated once for
// all devices with the same values of these attributes.
type answers struct {
	matcher Matcher
	known   map[answerKey]answer
	// named caches whether an expression contains a name, by expression and name.
	named map[string]map[string]bool
}

type answerKey struct{ expression, seen string }

type answer struct {
	matches bool
	err     error
}

func newAnswers(m Matcher) *answers {
	return &answers{matcher: m, known: map[answerKey]answer{}, named: map[string]map[string]bool{}}
}

// ask returns the result of the matcher for the expression and the device.
func (a *answers) ask(expression string, d *device) (bool, error) {
	key := answerKey{expression, a.seen(expression, d)}
	known, ok := a.known[key]
	if !ok {
		known.matches, known.err = a.matcher.Matches(expression, d.id.Driver, d.object)
		a.known[key] = known
	}
	return known.matches, known.err
}

// seen returns, as text, the properties of the device that the expression can see.
func (a *answers) seen(expression string, d *device) string {
	named := a.named[expression]
	if named == nil {
		named = map[string]bool{}
		a.named[expression] = named
	}
	all := iterates(expression)
	sees := func(name string) bool {
		yes, known := named[name]
		if !known {
			yes = all || mentions(expression, name)
			named[name] = yes
		}
		return yes
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %t", d.id.Driver, d.shared)
	for _, name := range sortedKeys(d.object.Attributes) {
		if sees(string(name)) {
			v := valueOf(d.object.Attributes[name])
			fmt.Fprintf(&b, " %q=%c%q/%d", name, v.kind, v.text, v.int)
		}
	}
	for i := range d.capacity {
		if c := &d.capacity[i]; sees(string(c.name)) {
			fmt.Fprintf(&b, " %q:%s", c.name, c.format.String())
		}
	}
	return b.String()
}

// iterates reports whether the expression may read attributes that it does not name, because it iterates over maps or computes names.
func iterates(expression string) bool {
	if slices.ContainsFunc([]string{"exists", "all(", "map(", "filter(", "size(", "+", "format", "replace", "lowerAscii", "upperAscii", "join", "substring", "?"},
		func(part string) bool { return strings.Contains(expression, part) }) {
		return true
	}
	for i := range len(expression) {
		if expression[i] == '[' && !literal(expression[i+1:]) {
			return true
		}
		if before, found := strings.CutSuffix(expression[:i], " in "); found && !strings.HasSuffix(before, `"`) && !strings.HasSuffix(before, "'") {
			return true
		}
	}
	return false
}

// literal reports whether the text begins with a quoted string.
func literal(text string) bool { return strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "'") }

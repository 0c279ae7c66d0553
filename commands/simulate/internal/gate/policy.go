package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/drawknife/drawknife/internal/spelling"
)

// APIVersion and Kind are the apiVersion and the kind of a policy.
const (
	APIVersion = "drawknife.dev/v1"
	Kind       = "ChangePolicy"
)

// MaxBytes is the size of the largest policy that is read.
const MaxBytes = 1 << 20

// maxFaults is the maximum number of listed faults of a policy.
const maxFaults = 20

// Level decides the effect of a broken rule.
type Level string

const (
	// LevelError means that a broken rule changes the exit status. It is the default.
	LevelError Level = "error"
	// LevelWarning means that a broken rule is only reported.
	LevelWarning Level = "warning"
)

// Policy is a set of limits for changes of a cluster. The zero value has no rules.
type Policy struct {
	// File is the name of the file in messages, and Name is metadata.name, which may be empty.
	File, Name string
	// Rules are the rules of the policy, in the order of Rules().
	Rules []PolicyRule
}

// PolicyRule is a rule of a policy.
type PolicyRule struct {
	// Name is the name of a Rule.
	Name  string
	Level Level
	// Limits are the limits by field.
	Limits map[string]float64
	// Except are patterns NAMESPACE/NAME of workloads that the rule ignores. In a pattern, * stands for any text without a slash.
	Except []string
	// Line is the line of the rule in the file, from 1.
	Line int
}

// Has reports whether the policy has a rule of this name.
func (p *Policy) Has(name string) bool {
	return p != nil && slices.ContainsFunc(p.Rules, func(r PolicyRule) bool { return r.Name == name })
}

// Fault is one error in a policy.
type Fault struct {
	// File and Line are the position of the fault. The first line is 1.
	File string
	Line int
	// Object is the kind and the name of the policy. Path is the path of the field; empty if the fault concerns the whole document.
	Object, Path string
	// Message says what is wrong, and what to write instead.
	Message string
}

func (f *Fault) Error() string {
	text := fmt.Sprintf("%s:%d: %s: ", f.File, f.Line, f.Object)
	if f.Path != "" {
		text += f.Path + ": "
	}
	return text + f.Message
}

// Read reads a policy. The error joins a *Fault for each error in the policy, or is the error of r.
func Read(name string, r io.Reader) (*Policy, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the policy %s: %w", name, err)
	}
	if len(data) > MaxBytes {
		return nil, &Fault{File: name, Line: 1, Object: Kind, Message: fmt.Sprintf("is larger than %d bytes, which no policy needs: is it the right file?", MaxBytes)}
	}
	return Parse(name, data)
}

// Parse reads a policy from its text; see Read.
func Parse(name string, data []byte) (*Policy, error) {
	p := &parser{policy: &Policy{File: name}, object: Kind}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, more yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		p.fault(&yaml.Node{Line: 1}, "", "the file has no document; write apiVersion: %s, kind: %s and spec", APIVersion, Kind)
	case err != nil:
		p.fault(&yaml.Node{Line: 1}, "", "is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	case len(document.Content) != 1:
		p.fault(&yaml.Node{Line: 1}, "", "the file has no document; write apiVersion: %s, kind: %s and spec", APIVersion, Kind)
	default:
		p.document(document.Content[0])
		if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
			p.fault(&more, "", "the file has several documents; a policy is one: remove the others")
		}
	}
	if len(p.faults) > 0 {
		return nil, errors.Join(p.faults...)
	}
	return p.policy, nil
}

// parser reads the nodes of a document into a policy, and collects its faults.
type parser struct {
	policy *Policy
	object string
	faults []error
}

func (p *parser) fault(at *yaml.Node, path, format string, args ...any) {
	if len(p.faults) < maxFaults {
		p.faults = append(p.faults, &Fault{File: p.policy.File, Line: max(at.Line, 1), Object: p.object, Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

// field is a field of a mapping with its value.
type field struct {
	name       string
	key, value *yaml.Node
}

// fields returns the fields of a mapping in the order of the file. It reports unknown and repeated fields.
func (p *parser) fields(n *yaml.Node, path string, known ...string) []field {
	if n.Kind != yaml.MappingNode {
		p.fault(n, path, "must be a mapping with the fields %s", strings.Join(known, ", "))
		return nil
	}
	var list []field
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := join(path, key.Value)
		switch {
		case key.Kind != yaml.ScalarNode || value.Kind == yaml.AliasNode:
			p.fault(key, path, "anchors, aliases and keys that are not text are not read: write the fields out")
		case first[key.Value] > 0:
			p.fault(key, at, "is given twice, first in line %d: remove one of them", first[key.Value])
		case !slices.Contains(known, key.Value):
			p.fault(key, at, "%s", unknown(key.Value, known))
		default:
			list = append(list, field{key.Value, key, value})
		}
		first[key.Value] = max(key.Line, 1)
	}
	return list
}

func unknown(name string, known []string) string {
	if near := spelling.Nearest(name, known); len(near) > 0 {
		return "there is no such field; did you mean " + strings.Join(near, " or ") + "?"
	}
	return "there is no such field; the fields here are " + strings.Join(known, ", ")
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (p *parser) document(n *yaml.Node) {
	list := p.fields(n, "", "apiVersion", "kind", "metadata", "spec")
	of := map[string]*yaml.Node{}
	for _, f := range list {
		of[f.name] = f.value
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	p.constant(n, of["apiVersion"], "apiVersion", APIVersion)
	p.constant(n, of["kind"], "kind", Kind)
	if of["metadata"] != nil {
		p.metadata(of["metadata"])
	}
	if of["spec"] == nil {
		p.fault(n, "spec", "is missing: write at least one rule of %s", ruleNames())
		return
	}
	p.spec(of["spec"])
}

func (p *parser) constant(document, n *yaml.Node, path, want string) {
	switch {
	case n == nil:
		p.fault(document, path, "is missing: write %s: %s", path, want)
	case n.Kind != yaml.ScalarNode || n.Value != want:
		p.fault(n, path, "is %q: must be %s", n.Value, want)
	}
}

func (p *parser) metadata(n *yaml.Node) {
	for _, f := range p.fields(n, "metadata", "name", "labels", "annotations") {
		if f.name != "name" {
			continue // for other tools
		}
		if text, ok := p.text(f.value, "metadata.name"); ok {
			p.policy.Name, p.object = text, Kind+" "+text
		}
	}
}

// The method text returns the value of n, and true if it is a text of one line. Otherwise it adds a fault and returns false.
func (p *parser) text(n *yaml.Node, path string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" || n.Value == "" || strings.ContainsAny(n.Value, "\r\n") || len(n.Value) > 253 {
		p.fault(n, path, "must be a text of one line with at most 253 characters")
		return "", false
	}
	return n.Value, true
}

func (p *parser) spec(n *yaml.Node) {
	rules := Rules()
	var names []string
	for _, r := range rules {
		names = append(names, r.Name)
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" || n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		p.fault(n, "spec", "has no rule: write at least one of %s", ruleNames())
		return
	}
	for _, f := range p.fields(n, "spec", names...) {
		p.rule(&rules[slices.Index(names, f.name)], f)
	}
	slices.SortFunc(p.policy.Rules, func(a, b PolicyRule) int { return slices.Index(names, a.Name) - slices.Index(names, b.Name) })
}

func (p *parser) rule(r *Rule, f field) {
	at := "spec." + r.Name
	var limits []string
	for _, l := range r.Limits {
		limits = append(limits, l.Field)
	}
	if f.value.Kind == yaml.ScalarNode {
		p.fault(f.value, at, "must be a mapping with a limit, such as {%s: 5}; the limits are %s", limits[0], strings.Join(limits, ", "))
		return
	}
	known := append(slices.Clone(limits), "level")
	if r.hasExceptions() {
		known = append(known, "except")
	}
	rule := PolicyRule{Name: r.Name, Level: LevelError, Limits: map[string]float64{}, Line: f.key.Line}
	before := len(p.faults)
	for _, f := range p.fields(f.value, at, known...) {
		switch path := at + "." + f.name; f.name {
		case "level":
			rule.Level = p.level(f.value, path)
		case "except":
			rule.Except = p.patterns(f.value, path)
		default:
			limit := r.Limits[slices.Index(limits, f.name)]
			rule.Limits[f.name] = p.amount(f.value, path, limit.Unit)
		}
	}
	if len(rule.Limits) == 0 && len(p.faults) == before {
		p.fault(f.value, at, "has no limit: write at least one of %s, or remove the rule", strings.Join(limits, ", "))
	}
	if least, ok := rule.Limits["minPercent"]; ok {
		if most, ok := rule.Limits["maxPercent"]; ok && most < least {
			p.fault(f.value, at, "no value is at least %v and at most %v percent: exchange them", least, most)
		}
	}
	p.policy.Rules = append(p.policy.Rules, rule)
}

func (p *parser) level(n *yaml.Node, path string) Level {
	if l := Level(n.Value); n.Kind == yaml.ScalarNode && (l == LevelError || l == LevelWarning) {
		return l
	}
	p.fault(n, path, "is %q: must be error or warning", n.Value)
	return LevelError
}

func (p *parser) patterns(n *yaml.Node, path string) []string {
	if n.Kind != yaml.SequenceNode {
		p.fault(n, path, "must be a list of workloads, such as [kube-system/*, batch/report]")
		return nil
	}
	var list []string
	for i, item := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		if item.Kind == yaml.AliasNode {
			p.fault(item, at, "anchors and aliases are not read: write the value out")
			continue
		}
		text, ok := p.text(item, at)
		if !ok {
			continue
		}
		if !validPattern(text) {
			p.fault(item, at, "%q: must be NAMESPACE/NAME, in which * stands for any text, such as kube-system/*", text)
			continue
		}
		list = append(list, text)
	}
	return list
}

func validPattern(pattern string) bool {
	_, err := path.Match(pattern, "")
	namespace, name, found := strings.Cut(pattern, "/")
	return err == nil && found && namespace != "" && name != "" && !strings.Contains(name, "/")
}

// matches reports whether a pattern of a policy matches the object's namespace and name.
func matches(pattern string, o Object) bool {
	ok, err := path.Match(pattern, o.Namespace+"/"+o.Name)
	return ok && err == nil
}

// amount returns a limit. It must be a number that is not negative.
func (p *parser) amount(n *yaml.Node, path string, u unit) float64 {
	example := map[unit]string{dollarsPerMonth: "200 for $200 a month", percent: "5 for 5 percent"}[u]
	if example == "" {
		example = "3 for 3 " + string(u) + "s"
	}
	var amount float64
	tag := n.ShortTag()
	switch {
	case n.Kind == yaml.ScalarNode && tag == "!!null":
		p.fault(n, path, "is empty: write a number, such as %s, or remove the field", example)
	case n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float":
		p.fault(n, path, "is %q: must be a number without a unit, such as %s", n.Value, example)
	case n.Decode(&amount) != nil || math.IsNaN(amount) || math.IsInf(amount, 0):
		p.fault(n, path, "is %s: must be a number, such as %s", n.Value, example)
	case amount < 0:
		p.fault(n, path, "is %s: must not be negative; 0 allows none", n.Value)
	case amount > u.highest():
		p.fault(n, path, "is %s: must be at most %v; to allow any amount, remove the field", n.Value, u.highest())
	case u.whole() && amount != math.Trunc(amount):
		p.fault(n, path, "is %s: must be a whole number, such as %s", n.Value, example)
	default:
		return amount
	}
	return 0
}

package crds

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Steps of a place in a schema that are not names of properties.
const (
	item  = "[]"
	value = "{}"
)

// constraint is what a schema says about the values of one place, its rules left out.
type constraint struct {
	// at is the way there: names of properties, item and value.
	at []string
	// name of the constraint: "maximum", or "required x" for a property x of the place.
	name string
	// breaks makes a value that breaks the constraint of one that does not; what it is given may be nil.
	breaks func(good any) any
	// as is the type of the API server's error, says a part of it. The error is at the place, or at the property that is required.
	as   field.ErrorType
	says string
}

// place is the constraint's with the field that its error names last.
func (c constraint) place() []string {
	if name, ok := strings.CutPrefix(c.name, "required "); ok {
		return append(slices.Clone(c.at), name)
	}
	return c.at
}

func (c constraint) String() string { return strings.Join(c.at, ".") + ": " + c.name }

// constraints are all of a schema but those of metadata, which are the API server's own.
func constraints(s *schema.Structural) []constraint {
	var out []constraint
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if name == "apiVersion" || name == "kind" || name == "metadata" {
			continue
		}
		property := s.Properties[name]
		out = append(out, below([]string{name}, &property)...)
	}
	if s.ValueValidation != nil {
		for _, name := range s.ValueValidation.Required {
			if name != "metadata" {
				out = append(out, required(nil, name))
			}
		}
	}
	return out
}

func below(at []string, s *schema.Structural) []constraint {
	out := own(at, s)
	step := func(name string, next *schema.Structural) {
		out = append(out, below(append(slices.Clone(at), name), next)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		step(name, &property)
	}
	if s.Items != nil {
		step(item, s.Items)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		step(value, s.AdditionalProperties.Structural)
	}
	return out
}

func required(at []string, name string) constraint {
	return constraint{at: at, name: "required " + name, as: field.ErrorTypeRequired, breaks: func(good any) any {
		object, _ := good.(map[string]any)
		object = maps.Clone(object)
		if object == nil {
			object = map[string]any{}
		}
		delete(object, name)
		return object
	}}
}

// own are the constraints of a place itself.
func own(at []string, s *schema.Structural) []constraint {
	var out []constraint
	add := func(name string, as field.ErrorType, says string, breaks func(good any) any) {
		out = append(out, constraint{at: at, name: name, as: as, says: says, breaks: breaks})
	}
	always := func(bad any) func(any) any { return func(any) any { return bad } }
	kind := s.Type
	if s.ValueValidation != nil && s.ValueValidation.Format != "" {
		kind = s.ValueValidation.Format
	}
	switch s.Type {
	case "object", "array":
		add("type", field.ErrorTypeTypeInvalid, "must be of type "+kind, always("text"))
	case "":
	default:
		add("type", field.ErrorTypeTypeInvalid, "must be of type "+kind, always(map[string]any{}))
	}
	if s.XListType != nil && *s.XListType != "atomic" {
		add("distinct", field.ErrorTypeDuplicate, "", func(good any) any { return append(entries(good, 1), entries(good, 1)...) })
	}
	v := s.ValueValidation
	if v == nil {
		return out
	}
	for _, name := range v.Required {
		if property := s.Properties[name]; property.Default.Object == nil { // else it is filled in
			out = append(out, required(at, name))
		}
	}
	if len(v.Enum) > 0 {
		add("enum", field.ErrorTypeNotSupported, "", always("Nonsense"))
	}
	if v.Pattern != "" {
		add("pattern", field.ErrorTypeInvalid, "should match", always(mismatch(v.Pattern)))
	}
	if v.Minimum != nil {
		add("minimum", field.ErrorTypeInvalid, "should be greater than or equal to", always(int64(*v.Minimum)-1))
	}
	if v.Maximum != nil {
		add("maximum", field.ErrorTypeInvalid, "should be less than or equal to", always(int64(*v.Maximum)+1))
	}
	if v.MinLength != nil {
		add("minLength", field.ErrorTypeInvalid, "should be at least", always(strings.Repeat("a", int(*v.MinLength)-1)))
	}
	if v.MaxLength != nil {
		add("maxLength", field.ErrorTypeTooLong, "", always(strings.Repeat("a", int(*v.MaxLength)+1)))
	}
	if v.MinItems != nil {
		add("minItems", field.ErrorTypeInvalid, "should have at least", always([]any{}))
	}
	if v.MaxItems != nil {
		add("maxItems", field.ErrorTypeTooMany, "", func(good any) any { return entries(good, int(*v.MaxItems)+1) })
	}
	if v.MaxProperties != nil {
		add("maxProperties", field.ErrorTypeTooMany, "", func(good any) any {
			one := any("1")
			if object, _ := good.(map[string]any); len(object) > 0 {
				one = object[slices.Sorted(maps.Keys(object))[0]]
			}
			many := make(map[string]any)
			for i := range int(*v.MaxProperties) + 1 {
				many[fmt.Sprintf("key-%d", i)] = one
			}
			return many
		})
	}
	if v.Format == "date-time" {
		add("format", field.ErrorTypeTypeInvalid, "must be of type date-time", always("today"))
	}
	return out
}

// entries is a list of n times the first entry of a good one.
func entries(good any, n int) []any {
	one := any(map[string]any{})
	if list, _ := good.([]any); len(list) > 0 {
		one = list[0]
	}
	return slices.Repeat([]any{one}, n)
}

// mismatch is a text that a pattern does not match.
func mismatch(pattern string) string {
	p := regexp.MustCompile(pattern)
	for _, text := range []string{"a b", "!", "-1", "", "%", "a/b"} {
		if !p.MatchString(text) {
			return text
		}
	}
	panic("all texts match " + pattern)
}

// broken is the object with the constraint broken, and the field that its error names. Places that the object lacks are made up.
func (c constraint) broken(good map[string]any) (bad map[string]any, at []string) {
	bad = (&unstructured.Unstructured{Object: good}).DeepCopy().Object
	out, at := change(bad, c.at, c.breaks)
	if name, ok := strings.CutPrefix(c.name, "required "); ok {
		at = append(at, name)
	}
	if c.name == "distinct" {
		at = append(at, "[1]")
	}
	return out.(map[string]any), at
}

// change is the value with what is at the place changed, and the place with its indices and keys.
func change(in any, at []string, breaks func(any) any) (out any, where []string) {
	if len(at) == 0 {
		return breaks(in), nil
	}
	var changed any
	switch step := at[0]; step {
	case item:
		list, _ := in.([]any)
		list = slices.Clone(list)
		if len(list) == 0 {
			list = []any{nil}
		}
		changed, where = change(list[0], at[1:], breaks)
		list[0] = changed
		return list, append([]string{"[0]"}, where...)
	default:
		object, _ := in.(map[string]any)
		object = maps.Clone(object)
		if object == nil {
			object = map[string]any{}
		}
		if step == value {
			step = "cpu" // for what is there may be a quantity, whose keys are resources
			if keys := slices.Sorted(maps.Keys(object)); len(keys) > 0 {
				step = keys[0]
			}
		}
		changed, where = change(object[step], at[1:], breaks)
		object[step] = changed
		return object, append([]string{step}, where...)
	}
}

// fieldNames are the ways in which the API server's parts write a place: keys of maps as properties, or in brackets.
func fieldNames(at []string, schema []string) (asProperties, inBrackets string) {
	for i, step := range at {
		switch {
		case step[0] == '[':
			asProperties, inBrackets = asProperties+step, inBrackets+step
		case i < len(schema) && schema[i] == value:
			asProperties, inBrackets = asProperties+"."+step, inBrackets+"["+step+"]"
		default:
			asProperties, inBrackets = asProperties+"."+step, inBrackets+"."+step
		}
	}
	return strings.TrimPrefix(asProperties, "."), strings.TrimPrefix(inBrackets, ".")
}

// Every constraint of every schema refuses an object that breaks it alone, and says where.
func TestConstraints(t *testing.T) {
	for generation, all := range map[string]map[string]*judged{"present": kinds(t), "old": oldKinds(t)} {
		n := 0
		for kind, k := range all {
			for _, c := range constraints(k.judge.structural) {
				n++
				bad, at := c.broken(k.good)
				_, errs := k.judge.Admit(t.Context(), &unstructured.Unstructured{Object: bad}, nil)
				if c.refused(errs, at) == nil {
					t.Errorf("%s: %v is broken, and the API server says %v", kind, c, errs.ToAggregate())
				}
			}
		}
		if n < 100 {
			t.Errorf("the %s generation has %d constraints: most are not seen", generation, n)
		}
		t.Logf("%s: %d constraints", generation, n)
	}
}

// refused is the error among them that the constraint makes; nil if there is none.
func (c constraint) refused(errs field.ErrorList, at []string) *field.Error {
	one, other := fieldNames(at, c.place())
	for _, e := range errs {
		if e.Type == c.as && (e.Field == one || e.Field == other) && strings.Contains(e.Error(), c.says) {
			return e
		}
	}
	return nil
}

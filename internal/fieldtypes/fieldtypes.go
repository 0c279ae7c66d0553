// Package fieldtypes reports which fields of a document that can't be decoded have values of the wrong type. A decoder stops at the first
// such field and, for quantities and durations, does not name it.
package fieldtypes

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	sigsjson "sigs.k8s.io/json"

	"github.com/drawknife/drawknife/internal/quantities"
)

// Fault is a field whose value does not have the type it should.
type Fault struct {
	// Path is the path of the field, for example "spec.limits[cpu]".
	Path string
	// Message names the type that the value must have and the kind of value that it has.
	Message string
}

// Faults compares a JSON document with the type into which it could not be decoded. It returns every field whose value does not fit the
// type, sorted by name. Unknown fields are no faults. It returns nil if the document is not JSON, or if all values fit.
func Faults(document []byte, into reflect.Type) []Fault {
	var root any
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(document, &root); err != nil {
		return nil
	}
	var d diagnosis
	d.visit(root, into, "")
	return d.found
}

type diagnosis struct{ found []Fault }

func (d *diagnosis) visit(value any, t reflect.Type, path string) {
	if value == nil {
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case DecodesItself(t):
		d.leaf(value, t, path)
	case t.Kind() == reflect.Struct:
		d.pairs(value, path, func(key string, below any) {
			if member, ok := Member(t, key); ok {
				d.visit(below, member, strings.TrimPrefix(path+"."+key, "."))
			}
		})
	case t.Kind() == reflect.Map:
		d.pairs(value, path, func(key string, below any) { d.visit(below, t.Elem(), path+"["+key+"]") })
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		items, ok := value.([]any)
		if !ok {
			d.add(path, "must be a list, not "+describe(value))
		}
		for i, item := range items {
			d.visit(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		d.leaf(value, t, path)
	}
}

func (d *diagnosis) pairs(value any, path string, visit func(key string, below any)) {
	object, ok := value.(map[string]any)
	if !ok {
		d.add(path, "must be an object, not "+describe(value))
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		visit(key, object[key])
	}
}

func (d *diagnosis) add(path, message string) { d.found = append(d.found, Fault{path, message}) }

// leaf tries to decode a single value, and records a fault if this fails.
func (d *diagnosis) leaf(value any, t reflect.Type, path string) {
	text, err := json.Marshal(value)
	if err != nil {
		return
	}
	if err := quantities.CheckJSON(text, t); err != nil {
		d.add(path, "must be "+Wanted(t)+": "+err.Error())
		return
	}
	err = sigsjson.UnmarshalCaseSensitivePreserveInts(text, reflect.New(t).Interface())
	if err == nil {
		return
	}
	message := fmt.Sprintf("must be %s, not %s", Wanted(t), describe(value))
	_, object := value.(map[string]any)
	_, list := value.([]any)
	switch {
	case t.Kind() == reflect.String && !object && !list && !DecodesItself(t):
		message += "; put it in quotes"
	case DecodesItself(t) && !reflect.PointerTo(t).Implements(reflect.TypeFor[Wanter]()):
		message += ": " + err.Error()
	}
	d.add(path, message)
}

// describe names the kind of value in the document.
func describe(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case string:
		if runes := []rune(v); len(runes) > 40 {
			v = string(runes[:40]) + "…"
		}
		return strconv.Quote(v)
	}
	return fmt.Sprintf("the number %v", value)
}

// DecodesItself reports whether the type has its own method to read JSON or text.
func DecodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// Member finds the type of a struct's field by the field's name in JSON. It also searches embedded structs that have no JSON name.
func Member(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case tag == "-":
		case tag == name:
			return field.Type, true
		case tag == "" && field.Anonymous && field.Type.Kind() == reflect.Struct:
			if found, ok := Member(field.Type, name); ok {
				return found, true
			}
		}
	}
	return nil, false
}

// Wanter is a type with its own JSON form. Wanted returns a description of this form for people, such as "a number or text".
type Wanter interface{ Wanted() string }

// Wanted returns a name of the type for error messages.
func Wanted(t reflect.Type) string {
	if w, ok := reflect.New(t).Interface().(Wanter); ok {
		return w.Wanted()
	}
	switch t.Name() {
	case "Quantity":
		return `a quantity such as "500m" or "2Gi"`
	case "IntOrString":
		return "a number or text"
	case "Time", "MicroTime":
		return `a time such as "2026-01-31T12:00:00Z"`
	case "Duration", "NillableDuration":
		return `a duration such as "1h30m"`
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number that is not negative"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "base64 text"
	}
	return "a " + t.Name()
}

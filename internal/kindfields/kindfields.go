// Package kindfields records which fields of an API kind are set in the objects of a test. With it, a test fails if a new field of the kind
// is not tested.
package kindfields

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Seen are the fields that the objects of a test set. The zero value has no fields.
type Seen struct{ seen map[string]bool }

// Note records which fields of the object are set.
func (f *Seen) Note(object any) {
	if f.seen == nil {
		f.seen = make(map[string]bool)
	}
	f.note(reflect.ValueOf(object), "")
}

func (f *Seen) note(v reflect.Value, path string) {
	// If a pointer is not nil, its value counts as set, even if it is zero.
	set := false
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v, set = v.Elem(), true
	}
	if !set && v.IsZero() {
		return
	}
	f.seen[path] = true
	switch {
	case isLeaf(v.Type()):
	case v.Kind() == reflect.Struct:
		for _, m := range members(v.Type(), path) {
			f.note(v.FieldByIndex(m.index), m.path)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			f.note(v.Index(i), path+"[]")
		}
	case v.Kind() == reflect.Map:
		for _, key := range v.MapKeys() {
			f.note(v.MapIndex(key), path+"[]")
		}
	}
}

// Complete fails t for each field of the object's kind that was not set in any object given to Note. It ignores fields at or below the
// paths in except, such as "spec.requirements[].minValues".
func (f *Seen) Complete(t testing.TB, object any, except ...string) {
	t.Helper()
	all := make(map[string]bool)
	paths(reflect.TypeOf(object), "", all)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		excepted := slices.ContainsFunc(except, func(e string) bool {
			return path == e || strings.HasPrefix(path, e+".") || strings.HasPrefix(path, e+"[")
		})
		switch {
		case !excepted && !f.seen[path]:
			t.Errorf("%T: no object of the test has %s", object, path)
		case excepted && f.seen[path]:
			t.Errorf("%T: %s is excepted, and an object of the test has it", object, path)
		}
	}
}

// paths returns the paths of the fields of a type, including nested fields.
func paths(t reflect.Type, path string, into map[string]bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if path != "" {
		into[path] = true
	}
	switch {
	case isLeaf(t):
	case t.Kind() == reflect.Struct:
		for _, m := range members(t, path) {
			paths(t.FieldByIndex(m.index).Type, m.path, into)
		}
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		paths(t.Elem(), path+"[]", into)
	}
}

// isLeaf reports whether values of a type are single values: the type has a method that encodes it, or it has no fields.
func isLeaf(t reflect.Type) bool {
	for _, writes := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Implements(writes) || reflect.PointerTo(t).Implements(writes) {
			return true
		}
	}
	return false
}

type member struct {
	index []int
	path  string
}

// members returns the fields of a struct by their JSON names, including fields of embedded structs.
func members(t reflect.Type, path string) []member {
	var out []member
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			for _, m := range members(f.Type, path) {
				out = append(out, member{append([]int{i}, m.index...), m.path})
			}
		default:
			out = append(out, member{[]int{i}, strings.TrimPrefix(path+"."+name, ".")})
		}
	}
	return out
}

package surface_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/surface"
)

// No exported function or method of a public package panics on odd arguments, or takes for ever.
func TestPublic(t *testing.T) {
	functions, types := publicFunctions(), publicTypes()
	made := make(map[reflect.Type]bool) // what functions and methods return pointers to
	for _, of := range types {
		for i := range reflect.PointerTo(of).NumMethod() {
			for m, j := reflect.PointerTo(of).Method(i).Type, 0; j < m.NumOut(); j++ {
				if out := m.Out(j); out.Kind() == reflect.Pointer {
					made[out.Elem()] = true
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		f := reflect.ValueOf(functions[name])
		for i := range f.Type().NumOut() {
			if out := f.Type().Out(i); out.Kind() == reflect.Pointer {
				made[out.Elem()] = true
			}
		}
		switch {
		case strings.HasSuffix(name, ".AddToScheme"): // a zero runtime.Scheme is none, and panics in its own package
		case strings.HasSuffix(name, ".Main"): // takes the arguments of this process
		default:
			t.Run(name, func(t *testing.T) { surface.Function(t, f) })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if made[types[name]] && isClosed(types[name]) {
			continue
		}
		t.Run(name, func(t *testing.T) { surface.Type(t, types[name]) })
	}
}

// isClosed reports whether only its package can fill the type: where it also has a function that makes one, nobody has a zero value
// who did not ignore what that function is for.
func isClosed(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return false
		}
	}
	return t.NumField() > 0
}

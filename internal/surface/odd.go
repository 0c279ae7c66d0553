package surface

import (
	"context"
	"io"
	"math"
	"reflect"
	"strings"
)

// maxCombinations is the largest number of calls of one function.
const maxCombinations = 500

// combinations returns lists of arguments for a function: every combination of the odd values of its parameters, up to maxCombinations.
func combinations(of reflect.Type) [][]reflect.Value {
	all := [][]reflect.Value{nil}
	for i := range of.NumIn() {
		var next [][]reflect.Value
		// The first combination has the first value of every parameter. The call with these values runs most code, so this combination is
		// always in the list.
		for _, value := range odd(of.In(i), 3) {
			for _, head := range all {
				if len(next) < maxCombinations {
					next = append(next, append(head[:len(head):len(head)], value))
				}
			}
		}
		all = next
	}
	return all
}

// odd returns the values of a type that the test tries, with the zero value first. The parameter depth is the number of levels of nested
// values that it also fills with odd values.
func odd(t reflect.Type, depth int) []reflect.Value {
	values := []reflect.Value{reflect.Zero(t)}
	add := func(v any) { values = append(values, reflect.ValueOf(v).Convert(t)) }
	switch t.Kind() {
	case reflect.Bool:
		add(true)
	case reflect.Int, reflect.Int64:
		add(-1)
		add(math.MaxInt32)
		add(int64(math.MaxInt64))
		add(int64(math.MinInt64))
	case reflect.Int32:
		add(-1)
		add(math.MaxInt32)
	case reflect.Float64:
		add(-1.0)
		add(math.NaN())
		add(math.Inf(1))
	case reflect.String:
		add("\x00/=,")
		add("1e-999999999")
	case reflect.Pointer:
		values = append(values, reflect.New(t.Elem()))
		values = append(values, pointers(t, depth)...)
	case reflect.Struct:
		values = append(values, structs(t, depth)...)
	case reflect.Slice:
		values = append(values, slices(t, depth)...)
	case reflect.Map:
		values = append(values, reflect.MakeMap(t))
		values = append(values, maps(t, depth)...)
	case reflect.Func:
		values = append(values, reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
			var results []reflect.Value
			for i := range t.NumOut() {
				results = append(results, reflect.Zero(t.Out(i)))
			}
			return results
		}))
	case reflect.Interface:
		for _, known := range []any{context.Background(), strings.NewReader("- {a: [b"), io.Discard} {
			if t.NumMethod() > 0 && reflect.TypeOf(known).Implements(t) {
				values = append(values, reflect.ValueOf(known))
			}
		}
	}
	return values
}

// pointers returns pointers to odd values.
func pointers(t reflect.Type, depth int) []reflect.Value {
	if depth <= 0 {
		return nil
	}
	var values []reflect.Value
	for _, value := range odd(t.Elem(), depth-1)[1:] {
		p := reflect.New(t.Elem())
		p.Elem().Set(value)
		values = append(values, p)
	}
	return values
}

// structs returns structs with an odd value in every field. The i-th struct has the i-th odd value of each field.
func structs(t reflect.Type, depth int) []reflect.Value {
	if depth <= 0 {
		return nil
	}
	const most = 6
	var values []reflect.Value
	for n := 1; n < most; n++ {
		value, filled := reflect.New(t).Elem(), false
		for i := range t.NumField() {
			if !t.Field(i).IsExported() {
				continue
			}
			if choices := odd(t.Field(i).Type, depth-1); n < len(choices) {
				value.Field(i).Set(choices[n])
				filled = true
			}
		}
		if filled {
			values = append(values, value)
		}
	}
	return values
}

// slices returns an empty slice, a slice of one zero element, and a slice of two equal elements.
func slices(t reflect.Type, depth int) []reflect.Value {
	values := []reflect.Value{reflect.MakeSlice(t, 0, 0), reflect.MakeSlice(t, 1, 1)}
	if depth <= 0 {
		return values
	}
	for _, element := range odd(t.Elem(), depth-1) {
		twice := reflect.MakeSlice(t, 2, 2)
		twice.Index(0).Set(element)
		twice.Index(1).Set(element)
		values = append(values, twice)
	}
	return values
}

// maps returns values of map types, each with one entry whose key is the zero value.
func maps(t reflect.Type, depth int) []reflect.Value {
	if depth <= 0 {
		return nil
	}
	var values []reflect.Value
	for _, element := range odd(t.Elem(), depth-1) {
		full := reflect.MakeMap(t)
		full.SetMapIndex(reflect.Zero(t.Key()), element)
		values = append(values, full)
	}
	return values
}

// Package jsonstream writes documents that may be larger than memory as JSON.
//
// Stability: internal.
package jsonstream

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
)

// Write writes a document. The output has the same bytes as that of encoding/json with an indentation of two spaces. It writes lists
// element by element, because the document may be larger than memory.
func Write(w io.Writer, document any) error {
	j := stream{w: w}
	j.encoder = json.NewEncoder(&j.compact)
	j.encoder.SetEscapeHTML(false)
	fields := fieldsOf(reflect.Indirect(reflect.ValueOf(document)))
	if len(fields) == 0 {
		j.text("{}\n")
		return j.err
	}
	for i, f := range fields {
		lead := ",\n  "
		if i == 0 {
			lead = "{\n  "
		}
		j.text(lead)
		j.value(f.name, "")
		j.text(": ")
		j.field(f.value)
	}
	j.text("\n}\n")
	return j.err
}

// stream writes values until the first error.
type stream struct {
	w                 io.Writer
	encoder           *json.Encoder
	compact, indented bytes.Buffer
	err               error
}

func (j *stream) text(s string) {
	if j.err == nil {
		_, j.err = io.WriteString(j.w, s)
	}
}

// field writes the value of a field. It writes a list element by element.
func (j *stream) field(v reflect.Value) {
	if v.Kind() != reflect.Slice || v.Len() == 0 || v.Type().Elem().Kind() == reflect.Uint8 || v.Type().Implements(reflect.TypeFor[json.Marshaler]()) {
		j.value(v.Interface(), "  ")
		return
	}
	for i := range v.Len() {
		lead := ",\n    "
		if i == 0 {
			lead = "[\n    "
		}
		j.text(lead)
		j.value(v.Index(i).Interface(), "    ")
	}
	j.text("\n  ]")
}

// value writes a value. All lines except the first begin with prefix.
func (j *stream) value(v any, prefix string) {
	if j.err != nil {
		return
	}
	j.compact.Reset()
	j.indented.Reset()
	if j.err = j.encoder.Encode(v); j.err != nil {
		return
	}
	if j.err = json.Indent(&j.indented, bytes.TrimSuffix(j.compact.Bytes(), []byte("\n")), prefix, "  "); j.err != nil {
		return
	}
	_, j.err = j.w.Write(j.indented.Bytes())
}

// documentField is a field of a document, by the rules of encoding/json.
type documentField struct {
	name  string
	value reflect.Value
	depth int
}

// fieldsOf returns the fields of a struct to write, including those of embedded structs; of two fields with the same name, only the outer
// field is written.
func fieldsOf(document reflect.Value) []documentField {
	all := appendFields(nil, document, 0)
	least := make(map[string]int, len(all))
	for _, f := range all {
		if depth, ok := least[f.name]; !ok || f.depth < depth {
			least[f.name] = f.depth
		}
	}
	var out []documentField
	for _, f := range all {
		if f.depth == least[f.name] && f.value.IsValid() {
			out = append(out, f)
		}
	}
	return out
}

// appendFields appends all fields of a struct. A field that is left out is in the list without a value, because it still hides inner fields
// of the same name.
func appendFields(into []documentField, v reflect.Value, depth int) []documentField {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			if value.Kind() == reflect.Pointer {
				if value.IsNil() {
					continue
				}
				value = value.Elem()
			}
			into = appendFields(into, value, depth+1)
			continue
		case !field.IsExported() || name == "-":
			continue
		case name == "":
			name = field.Name
		}
		if leftOut(value, options) {
			value = reflect.Value{}
		}
		into = append(into, documentField{name, value, depth})
	}
	return into
}

// leftOut reports whether the options of the field's tag leave the value out.
func leftOut(v reflect.Value, options string) bool {
	switch {
	case strings.Contains(options, "omitempty"):
		switch v.Kind() {
		case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
			return v.Len() == 0
		case reflect.Struct:
			return false
		default:
			return v.IsZero()
		}
	case strings.Contains(options, "omitzero"):
		if zero, ok := v.Interface().(interface{ IsZero() bool }); ok {
			return zero.IsZero()
		}
		return v.IsZero()
	}
	return false
}

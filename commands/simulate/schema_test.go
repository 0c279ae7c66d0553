package simulate

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// documents are what is printed, by kind.
func documents() map[string]any {
	return map[string]any{
		kindPlan: document{}, kindConsolidationPlan: consolidationDocument{}, kindPoolComparison: differenceDocument{}, kindReplay: replayDocument{},
		kindPodExplanation: podExplanation{}, kindNodeExplanation: nodeExplanation{}, kindPoolExplanation: poolExplanation{},
	}
}

// The schemas in the folder of that name are those of what is printed, and what is printed keeps them: no key that they lack, none left
// out that they require.
func TestSchemas(t *testing.T) {
	schemas := map[string]map[string]any{}
	for kind, value := range documents() {
		schema := schemaOf(kind, value)
		text, err := json.MarshalIndent(schema, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, '\n')
		file := filepath.Join("schemas", strings.ToLower(kind)+".schema.json")
		if *update {
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(text)); diff != "" {
			t.Errorf("%s; refresh with -update (-committed +printed):\n%s", file, diff)
		}
		schemas[kind] = map[string]any{}
		if err := json.Unmarshal(text, &schema); err != nil { // as a validator reads it
			t.Fatal(err)
		}
		schemas[kind] = schema
	}
	seen := map[string]int{}
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var printed map[string]any
		if err := json.Unmarshal(text, &printed); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		kind, ok := printed["kind"].(string)
		if !ok {
			continue // a certificate
		}
		seen[kind]++
		v := validator{schema: schemas[kind]}
		v.check(filepath.Base(file), v.schema, printed)
		for _, fault := range v.faults {
			t.Error(fault)
		}
	}
	for kind := range documents() {
		if seen[kind] == 0 {
			t.Errorf("no golden file has a %s", kind)
		}
	}
	// The validator is none if it takes everything.
	v := validator{schema: schemas[kindPlan]}
	v.check("", v.schema, map[string]any{"apiVersion": 1.0, "more": true})
	if len(v.faults) < 5 {
		t.Errorf("faults of an odd document: %q", v.faults)
	}
}

// schemaOf is the JSON Schema of what encoding/json makes of a value.
func schemaOf(kind string, value any) map[string]any {
	w := schemaWriter{defs: map[string]any{}}
	root := w.object(reflect.TypeOf(value))
	root["$schema"], root["title"], root["$defs"] = "https://json-schema.org/draft/2020-12/schema", kind, w.defs
	properties := root["properties"].(map[string]any)
	properties["apiVersion"] = map[string]any{"const": documentVersion}
	properties["kind"] = map[string]any{"const": kind}
	return root
}

type schemaWriter struct{ defs map[string]any }

func (w schemaWriter) of(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "integer", "description": "nanoseconds"}
	case t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return written(t)
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Pointer:
		return w.of(t.Elem())
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": w.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": w.of(t.Elem())}
	case reflect.Struct:
		name := t.Name()
		if w.defs[name] == nil {
			w.defs[name] = map[string]any{} // it may have one of its own kind in it
			w.defs[name] = w.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	default:
		return map[string]any{"type": "integer"}
	}
}

// written is what a type that writes itself comes to, by the example of its zero value.
func written(t reflect.Type) map[string]any {
	text, err := json.Marshal(reflect.New(t).Interface())
	var value any
	if err != nil || json.Unmarshal(text, &value) != nil {
		return map[string]any{}
	}
	switch v := value.(type) {
	case string:
		return map[string]any{"type": "string"}
	case float64:
		return map[string]any{"type": "number"}
	case map[string]any:
		properties := map[string]any{}
		for key := range v {
			properties[key] = map[string]any{}
		}
		return map[string]any{"type": "object", "properties": properties}
	}
	return map[string]any{}
}

// object is the schema of a struct; fields of embedded ones are its own, after those that it has itself.
func (w schemaWriter) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	var embedded []reflect.Type
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			embedded = append(embedded, field.Type)
			continue
		case !field.IsExported() || name == "-":
			continue
		case name == "":
			name = field.Name
		}
		properties[name] = w.of(field.Type)
		if field.Type.Kind() == reflect.Slice && t.PkgPath() != reflect.TypeFor[document]().PkgPath() { // the planners' own lists may be null
			properties[name].(map[string]any)["type"] = []any{"array", "null"}
		}
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	for _, e := range embedded {
		if e.Kind() == reflect.Pointer {
			e = e.Elem()
		}
		inner := w.object(e)
		for name, schema := range inner["properties"].(map[string]any) {
			if properties[name] == nil {
				properties[name] = schema
			}
		}
		required = append(required, inner["required"].([]string)...)
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": properties, "required": slices.Compact(required)}
}

// validator holds documents to a schema, as far as schemaOf goes. A key that the schema does not know is a fault too.
type validator struct {
	schema map[string]any
	faults []string
}

func (v *validator) check(path string, schema map[string]any, value any) {
	if ref, ok := schema["$ref"].(string); ok {
		schema = v.schema["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if want, ok := schema["const"]; ok && want != value {
		v.fault("%s is %v, want %v", path, value, want)
	}
	if want, ok := schema["type"]; ok && !isOf(want, value) {
		v.fault("%s is %v, want %v", path, value, want)
		return
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			v.check(fmt.Sprintf("%s[%d]", path, i), schema["items"].(map[string]any), item)
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		others, open := schema["additionalProperties"].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(value)) {
			switch property, known := properties[key].(map[string]any); {
			case known:
				v.check(path+"."+key, property, value[key])
			case open:
				v.check(path+"."+key, others, value[key])
			case schema["type"] != nil:
				v.fault("%s: the schema has no %s", path, key)
			}
		}
		required, _ := schema["required"].([]any)
		for _, key := range required {
			if _, ok := value[key.(string)]; !ok {
				v.fault("%s lacks %s", path, key)
			}
		}
	}
}

func (v *validator) fault(format string, operands ...any) {
	v.faults = append(v.faults, fmt.Sprintf(format, operands...))
}

// isOf reports whether a value is of a type, or of one of several.
func isOf(want any, value any) bool {
	if several, ok := want.([]any); ok {
		return slices.ContainsFunc(several, func(one any) bool { return isOf(one, value) })
	}
	switch value := value.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	case string:
		return want == "string"
	case float64:
		return want == "number" || want == "integer" && value == float64(int64(value))
	case []any:
		return want == "array"
	default:
		return want == "object"
	}
}

package planning

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// chunk is the number of list elements that are converted to YAML at a time. It is small because the conversion needs a hundred times the
// memory of the text.
const chunk = 64

// encodeYAML writes the same bytes as yaml.Marshal, but in several parts.
func encodeYAML(w io.Writer, s *Snapshot) error {
	if s == nil {
		return writeYAML(w, s)
	}
	fields := snapshotFields(s)
	slices.SortFunc(fields, func(a, b snapshotField) int { return strings.Compare(a.name, b.name) })
	for _, f := range fields {
		if f.value.Kind() != reflect.Slice {
			if err := writeYAML(w, map[string]any{f.name: f.value.Interface()}); err != nil {
				return err
			}
			continue
		}
		if _, err := io.WriteString(w, f.name+":\n"); err != nil {
			return err
		}
		for from := 0; from < f.value.Len(); from += chunk {
			if err := writeYAML(w, f.value.Slice(from, min(from+chunk, f.value.Len())).Interface()); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeYAML(w io.Writer, value any) error {
	text, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding snapshot: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// snapshotField is a field of a snapshot that encodeYAML writes.
type snapshotField struct {
	name  string
	value reflect.Value
}

// snapshotFields returns the fields of the snapshot that are not empty. It always returns the field with the time.
func snapshotFields(s *Snapshot) []snapshotField {
	v := reflect.ValueOf(s).Elem()
	var out []snapshotField
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		field := v.Field(i)
		sized := field.Kind() == reflect.Slice || field.Kind() == reflect.Map
		if options != "" && (sized && field.Len() == 0 || !sized && field.IsZero()) {
			continue
		}
		out = append(out, snapshotField{name, field})
	}
	return out
}

package convert

import (
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// WriteYAML writes the objects in order, with "---" before every document but the first.
func WriteYAML(w io.Writer, objects []Converted) error {
	if w == nil {
		return field.Required(field.NewPath("w"), "give a writer")
	}
	for i, o := range objects {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			return fmt.Errorf("writing %s: %w", o.name(), err)
		}
		if i > 0 {
			text = append([]byte("---\n"), text...)
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON writes the objects in order: a single one as it is, several as the items of a List.
func WriteJSON(w io.Writer, objects []Converted) error {
	if w == nil {
		return field.Required(field.NewPath("w"), "give a writer")
	}
	var whole any
	if len(objects) == 1 {
		whole = objects[0].Object
	} else {
		items := make([]Object, len(objects))
		for i, o := range objects {
			items[i] = o.Object
		}
		whole = map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
	}
	text, err := json.MarshalIndent(whole, "", "    ")
	if err != nil {
		return fmt.Errorf("writing objects: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

package conversion

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

// Annotations for fields that the object's API version lacks, as JSON.
const (
	// LaterFieldsAnnotationKey, on objects of v1beta1, holds fields of v1.
	LaterFieldsAnnotationKey = "compatibility.drawknife.dev/v1-fields"
	// EarlierFieldsAnnotationKey, on objects of v1, holds fields of v1beta1.
	EarlierFieldsAnnotationKey = "compatibility.drawknife.dev/v1beta1-fields"
)

// field is a field whose value changes in a conversion to the other version and back.
type field struct {
	// Path is the list of names from the object to the field; the first is spec or status.
	Path []string `json:"path"`
	// Was is the field's value after the conversion to the other version and back; nil if the field is lost. If the field still has this
	// value when the object is converted back, Is replaces it.
	Was *json.RawMessage `json:"was,omitempty"`
	// Is is the original value; nil if the field was not set.
	Is *json.RawMessage `json:"is,omitempty"`
}

// The type named there is the conversion in one direction. It stores in an annotation the values that the other direction needs.
type there struct {
	// forth converts an object, and back converts the result back.
	forth, back func([]byte) (any, error)
	// check returns an error if the converted object has fields that are not in the Go type of the result of forth.
	check func([]byte) error
	// takes is the key of the annotation that is read from forth's input, if the input has it; leaves is the key of the annotation that is
	// written to the result.
	takes, leaves string
}

func (t there) convert(raw object) (object, error) {
	annotations := annotationsOf(raw)
	kept := annotations[t.takes]
	from := withAnnotations(raw, without(annotations, t.takes))
	plain, err := apply(t.forth, from)
	if err != nil {
		return nil, err
	}
	out := plain
	if fields := fieldsOf(kept); len(fields) > 0 {
		// An annotation may have been written by hand, but it must not make the object unreadable.
		if restored := put(plain, fields); t.sound(restored) {
			out = restored
		}
	}
	again, err := apply(t.back, out)
	if err != nil {
		return nil, err
	}
	// The API server owns the metadata; a conversion may only change annotations.
	converted := annotationsOf(out)
	if changed := append(difference([]string{"spec"}, below(again, "spec"), below(from, "spec")), difference([]string{"status"}, below(again, "status"), below(from, "status"))...); len(changed) > 0 {
		text, err := json.Marshal(changed)
		if err != nil {
			return nil, err
		}
		converted[t.leaves] = string(text)
	}
	metadata, _ := raw["metadata"].(object)
	out["metadata"] = maps.Clone(metadata)
	return withAnnotations(out, converted), nil
}

// sound reports whether the result has only fields of its type, and can be converted back.
func (t there) sound(o object) bool {
	text, err := json.Marshal(o)
	if err != nil || t.check(text) != nil {
		return false
	}
	_, err = apply(t.back, o)
	return err == nil
}

// below returns the object in a field, or nil if there is none.
func below(o object, name string) object {
	inner, _ := o[name].(object)
	return inner
}

// apply runs a typed conversion on an object.
func apply(convert func([]byte) (any, error), o object) (object, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	typed, err := convert(text)
	if err != nil {
		return nil, err
	}
	if text, err = json.Marshal(typed); err != nil {
		return nil, err
	}
	var out object
	return out, kjson.Unmarshal(text, &out)
}

// fieldsOf reads the fields in the text of an annotation. It ignores an unreadable annotation, and fields outside spec and status.
func fieldsOf(text string) []field {
	var fields []field
	if text == "" || json.Unmarshal([]byte(text), &fields) != nil {
		return nil
	}
	return slices.DeleteFunc(fields, func(f field) bool { return len(f.Path) < 2 || f.Path[0] != "spec" && f.Path[0] != "status" })
}

// difference returns the fields in which was and is differ. A list counts as one field.
func difference(path []string, was, is object) []field {
	var out []field
	names := slices.Sorted(maps.Keys(was))
	for name := range is {
		if _, both := was[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		before, there := was[name]
		after, kept := is[name]
		at := append(slices.Clone(path), name)
		inner, isObject := before.(object)
		innerAfter, isObjectAfter := after.(object)
		switch {
		case isObject && isObjectAfter:
			out = append(out, difference(at, inner, innerAfter)...)
		case there != kept || !reflect.DeepEqual(before, after):
			f := field{Path: at}
			if there {
				f.Was = raw(before)
			}
			if kept {
				f.Is = raw(after)
			}
			out = append(out, f)
		}
	}
	return out
}

func raw(value any) *json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte("null") // can't happen, because the value was read from JSON
	}
	message := json.RawMessage(text)
	return &message
}

// put returns the object in which each field that still has the value Was has its original value Is again.
func put(o object, fields []field) object {
	out := copied(o)
	for _, f := range fields {
		into := out
		for i, name := range f.Path[:len(f.Path)-1] {
			inner, ok := into[name].(object)
			// A missing status is created; a spec always exists.
			if _, there := into[name]; !ok && (there || f.Was != nil || f.Is == nil || i == 0 && name == "spec") {
				into = nil
				break
			}
			if !ok {
				inner = object{}
				into[name] = inner
			}
			into = inner
		}
		if into == nil {
			continue
		}
		last := f.Path[len(f.Path)-1]
		now, there := into[last]
		if there != (f.Was != nil) || there && !reflect.DeepEqual(now, value(f.Was)) {
			continue // the field was changed after the conversion
		}
		if f.Is == nil {
			delete(into, last)
		} else {
			into[last] = value(f.Is)
		}
	}
	return out
}

func value(text *json.RawMessage) any {
	var out any
	if text == nil || kjson.Unmarshal(*text, &out) != nil {
		return nil
	}
	return out
}

// copied returns the object with copied maps; lists are shared, because they are never written to.
func copied(o object) object {
	out := maps.Clone(o)
	for name, v := range out {
		if inner, ok := v.(object); ok {
			out[name] = copied(inner)
		}
	}
	return out
}

// annotationsOf returns the object's annotations, in a new map.
func annotationsOf(o object) map[string]string {
	out := make(map[string]string)
	metadata, _ := o["metadata"].(object)
	annotations, _ := metadata["annotations"].(object)
	for key, v := range annotations {
		if text, ok := v.(string); ok {
			out[key] = text
		}
	}
	return out
}

func without(annotations map[string]string, key string) map[string]string {
	delete(annotations, key)
	return annotations
}

// withAnnotations returns the object with exactly these annotations.
func withAnnotations(o object, annotations map[string]string) object {
	out := maps.Clone(o)
	metadata, _ := o["metadata"].(object)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = object{}
	}
	delete(metadata, "annotations")
	if len(annotations) > 0 {
		written := make(object, len(annotations))
		for key, text := range annotations {
			written[key] = text
		}
		metadata["annotations"] = written
	}
	out["metadata"] = metadata
	return out
}

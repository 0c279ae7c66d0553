package gate

import "encoding/json"

// object is a JSON object; encoding/json sorts its keys.
type object = map[string]any

// Schema returns the JSON Schema of a policy.
func Schema() ([]byte, error) {
	rules := object{}
	for _, r := range Rules() {
		properties := object{"level": object{"enum": []string{string(LevelError), string(LevelWarning)}, "default": string(LevelError), "description": "warning reports a broken rule without an exit status"}}
		var anyOf []object
		for _, l := range r.Limits {
			words := "At most this many "
			if l.Least {
				words = "At least this many "
			}
			switch l.Unit {
			case percent:
				words = "Limit of: "
			case dollarsPerMonth:
				words = "At most this "
			}
			p := object{"type": "number", "minimum": 0, "maximum": l.Unit.highest(), "description": words + l.About + "."}
			if l.Unit.whole() {
				p["type"] = "integer"
			}
			properties[l.Field] = p
			anyOf = append(anyOf, object{"required": []string{l.Field}})
		}
		if r.hasExceptions() {
			properties["except"] = object{
				"type": "array", "items": object{"type": "string", "pattern": "^[^/]+/[^/]+$", "maxLength": 253},
				"description": "Workloads that don't count: NAMESPACE/NAME, in which * stands for any text without a slash.",
			}
		}
		rules[r.Name] = object{"type": "object", "additionalProperties": false, "anyOf": anyOf, "properties": properties, "description": "Limits " + r.About + "."}
	}
	text := object{"type": "string", "minLength": 1, "maxLength": 253}
	schema := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": Kind, "type": "object", "additionalProperties": false,
		"required": []string{"apiVersion", "kind", "spec"},
		"properties": object{
			"apiVersion": object{"const": APIVersion}, "kind": object{"const": Kind},
			"metadata": object{"type": "object", "additionalProperties": false, "properties": object{"name": text, "labels": object{"type": "object"}, "annotations": object{"type": "object"}}},
			"spec":     object{"type": "object", "additionalProperties": false, "minProperties": 1, "properties": rules},
		},
	}
	out, err := json.MarshalIndent(schema, "", "  ")
	return append(out, '\n'), err
}

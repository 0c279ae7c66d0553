package manifests

import (
	"strings"
	"testing"
)

func TestMalformedJSON(t *testing.T) {
	const head = "{\"apiVersion\": \"v1\", \"kind\": "
	for text, want := range map[string]string{
		`{"kind" "Pod"}`:                       "line 1: a colon is missing before '\"'",
		`{"kind": "Pod" "a": 1}`:               "line 1: a comma is missing before '\"'",
		"{\"kind\": \"Pod\",\n}":               "line 2: a field name in double quotes is missing before '}'",
		"{\"kind\":\n}":                        "line 2: a value is missing before '}'",
		`{"kind": "Pod`:                        "line 1: the text ends in the middle of an object",
		`{"kind": "P\`:                         "line 1: the text ends in the middle of an object",
		`{"kind": "\x"}`:                       "line 1: invalid character 'x' in string escape code",
		`{"kind": 5}`:                          "line 1: kind: must say what kind of object it is",
		head + "\"List\",\n\"items\": {}}":     "line 2: items must be a list",
		head + "\"List\", \"items\": [\n5]}":   "item 1, line 2: each item of a List must be an object",
		head + "\"List\", \"items\": [\n}]}":   "line 2: a comma is missing before ']'",
		head + "\"List\", \"items\": [{},\n]}": "item 1, line 2: a value is missing before ']'",
		head + "\"List\", \"items\": [\n" + head + "\"PodList\", \"items\": []}]}": "item 1, line 2: a List may not be an item of another List",
	} {
		t.Run(text, func(t *testing.T) {
			refused := refusal(t, Options{}, Source{"a", []byte(text)})
			for _, p := range refused.Problems {
				if p.Code == ProblemMalformed && strings.HasPrefix(p.Error(), "a: document 1, "+want) {
					return
				}
			}
			t.Errorf("problems %v, want %q", refused, want)
		})
	}
}

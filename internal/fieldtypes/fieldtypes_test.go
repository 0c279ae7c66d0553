package fieldtypes_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/fieldtypes"
)

type inner struct {
	On *bool `json:"on"`
}

type document struct {
	inner  `json:",inline"`
	Name   string                       `json:"name"`
	Count  int32                        `json:"count"`
	Share  float64                      `json:"share"`
	Small  uint8                        `json:"small"`
	Raw    []byte                       `json:"raw"`
	Limits map[string]resource.Quantity `json:"limits"`
	Items  []inner                      `json:"items"`
	Hidden int                          `json:"-"`
}

// Every value that does not fit is told with its path, what it must be and what it is; what fits, is unknown or null is not.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []fieldtypes.Fault
	}{
		{"all is well", `{"on": true, "name": "a", "count": 3, "raw": "YQ==", "limits": {"cpu": 1}, "items": [{"on": null}], "Hidden": "x", "else": 1}`, nil},
		{"no JSON", `{`, nil},
		{"no object", `[1]`, []fieldtypes.Fault{{"", "must be an object, not a list"}}},
		{
			"all at once", `{"on": "yes", "name": 3, "count": "x", "share": {}, "small": -1, "raw": 1, "limits": {"cpu": "lots", "memory": "1Gi"}, "items": [{"on": false}, {"on": 1}, "x"]}`,
			[]fieldtypes.Fault{
				{"count", `must be a whole number, not "x"`},
				{"items[1].on", "must be true or false, not the number 1"},
				{"items[2]", `must be an object, not "x"`},
				{"limits[cpu]", `must be a quantity such as "500m" or "2Gi", not "lots": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`},
				{"name", "must be text, not the number 3; put it in quotes"},
				{"on", `must be true or false, not "yes"`},
				{"raw", "must be base64 text, not the number 1"},
				{"share", "must be a number, not an object"},
				{"small", "must be a whole number that is not negative, not the number -1"},
			},
		},
		{
			"of another shape", `{"limits": [], "items": {}, "name": false, "count": [1]}`,
			[]fieldtypes.Fault{
				{"count", "must be a whole number, not a list"},
				{"items", "must be a list, not an object"},
				{"limits", "must be an object, not a list"},
				{"name", "must be text, not the boolean false; put it in quotes"},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, fieldtypes.Faults([]byte(c.in), reflect.TypeFor[document]())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

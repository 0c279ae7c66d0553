package requirements_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

func TestSCH010OperatorsOfPoolsAndOfPods(t *testing.T) {
	tests := []struct {
		entry v1.NodeSelectorRequirementWithMinValues
		want  requirements.Requirement
		inPod bool
	}{
		{entry("In", "b", "a"), in("a", "b"), true},
		{entry("NotIn", "a"), notIn("a"), true},
		{entry("Exists"), exists(), true},
		{entry("DoesNotExist"), doesNotExist(), true},
		{entry("Gt", "3"), gt(3), true},
		{entry("Lt", "3"), lt(3), true},
		{entry("Gte", "3"), gte(3), false},
		{entry("Lte", "3"), lte(3), false},
	}
	for _, tt := range tests {
		t.Run(string(tt.entry.Operator), func(t *testing.T) {
			if got, err := requirements.Parse(tt.entry); err != nil || !got.Equal(tt.want) {
				t.Errorf("in a pool: %s, %v, want %s", got, err, tt.want)
			}
			got, err := requirements.ParseNodeSelectorRequirement(corev1.NodeSelectorRequirement{Key: key, Operator: tt.entry.Operator, Values: tt.entry.Values})
			switch {
			case tt.inPod && (err != nil || !got.Equal(tt.want)):
				t.Errorf("in a pod: %s, %v, want %s", got, err, tt.want)
			case !tt.inPod && (err == nil || !strings.Contains(err.Error(), "pods may not use operator "+string(tt.entry.Operator))):
				t.Errorf("in a pod: %s, %v, want it refused", got, err)
			}
		})
	}
}

func TestSCH011ParseRefusesWhatHasNoMeaning(t *testing.T) {
	tests := []struct {
		entry v1.NodeSelectorRequirementWithMinValues
		want  string
	}{
		{entry("Like", "a"), `unknown operator "Like"`},
		{entry(""), `unknown operator ""`},
		{entry("In"), "needs at least one value"},
		{entry("Gt"), "needs exactly one value, got 0"},
		{entry("Lt", "1", "2"), "needs exactly one value, got 2"},
		{entry("Gte", "many"), `got "many": give a non-negative integer`},
		{entry("Lte", "-1"), `got "-1": give a non-negative integer`},
		{entry("Gt", "9223372036854775808"), "fits 64 bits"},
		{withMin(entry("In", "a"), 0), "minValues is 0"},
	}
	for _, tt := range tests {
		_, err := requirements.Parse(tt.entry)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), key) {
			t.Errorf("%v: %v, want %q and the key", tt.entry, err, tt.want)
		}
	}
}

func TestSCH020GtOfTheLargestIntegerLosesItsMinValues(t *testing.T) {
	got, err := requirements.Parse(withMin(entry("Gt", "9223372036854775807"), 2))
	if err != nil || !got.Equal(doesNotExist()) {
		t.Errorf("got %s, %v", got, err)
	}
	got, err = requirements.Parse(withMin(entry("DoesNotExist"), 2))
	if err != nil || !got.Equal(doesNotExist().WithMinValues(2)) {
		t.Errorf("DoesNotExist keeps minValues: got %s, %v", got, err)
	}
}

func TestParseSetNamesTheEntry(t *testing.T) {
	_, err := requirements.ParseSet([]v1.NodeSelectorRequirementWithMinValues{entry("Exists"), entry("In")})
	if err == nil || !strings.HasPrefix(err.Error(), "requirements[1]: ") {
		t.Errorf("got %v", err)
	}
}

// Whatever parses serialises to entries that parse to the same requirement.
func FuzzParse(f *testing.F) {
	for _, op := range []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte", "Like"} {
		f.Add(key, op, "3", 2)
	}
	f.Add(key, "Gt", "9223372036854775807", 1)
	f.Add("", "In", "a,,b", 0)
	f.Fuzz(func(t *testing.T, key, op, values string, minValues int) {
		e := v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: requirements.Operator(op), Values: strings.Split(values, ",")}
		if minValues != 0 {
			e.MinValues = &minValues
		}
		r, err := requirements.Parse(e)
		if err != nil {
			return
		}
		want := requirements.NewSet(r)
		if got, err := requirements.ParseSet(r.NodeSelectorRequirements()); err != nil || !got.Equal(want) {
			t.Errorf("%v is {%s}, whose entries read as {%s}, %v", e, want, got, err)
		}
	})
}

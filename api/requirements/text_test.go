package requirements_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/api/requirements"
)

func TestText(t *testing.T) {
	tests := []struct {
		r    requirements.Requirement
		want string
	}{
		{in("b", "a"), "example.com/key In [a, b]"},
		{notIn("a"), "example.com/key NotIn [a]"},
		{exists(), "example.com/key Exists"},
		{doesNotExist(), "example.com/key DoesNotExist"},
		{gt(3), "example.com/key Gte 4"},
		{lt(0), "example.com/key Lte -1"},
		{all(gt(3), lt(17), notIn("8").WithMinValues(2)), "example.com/key Gte 4, Lte 16, NotIn [8], minValues 2"},
		{exists().WithMinValues(1), "example.com/key Exists, minValues 1"},
		{in(""), `example.com/key In [""]`},
		{in("a b", "c,d", "\xff"), `example.com/key In ["a b", "c,d", "\xff"]`},
		{requirements.Exists(""), `"" Exists`},
	}
	for _, tt := range tests {
		if got := tt.r.String(); got != tt.want {
			t.Errorf("String = %s, want %s", got, tt.want)
		}
		if got, err := requirements.ParseText(tt.want); err != nil || !got.Equal(tt.r) {
			t.Errorf("ParseText(%s) = %s, %v", tt.want, got, err)
		}
	}
}

func TestParseTextReadsWhatAPersonWrites(t *testing.T) {
	tests := []struct {
		text string
		want requirements.Requirement
	}{
		{"  example.com/key   In[b,a] ", in("a", "b")},
		{"example.com/key In []", doesNotExist()},
		{"example.com/key Gt 3", gte(4)},
		{"example.com/key Lt 3", lte(2)},
		{"example.com/key Gte 3, Lte 3", all(gte(3), lte(3))},
		{"example.com/key Exists, DoesNotExist", doesNotExist()},
		{`"example.com/key" In ["a"]`, in("a")},
	}
	for _, tt := range tests {
		if got, err := requirements.ParseText(tt.text); err != nil || !got.Equal(tt.want) {
			t.Errorf("ParseText(%q) = %s, %v, want %s", tt.text, got, err, tt.want)
		}
	}
}

func TestParseTextSaysWhereItStopped(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "at byte 0: expected a label key"},
		{"key", "at byte 3: expected one of In"},
		{"key Inside [a]", "at byte 4: expected one of In"},
		{"key In", "at byte 6: expected [ and a list"},
		{"key In [a", "at byte 9: expected a comma or ]"},
		{"key In [a,]", "at byte 10: expected a label value"},
		{`key In ["a]`, "at byte 8: expected a label value with its closing quote"},
		{"key Gt", "at byte 6: expected an integer"},
		{"key Gt 9223372036854775808", "at byte 7: expected an integer"},
		{"key Exists, minValues 0", "at byte 21: expected an integer of at least 1"},
		{"key Exists In [a]", "at byte 11: expected the end"},
	}
	for _, tt := range tests {
		_, err := requirements.ParseText(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseText(%q): %v, want %q", tt.text, err, tt.want)
		}
	}
	if _, err := requirements.ParseSetText("a Exists; b"); err == nil {
		t.Error("a set with half a requirement was accepted")
	}
	if _, err := requirements.ParseSetText("a Exists b Exists"); err == nil || !strings.Contains(err.Error(), "at byte 9: expected the end") {
		t.Errorf("a set without its semicolon: %v", err)
	}
}

func TestRequirementIsAStringInJSON(t *testing.T) {
	data, err := json.Marshal(map[string]requirements.Requirement{"r": gte(3)})
	if want := `{"r":"example.com/key Gte 3"}`; err != nil || string(data) != want {
		t.Fatalf("got %s, %v, want %s", data, err, want)
	}
	var got map[string]requirements.Requirement
	if err := json.Unmarshal(data, &got); err != nil || !got["r"].Equal(gte(3)) {
		t.Errorf("read back %v, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"r":"nonsense"}`), &got); err == nil {
		t.Error("nonsense was accepted")
	}
}

func TestSummaryShowsFiveValues(t *testing.T) {
	if got, want := in("a", "b", "c", "d", "e").Summary(), "example.com/key In [a, b, c, d, e]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := in("a", "b", "c", "d", "e", "f", "g").Summary(), "example.com/key In [a, b, c, d, e and 2 others]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What parses prints as a text that parses to the same, and printing never changes it again.
func FuzzParseText(f *testing.F) {
	for _, seed := range []string{
		"topology.kubernetes.io/zone In [a, b]", "k NotIn []", `"" Exists`, "k DoesNotExist, minValues 3",
		"k Gte 4, Lte 16, NotIn [8, 9], minValues 2", `k In ["a b", "\xff", ""]`, "k Gt 9223372036854775807", "k Lt -5", "a Exists; b Gte 3; a In [x]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := requirements.ParseText(text); err == nil {
			again, err := requirements.ParseText(r.String())
			if err != nil || !again.Equal(r) {
				t.Errorf("%q prints as %q, which reads as %q, %v", text, r, again, err)
			}
		}
		if s, err := requirements.ParseSetText(text); err == nil {
			again, err := requirements.ParseSetText(s.String())
			if err != nil || !again.Equal(s) {
				t.Errorf("%q prints as %q, which reads as %q, %v", text, s, again, err)
			}
		}
	})
}

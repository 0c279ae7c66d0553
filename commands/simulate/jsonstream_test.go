package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands/simulate/internal/jsonstream"
)

// What is written element by element is, byte for byte, what encoding/json writes.
func TestWriteJSON(t *testing.T) {
	values := []any{struct{}{}, struct{ A []byte }{[]byte("a")}, struct {
		typeMeta
		Kind string         `json:"kind"`
		Gone []int          `json:"gone,omitempty"`
		None []int          `json:"none"`
		Text string         `json:"text"`
		Map  map[string]int `json:"map"`
		skip int
	}{Text: "<&>\u2028", Kind: "outer", Map: map[string]int{"b": 1, "a": 2}}}
	for _, document := range documents() {
		values = append(values, document)
	}
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var is typeMeta
		if err := json.Unmarshal(text, &is); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if zero, ok := documents()[is.Kind]; ok {
			document := reflect.New(reflect.TypeOf(zero))
			if err := json.Unmarshal(text, document.Interface()); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			values = append(values, document.Elem().Interface())
		}
	}
	for _, value := range values {
		var want, got bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := errors.Join(encoder.Encode(value), jsonstream.Write(&got, value)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), got.String()); diff != "" {
			t.Errorf("%T (-encoding/json +written):\n%s", value, diff)
		}
	}
}

// shortOfRoom takes some bytes and then fails.
type shortOfRoom struct{ left int }

var errNoRoom = errors.New("no room")

func (s *shortOfRoom) Write(p []byte) (int, error) {
	if s.left -= len(p); s.left < 0 {
		return 0, errNoRoom
	}
	return len(p), nil
}

// A document that can't be written whole is an error, wherever that shows.
func TestWriteJSONFails(t *testing.T) {
	d := document{Nodes: []plannedNode{{Name: "a"}, {Name: "b"}}}
	var whole bytes.Buffer
	if err := jsonstream.Write(&whole, d); err != nil {
		t.Fatal(err)
	}
	for room := range whole.Len() {
		if err := jsonstream.Write(&shortOfRoom{room}, d); !errors.Is(err, errNoRoom) {
			t.Fatalf("with room for %d of %d bytes: %v", room, whole.Len(), err)
		}
	}
}

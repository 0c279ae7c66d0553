package quantities

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Found is a quantity in a document that is out of bounds.
type Found struct {
	Error
	// Start and End are the byte offsets of the quantity in the document, including quotes.
	Start, End int
}

// maxFound is the maximum number of values that Find returns. An error message with more values would not help anyone.
const maxFound = 100

// CheckJSON returns an error if a quantity in the document is out of bounds. The returned error joins an *Error for each such quantity.
// Quantities are the values of fields whose type is a quantity. It must be called before the document is decoded into the type. Text in
// other fields, such as an annotation, may have any form. The document may be text that is not JSON, because the decoder refuses such text
// afterwards.
func CheckJSON(document []byte, into reflect.Type) error {
	found := Find(document, into)
	if len(found) == 0 {
		return nil
	}
	all := make([]error, len(found))
	for i := range found {
		all[i] = &found[i].Error
	}
	return errors.Join(all...)
}

// Find returns the first hundred values that are out of bounds, in the order of the document. It examines the fields only if some text or
// number in the document would be out of bounds as a quantity. So in most cases Find needs little more time than reading the document once.
func Find(document []byte, into reflect.Type) []Found {
	if !suspect(document) {
		return nil
	}
	w := walker{data: document, most: maxFound}
	w.value(w.space(0), into, "", 0)
	return w.found
}

// FindAll returns all values that are out of bounds, in the order of the document, for callers that replace each of them.
func FindAll(document []byte, into reflect.Type) []Found {
	if !suspect(document) {
		return nil
	}
	w := walker{data: document, most: len(document)}
	w.value(w.space(0), into, "", 0)
	return w.found
}

// Bound returns the document with 0 in place of every quantity that is out of bounds, and the replaced quantities, in the order of the
// document. If no quantity is out of bounds, the document is returned unchanged.
func Bound(document []byte, into reflect.Type) ([]byte, []Found) {
	found := FindAll(document, into)
	if len(found) == 0 {
		return document, nil
	}
	out, from := make([]byte, 0, len(document)), 0
	for _, f := range found {
		out = append(append(out, document[from:f.Start]...), `"0"`...)
		from = f.End
	}
	return append(out, document[from:]...), found
}

// suspect reports whether any text or number in the document would be out of bounds as a quantity.
func suspect(document []byte) bool {
	for pos := 0; pos < len(document); {
		switch c := document[pos]; {
		case c == '"':
			end := textEnd(document, pos)
			if suspectText(document[pos+1 : max(end-1, pos+1)]) {
				return true
			}
			pos = end
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
			end := numberEnd(document, pos)
			if suspectText(document[pos:end]) {
				return true
			}
			pos = end
		default:
			pos++
		}
	}
	return false
}

// suspectText reports whether the text would be out of bounds as a quantity. It is fast for all texts that are within bounds.
func suspectText(text []byte) bool {
	if len(text) <= len("1e99") {
		return beyond(string(text))
	}
	start := 0
	for start < len(text) && (text[start] <= ' ' || text[start] >= 0x80) {
		start++
	}
	if start == len(text) || text[start] > '9' || text[start] < '+' {
		return false
	}
	i := start
	for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.' || text[i] == '+' || text[i] == '-') {
		i++
		if i-start > MaxLength {
			return true
		}
	}
	return i < len(text) && (text[i] == 'e' || text[i] == 'E') && beyond(string(text))
}

// textEnd returns the position after the quoted text that starts at pos.
func textEnd(data []byte, pos int) int {
	pos++
	for pos < len(data) {
		next := bytes.IndexAny(data[pos:], `"\`)
		if next < 0 {
			break
		}
		if pos += next; data[pos] == '"' {
			return pos + 1
		}
		pos += 2
	}
	return len(data)
}

// numberEnd returns the position after the unquoted value that starts at pos.
func numberEnd(data []byte, pos int) int {
	for pos < len(data) && strings.IndexByte(" \t\r\n,:]}\"[{", data[pos]) < 0 {
		pos++
	}
	return pos
}

// maxDepth is the greatest nesting depth that the JSON decoder of the standard library accepts.
const maxDepth = 10_000

// walker visits the values of a JSON document together with the Go type of each value. It stops where the text is not JSON.
type walker struct {
	data  []byte
	found []Found
	most  int // maximum length of found
}

func (w *walker) space(pos int) int {
	for pos < len(w.data) && strings.IndexByte(" \t\r\n", w.data[pos]) >= 0 {
		pos++
	}
	return pos
}

// value visits the JSON value at pos, and returns the position after the value. The type t is nil if the value contains no quantities.
func (w *walker) value(pos int, t reflect.Type, path string, depth int) int {
	if pos >= len(w.data) || depth > maxDepth || len(w.found) == w.most {
		return len(w.data)
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch w.data[pos] {
	case '{':
		return w.object(pos, t, path, depth)
	case '[':
		return w.list(pos, t, path, depth)
	case '"':
		end := textEnd(w.data, pos)
		w.scalar(pos, end, string(w.data[pos+1:max(end-1, pos+1)]), t, path)
		return end
	}
	end := numberEnd(w.data, pos)
	if end == pos {
		return len(w.data) // not JSON
	}
	w.scalar(pos, end, string(w.data[pos:end]), t, path)
	return end
}

func (w *walker) scalar(start, end int, text string, t reflect.Type, path string) {
	if t == reflect.TypeFor[resource.Quantity]() && beyond(text) {
		w.found = append(w.found, Found{Error: Error{Path: path, Text: inShort(text)}, Start: start, End: end})
	}
}

func (w *walker) object(pos int, t reflect.Type, path string, depth int) int {
	for pos = w.space(pos + 1); pos < len(w.data); pos = w.space(pos + 1) {
		if w.data[pos] == '}' {
			return pos + 1
		}
		if w.data[pos] != '"' {
			break
		}
		end := textEnd(w.data, pos)
		key := w.data[pos:end]
		if pos = w.space(end); pos >= len(w.data) || w.data[pos] != ':' {
			break
		}
		below, at := member(t, key, path)
		pos = w.space(w.value(w.space(pos+1), below, at, depth+1))
		if pos >= len(w.data) || w.data[pos] != ',' {
			if pos < len(w.data) && w.data[pos] == '}' {
				return pos + 1
			}
			break
		}
	}
	return len(w.data)
}

func (w *walker) list(pos int, t reflect.Type, path string, depth int) int {
	var below reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		below = t.Elem()
	}
	if pos = w.space(pos + 1); pos < len(w.data) && w.data[pos] == ']' {
		return pos + 1
	}
	for i := 0; pos < len(w.data); i++ {
		at := path
		if below != nil {
			at = path + "[" + strconv.Itoa(i) + "]"
		}
		pos = w.space(w.value(pos, below, at, depth+1))
		if pos >= len(w.data) {
			break
		}
		switch w.data[pos] {
		case ',':
			pos = w.space(pos + 1)
		case ']':
			return pos + 1
		default:
			return len(w.data)
		}
	}
	return len(w.data)
}

// member returns the type of an object's field, or of a map's values, and its path. Some decoders ignore the case of field names, so this
// function ignores it too.
func member(t reflect.Type, quoted []byte, path string) (reflect.Type, string) {
	if t == nil || t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		return nil, ""
	}
	key := string(quoted[1:max(len(quoted)-1, 1)])
	if strings.IndexByte(key, '\\') >= 0 {
		var plain string
		if json.Unmarshal(quoted, &plain) == nil {
			key = plain
		}
	}
	if t.Kind() == reflect.Map {
		return t.Elem(), path + "[" + key + "]"
	}
	if path != "" {
		path += "."
	}
	return fieldType(t, key), path + key
}

// fieldType returns the type of a struct's field by its name in JSON, also in embedded structs. It returns nil if the type has no such
// field.
func fieldType(t reflect.Type, name string) reflect.Type {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case tag == "-":
		case tag == "" && field.Anonymous:
			embedded := field.Type
			for embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			if embedded.Kind() == reflect.Struct {
				if found := fieldType(embedded, name); found != nil {
					return found
				}
			}
		case strings.EqualFold(tag, name), tag == "" && strings.EqualFold(field.Name, name):
			return field.Type
		}
	}
	return nil
}

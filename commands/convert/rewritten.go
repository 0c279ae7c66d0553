package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/commands/convert/internal/yamledit"
)

// rewrittenFile is a file of the input with its content after the conversion.
type rewrittenFile struct {
	input
	after []byte
	// objects is the number of converted objects that come from the file.
	objects int
}

func (f *rewrittenFile) changed() bool { return !bytes.Equal(f.Data, f.after) }

// rewriter puts the converted objects into the files of the input, and keeps comments and formatting.
type rewriter struct {
	// objects are the converted objects by file and document.
	objects map[documentKey][]convert.Converted
	// before are the documents as they were read, as JSON.
	before []string
	// variables replace their stand-ins in the files; nil if the input has no variables.
	variables *variables
	// others is the number of documents of other kinds, which stay unchanged.
	others int
}

// documentKey identifies a document of a file by its number, from 1.
type documentKey struct {
	source   string
	document int
}

// newRewriter records the documents before they are converted, because a conversion may change them.
func newRewriter(documents []convert.Document) *rewriter {
	r := &rewriter{objects: map[documentKey][]convert.Converted{}}
	for _, d := range documents {
		text := ""
		if d.Object != nil {
			if encoded, err := json.Marshal(d.Object); err == nil {
				text = string(encoded)
			}
		}
		if _, other := d.Object.(*unstructured.Unstructured); other {
			r.others++
		}
		r.before = append(r.before, text)
	}
	return r
}

// rewrite returns the files with the converted objects in the place of the originals. Other documents stay unchanged. In changed documents,
// the comments, the order of keys and the spelling of unchanged values stay.
func (r *rewriter) rewrite(inputs []input, objects []convert.Converted) ([]rewrittenFile, error) {
	for _, o := range objects {
		key := documentKey{o.Position.Source, o.Position.Document}
		r.objects[key] = append(r.objects[key], o)
	}
	var files []rewrittenFile
	seen := map[string]bool{}
	for _, in := range inputs {
		if seen[in.Name] {
			continue // an input that is named twice is written once
		}
		seen[in.Name] = true
		f, err := r.file(in)
		if err != nil {
			return nil, err
		}
		if r.variables != nil {
			f.Data, f.after = []byte(r.variables.show(string(f.Data))), []byte(r.variables.show(string(f.after)))
		}
		files = append(files, f)
	}
	return files, nil
}

func (r *rewriter) file(in input) (rewrittenFile, error) {
	f := rewrittenFile{input: in}
	number := 0
	for _, text := range documentsOf(in.Data) {
		if isBlank(text) {
			f.after = append(f.after, text...)
			continue
		}
		number++
		objects := r.objects[documentKey{in.Name, number}]
		f.objects += len(objects)
		after, err := r.document(text, objects)
		if err != nil {
			return f, fmt.Errorf("%s: document %d: %w", in.Name, number, err)
		}
		f.after = append(f.after, after...)
	}
	return f, nil
}

// document replaces the original objects in text, which is one document, by the converted objects. If the conversion changed no object, it
// returns text unchanged.
func (r *rewriter) document(text []byte, objects []convert.Converted) ([]byte, error) {
	if len(objects) == 0 || !slices.ContainsFunc(objects, r.differs) && !hasMore(objects) {
		return text, nil
	}
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	var more []any
	if objects[0].Position.Item > 0 {
		list, _ := value.(map[string]any)
		items, _ := list["items"].([]any)
		done := map[int]bool{}
		for _, o := range objects {
			switch i := o.Position.Item - 1; {
			case i >= len(items) || done[i]:
				items = append(items, generic(o.Object))
			case r.differs(o):
				items[i] = generic(o.Object)
				done[i] = true
			default:
				done[i] = true
			}
		}
		list["items"] = items
	} else {
		if r.differs(objects[0]) {
			value = generic(objects[0].Object)
		}
		for _, o := range objects[1:] {
			more = append(more, generic(o.Object))
		}
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return writeJSON(append([]any{value}, more...))
	}
	after, err := yamledit.Apply(text, value)
	if err != nil {
		return nil, err
	}
	for _, m := range more {
		encoded, err := yaml.Marshal(m)
		if err != nil {
			return nil, err
		}
		after = append(append(withLineEnd(after), "---\n"...), encoded...)
	}
	return after, nil
}

func writeJSON(values []any) ([]byte, error) {
	var out bytes.Buffer
	for _, v := range values {
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return nil, err
		}
		out.Write(append(text, '\n'))
	}
	return out.Bytes(), nil
}

// differs reports whether the conversion has changed an object.
func (r *rewriter) differs(o convert.Converted) bool {
	text, err := json.Marshal(o.Object)
	return err != nil || o.Document >= len(r.before) || string(text) != r.before[o.Document]
}

// hasMore reports whether an object was converted to several objects.
func hasMore(objects []convert.Converted) bool {
	for i := 1; i < len(objects); i++ {
		if objects[i].Position.Item == objects[i-1].Position.Item {
			return true
		}
	}
	return false
}

func generic(object any) any {
	text, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	var value any
	if json.Unmarshal(text, &value) != nil {
		return nil
	}
	if fields, ok := value.(map[string]any); ok {
		if status, ok := fields["status"].(map[string]any); ok && len(status) == 0 {
			delete(fields, "status")
		}
	}
	return value
}

func withLineEnd(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return append(text, '\n')
	}
	return text
}

// documentsOf divides a file at separator lines ("---", perhaps followed by a space or tab and more text), as the decoder does. A separator
// line belongs to the document after it. A line of three dots ends a document.
func documentsOf(data []byte) [][]byte {
	var list [][]byte
	start, pos := 0, 0
	for line := range bytes.Lines(data) {
		end := pos + len(line)
		switch text := strings.TrimRight(string(line), "\r\n"); {
		case (text == "---" || strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "---\t")) && pos > start:
			list = append(list, data[start:pos])
			start = pos
		case text == "..." || strings.HasPrefix(text, "... "):
			list = append(list, data[start:end])
			start = end
		}
		pos = end
	}
	if start < len(data) {
		list = append(list, data[start:])
	}
	return list
}

// isBlank reports whether a document contains only separators, comments and directives.
func isBlank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("---")))
		if len(line) > 0 && line[0] != '#' && line[0] != '%' && string(line) != "..." {
			return false
		}
	}
	return true
}

// apply changes the files in place, or prints how they would change. It returns how many files change.
func (o options) apply(files []rewrittenFile, stdout io.Writer) (int, error) {
	changed := 0
	for i := range files {
		if f := &files[i]; f.changed() {
			changed++
			var err error
			switch {
			case o.diff:
				_, err = io.WriteString(stdout, unifiedDiff(filepath.ToSlash(f.Name), string(f.Data), string(f.after)))
			case o.inPlace:
				err = replaceFile(f.Name, f.after)
			}
			if err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}

package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/drawknife/drawknife/scheduling/manifests/internal/doctree"
	sigsjson "sigs.k8s.io/json"
)

// readSource cuts a source into documents at lines that start with "---".
func (l *loader) readSource(source int) {
	data := l.sources[source].Data
	document := 0
	for start := len(byteOrderMark(data)); start < len(data); {
		end := nextDocument(data, start)
		at := doctree.Span{Start: start, End: end}
		switch {
		case isBlank(data[start:end]):
		case isJSON(data[start:end]):
			document = l.readJSON(source, document, at)
		default:
			document++
			if pos := longLine(data, at); pos >= 0 {
				l.malformedAt(origin{source: source, document: document, at: at}, pos, doctree.ErrLongLine)
				break
			}
			l.readYAML(origin{source: source, document: document, at: at})
		}
		start = end
	}
}

// longLine returns the position of the first line that is too long, or -1 if no line is too long.
func longLine(data []byte, at doctree.Span) int {
	for pos := at.Start; at.End-pos > doctree.MaxLine; {
		end := bytes.LastIndexByte(data[pos:pos+doctree.MaxLine], '\n')
		if end < 0 {
			return pos
		}
		pos += end + 1
	}
	return -1
}

func byteOrderMark(data []byte) []byte {
	const mark = "\xef\xbb\xbf"
	if bytes.HasPrefix(data, []byte(mark)) {
		return data[:len(mark)]
	}
	return nil
}

// nextDocument returns the end of the document that starts at the position start. The document ends at the line with the next separator,
// and this line belongs to the next document.
func nextDocument(data []byte, start int) int {
	for pos := start; ; {
		next := bytes.Index(data[pos:], []byte("\n---"))
		if next < 0 {
			return len(data)
		}
		pos += next + 1
		after := pos + len("---")
		if after == len(data) || strings.IndexByte(" \t\r\n", data[after]) >= 0 {
			return pos
		}
	}
}

// isBlank reports whether a document contains only separators, comments and directives.
func isBlank(text []byte) bool {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("---")))
		if len(line) > 0 && line[0] != '#' && line[0] != '%' && string(line) != "..." {
			return false
		}
	}
	return true
}

// isJSON distinguishes JSON from YAML that also starts with a brace. In JSON, a name in double quotes follows the first brace, or the
// object is empty.
func isJSON(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("---")), " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	text = bytes.TrimLeft(text[1:], " \t\r\n")
	return len(text) > 0 && (text[0] == '"' || text[0] == '}')
}

// malformedAt records a problem with a document that could not be read. The problem has the number of the line that contains the byte at
// offset.
func (l *loader) malformedAt(o origin, offset int, err error) {
	if l.problems.full() {
		return
	}
	var located *doctree.ScanError
	if errors.As(err, &located) {
		offset = located.Offset
	}
	l.malformedLine(o, l.lineAt(o.source, offset), err)
}

func (l *loader) malformedLine(o origin, line int, err error) {
	code := ProblemMalformed
	message := err.Error()
	switch {
	case errors.Is(err, doctree.ErrTooDeep):
		code, message = ProblemTooLarge, fmt.Sprintf("objects and lists are nested more than %d deep", l.limits.Depth)
	case errors.Is(err, doctree.ErrAliases), errors.Is(err, doctree.ErrLongLine):
		code = ProblemTooLarge
	case errors.Is(err, io.ErrUnexpectedEOF):
		message = "the text ends in the middle of an object"
	}
	l.problems.add(&Problem{
		Position: Position{Source: l.sources[o.source].Name, Document: o.document, Item: o.item, Line: line},
		Code:     code, Message: message,
	})
}

// header contains the fields that identify the kind of an object.
type header struct{ apiVersion, kind string }

// list reports whether the object is a list, and returns the default kind of its items. hasItems says whether the object has a field items.
// Without this field, only the kind List is certainly a list.
func (h header) list(hasItems bool) (items header, ok bool) {
	name, isList := strings.CutSuffix(h.kind, "List")
	switch {
	case !isList || name != "" && !hasItems:
		return header{}, false
	case name == "":
		return header{}, true // v1 List: items of any kind, each with its own kind
	}
	return header{apiVersion: h.apiVersion, kind: name}, true
}

// checkListMetadata warns when a list is one page of several.
func (l *loader) checkListMetadata(o origin, h header, metadata []byte) {
	var m struct {
		Continue string `json:"continue"`
	}
	if len(metadata) == 0 || sigsjson.UnmarshalCaseSensitivePreserveInts(metadata, &m) != nil || m.Continue == "" {
		return
	}
	l.warn(o, remark{
		code: WarningIncompleteList, kind: h.kind, path: "metadata.continue",
		message: "the list is only the first part of what the API server has; fetch it without a limit",
	})
}

var (
	errNestedList = errors.New("a List may not be an item of another List")
	errItems      = errors.New("items must be a list")
	errItem       = errors.New("each item of a List must be an object")
	errNotObject  = errors.New("a document must be an object with apiVersion, kind and metadata")
)

const kindKustomization = "Kustomization"

// toolFile returns why the file is not read and what to do instead, if it belongs to a tool that writes manifests and the document is not a
// Kubernetes object. It returns "" for all other documents.
func toolFile(name string, h header) string {
	dir, base := filepath.Dir(name), strings.ToLower(filepath.Base(name))
	group, _, _ := strings.Cut(h.apiVersion, "/")
	if h.kind == kindKustomization && group == "kustomize.config.k8s.io" {
		base = "kustomization.yaml"
	} else if h.kind != "" && h.apiVersion != "" {
		return ""
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
	switch {
	case stem == base: // base is the name of a stream, or of a file that is not YAML
		return ""
	case stem == "kustomization":
		return "it lists files for Kustomize and is no object; plan what \"kubectl kustomize " + dir + "\" prints"
	case stem == "chart" || stem == "values" || strings.HasPrefix(stem, "values-") || strings.HasPrefix(stem, "values.") || strings.HasSuffix(stem, "-values") || strings.HasSuffix(stem, ".values"):
		return "it belongs to a Helm chart and is no object; plan what \"helm template " + dir + "\" prints"
	}
	return ""
}

// readJSON reads objects that follow each other with or without space between them, and returns the number of the
// last document.
func (l *loader) readJSON(source, document int, at doctree.Span) int {
	data := l.sources[source].Data
	s := doctree.JSONScanner{Data: data, End: at.End, MaxDepth: l.limits.Depth}
	pos := at.Start
	if bytes.HasPrefix(data[pos:at.End], []byte("---")) {
		pos += len("---")
	}
	for pos = s.SkipSpace(pos); pos < at.End; pos = s.SkipSpace(pos) {
		document++
		o := origin{source: source, document: document, at: doctree.Span{Start: pos, End: at.End}, json: true}
		if data[pos] != '{' {
			l.malformedAt(o, pos, fmt.Errorf("a document must be an object, and can't start with %q", data[pos]))
			return document
		}
		end, err := s.Value(pos)
		if err != nil {
			l.malformedAt(o, end, explainJSON(data[pos:at.End], pos, err))
			return document
		}
		o.at.End = end
		l.readJSONObject(o, header{})
		pos = end
	}
	return document
}

// explainJSON returns the error of a real JSON parser for text that can't be split, because that error says what was expected.
func explainJSON(text []byte, start int, err error) error {
	if errors.Is(err, doctree.ErrTooDeep) || errors.Is(err, doctree.ErrLongLine) {
		return err
	}
	var whole json.RawMessage
	parserErr := json.NewDecoder(bytes.NewReader(text)).Decode(&whole)
	var syntax *json.SyntaxError
	switch {
	case errors.As(parserErr, &syntax):
		return &doctree.ScanError{Offset: start + max(int(syntax.Offset)-1, 0), Cause: syntax}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the text ends in the middle of an object")
	}
	return err
}

// readJSONObject reads the object at the position o, which is a list or a single object. A list passes the kind of its items to items that
// don't state their own kind, as in a PodList.
func (l *loader) readJSONObject(o origin, inherited header) {
	data := l.sources[o.source].Data
	s := doctree.JSONScanner{Data: data, End: o.at.End, MaxDepth: l.limits.Depth}
	h := inherited
	var items, metadata doctree.Span
	err := s.Members(o.at.Start, func(key, value doctree.Span) error {
		switch string(data[key.Start:key.End]) {
		case "apiVersion":
			return scalarText(data, value, &h.apiVersion)
		case "kind":
			return scalarText(data, value, &h.kind)
		case "items":
			items = value
		case "metadata":
			metadata = value
		}
		return nil
	})
	if err != nil {
		l.malformedAt(o, o.at.Start, err)
		return
	}
	itemHeader, isList := h.list(items.End > 0)
	if !isList {
		l.readObject(o, h, data[o.at.Start:o.at.End])
		return
	}
	if o.item > 0 {
		l.malformedAt(o, o.at.Start, errNestedList)
		return
	}
	l.checkListMetadata(o, h, data[metadata.Start:metadata.End])
	l.readJSONItems(o, items, itemHeader)
}

func (l *loader) readJSONItems(o origin, items doctree.Span, inherited header) {
	data := l.sources[o.source].Data
	if items.Start == items.End || string(data[items.Start:items.End]) == "null" {
		return
	}
	if data[items.Start] != '[' {
		l.malformedAt(o, items.Start, errItems)
		return
	}
	s := doctree.JSONScanner{Data: data, End: items.End, MaxDepth: l.limits.Depth}
	err := s.Elements(items.Start, func(value doctree.Span) error {
		o.item++
		item := o
		item.at = value
		if data[value.Start] != '{' {
			l.malformedAt(item, value.Start, errItem)
			return nil
		}
		l.readJSONObject(item, inherited)
		return nil
	})
	if err != nil {
		l.malformedAt(o, items.Start, err)
	}
}

// scalarText decodes a JSON string. If the value is not a string, it does not change the target into, so that the field is later refused as
// missing.
func scalarText(data []byte, at doctree.Span, into *string) error {
	if data[at.Start] != '"' {
		return nil
	}
	if err := json.Unmarshal(data[at.Start:at.End], into); err != nil {
		return &doctree.ScanError{Offset: at.Start, Cause: err}
	}
	return nil
}

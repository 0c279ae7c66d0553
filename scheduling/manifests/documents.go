package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	sigsjson "sigs.k8s.io/json"
)

// readSource cuts a source into documents at lines that start with "---".
func (l *loader) readSource(source int) {
	data := l.sources[source].Data
	document := 0
	for start := len(byteOrderMark(data)); start < len(data); {
		end := nextDocument(data, start)
		at := span{start, end}
		switch {
		case isBlank(data[start:end]):
		case isJSON(data[start:end]):
			document = l.readJSON(source, document, at)
		default:
			document++
			if pos := longLine(data, at); pos >= 0 {
				l.malformedAt(origin{source: source, document: document, at: at}, pos, errLongLine)
				break
			}
			l.readYAML(origin{source: source, document: document, at: at})
		}
		start = end
	}
}

// maxLine bounds the lines of YAML and the strings of JSON, which a parser copies several times. No object that an API server
// takes is half as long.
const maxLine = 8 << 20

// longLine returns where a line that is too long begins, or -1.
func longLine(data []byte, at span) int {
	for pos := at.start; at.end-pos > maxLine; {
		end := bytes.LastIndexByte(data[pos:pos+maxLine], '\n')
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

// nextDocument returns where the document that starts at start ends: at the line of the next separator, which is part
// of the document it opens.
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

// isBlank says that a document holds nothing but separators, comments and directives.
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

// isJSON distinguishes JSON from YAML that also starts with a brace: in JSON, the brace is followed by a name in double quotes, or by
// nothing.
func isJSON(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("---")), " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	text = bytes.TrimLeft(text[1:], " \t\r\n")
	return len(text) > 0 && (text[0] == '"' || text[0] == '}')
}

// malformedAt records a document that could not be read, at the line of the byte at offset.
func (l *loader) malformedAt(o origin, offset int, err error) {
	if l.problems.full() {
		return
	}
	var located *scanError
	if errors.As(err, &located) {
		offset = located.offset
	}
	l.malformedLine(o, l.lineAt(o.source, offset), err)
}

func (l *loader) malformedLine(o origin, line int, err error) {
	code := ProblemMalformed
	message := err.Error()
	switch {
	case errors.Is(err, errTooDeep):
		code, message = ProblemTooLarge, fmt.Sprintf("objects and lists are nested more than %d deep", l.limits.Depth)
	case errors.Is(err, errAliases), errors.Is(err, errLongLine):
		code = ProblemTooLarge
	case errors.Is(err, io.ErrUnexpectedEOF):
		message = "the text ends in the middle of an object"
	}
	l.problems.add(&Problem{
		Position: Position{Source: l.sources[o.source].Name, Document: o.document, Item: o.item, Line: line},
		Code:     code, Message: message,
	})
}

// header is what says the kind of an object.
type header struct{ apiVersion, kind string }

// list reports whether the object is a list, and the default kind of its items. hasItems says whether it has a field items: without the
// field, only the kind List is certainly a list.
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
	errLongLine   = fmt.Errorf("a line of YAML or a string in JSON is longer than %d bytes", maxLine)
	errNestedList = errors.New("a List may not be an item of another List")
	errItems      = errors.New("items must be a list")
	errItem       = errors.New("each item of a List must be an object")
	errNotObject  = errors.New("a document must be an object with apiVersion, kind and metadata")
)

package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/conversion"
)

// Limits on the size of the input.
const (
	// MaxBytes is the largest size of all sources together.
	MaxBytes = 64 << 20
	// MaxObjects is the largest number of objects.
	MaxObjects = 100_000
	// maxProblems is how many problems are reported at most.
	maxProblems = 100
)

// Source is one input: the whole content of a file or stream.
type Source struct {
	// Name is the source's name in messages: a file's path as the user wrote it, "-" for standard input.
	Name string
	// Data is the content: YAML or JSON, one document or many.
	Data []byte
	// Found means that the source was found in a folder: the user did not name it. Documents in it that are no Kubernetes objects, such as
	// values of a chart, are left out with a warning (conversion.CodeNoObject); in a source that the user named, they are problems.
	Found bool
}

// DecodeOptions are the options of Decode.
type DecodeOptions struct {
	// Strict makes unknown fields errors, also in pods and workloads of Kubernetes. Without it, unknown fields of converted kinds cause
	// warnings and are left out, and workloads are not checked. If the node class of a v1 NodePool is in the input, the pool's kubelet
	// block causes only a warning in both cases: Rewrite may move the block to the class, and then drops the warning.
	Strict bool
	// KeepGoing returns the documents that can be read, even if others can't be read. Unreadable documents then have no object, and an
	// error among their warnings (conversion.CodeUnreadable).
	KeepGoing bool
}

// Document is one object of the input.
type Document struct {
	// Position in the input.
	Position Position
	// Object is a *v1alpha5.Provisioner or one of the other kinds that are converted, or *unstructured.Unstructured for every other kind.
	// It is nil if the document could not be read or is no Kubernetes object; Warnings say why.
	Object Object
	// Warnings are the fields that were left out (conversion.CodeUnknownField), or why there is no object.
	Warnings conversion.Warnings
	// kubelet is the kubelet block of a NodePool of v1, although v1 has no such field; nil if the document has no such block.
	kubelet json.RawMessage
	// strayed is an error about the pool's kubelet block. Strict reading reports it if the pool's node class is not in the input. Empty
	// means that the kubelet block has no error.
	strayed string
}

// decoder collects the results of Decode.
type decoder struct {
	options   DecodeOptions
	documents []Document
	problems  []Problem
	// before is the number of documents that precede each problem.
	before []int
	// The field found is Source.Found of the source that is being read.
	found bool
}

// Decode reads the sources in order: YAML documents, JSON objects and lists, in any mixture of generations and kinds. Only apiVersion and
// kind decide the kind of an object. Text that is no YAML or JSON, fields of the wrong type and, with Strict, unknown fields cause a
// *DecodeError with all problems; no documents are then returned. With KeepGoing, the documents that can be read are returned instead.
func Decode(options DecodeOptions, sources ...Source) ([]Document, error) {
	d := &decoder{options: options}
	size := 0
	for _, source := range sources {
		size += len(source.Data)
		if size > MaxBytes {
			d.tooMuch(Position{Source: source.Name, Document: 1, Line: 1}, "", fmt.Sprintf("the input is larger than %d bytes: split it", MaxBytes))
			break
		}
		d.source(source)
	}
	d.settleKubelets()
	if len(d.problems) > 0 {
		return nil, &DecodeError{Problems: d.problems}
	}
	return d.documents, nil
}

// problem records why a document can't be read.
func (d *decoder) problem(at Position, object, message string) {
	p := Problem{Position: at, Object: object, Message: message}
	if !d.options.KeepGoing {
		d.refuse(p)
		return
	}
	d.without(at, conversion.CodeUnreadable, cmp.Or(object, at.Source), "can't be read: "+p.place()+message)
}

// tooMuch records that the input is too large, which ends decoding.
func (d *decoder) tooMuch(at Position, object, message string) {
	d.refuse(Problem{Position: at, Object: object, Message: message})
}

func (d *decoder) refuse(p Problem) {
	if len(d.problems) < maxProblems {
		d.problems, d.before = append(d.problems, p), append(d.before, len(d.documents))
	}
}

// without records that a document contains no object that can be converted, and the reason.
func (d *decoder) without(at Position, code conversion.Code, object, message string) {
	warning := conversion.Warning{Code: code, Severity: code.Severity(), Object: object, Message: message}
	if n := len(d.documents); n > 0 && d.documents[n-1].Position.sameDocument(at) {
		last := &d.documents[n-1]
		last.Object, last.Warnings = nil, append(last.Warnings, warning)
		return
	}
	d.documents = append(d.documents, Document{Position: at, Warnings: conversion.Warnings{warning}})
}

// document adds a document, unless part of it could not be read.
func (d *decoder) document(read Document) {
	if n := len(d.documents); n > 0 && d.documents[n-1].Object == nil && d.documents[n-1].Position.sameDocument(read.Position) {
		return
	}
	d.documents = append(d.documents, read)
}

// source splits a source into documents at lines that begin with "---".
func (d *decoder) source(s Source) {
	data := bytes.TrimPrefix(s.Data, []byte("\xef\xbb\xbf"))
	at := Position{Source: s.Name, Line: 1}
	d.found = s.Found
	for len(data) > 0 {
		text, rest := cut(data)
		switch {
		case blank(text):
		case bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte(`{"`)) && !onlyYAML(text):
			d.json(&at, text)
		default:
			at.Document++
			d.yaml(at, text)
		}
		at.Line += bytes.Count(text, []byte("\n"))
		data = rest
	}
}

// cut returns the first document and the text that follows it. A separator line belongs to the document that it begins; a line of three
// dots belongs to the document that it ends.
func cut(data []byte) (document, rest []byte) {
	for pos := 0; ; {
		next := bytes.IndexByte(data[pos:], '\n')
		if next < 0 {
			return data, nil
		}
		pos += next + 1
		line, _, _ := bytes.Cut(data[pos:], []byte("\n"))
		switch {
		case isMarker(line, "---"):
			return data[:pos], data[pos:]
		case isMarker(line, "..."):
			end := min(pos+len(line)+1, len(data))
			return data[:end], data[end:]
		}
	}
}

// isMarker reports whether a line begins with marker, followed by white space or the end of the line.
func isMarker(line []byte, marker string) bool {
	after, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(after) == 0 || strings.IndexByte(" \t\r", after[0]) >= 0)
}

// blank reports whether a document contains only separators, comments and directives.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("---")))
		if len(line) > 0 && line[0] != '#' && line[0] != '%' && string(line) != "..." {
			return false
		}
	}
	return true
}

var yamlLine = regexp.MustCompile(`line ([0-9]+)`)

func (d *decoder) yaml(at Position, text []byte) {
	converted, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		message := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
		message = strings.TrimPrefix(message, "yaml: ")
		where := at
		if strings.HasPrefix(message, "invalid map key: map[") {
			message = "text that begins with a brace needs quotes"
			if before, _, found := bytes.Cut(text, []byte("{{")); found {
				where.Line += bytes.Count(before, []byte("\n"))
			}
		}
		if bytes.Contains(text, []byte("{{")) {
			message += `; it looks like a template: give what it is rendered to ("helm template" does so for charts)`
		}
		// In some cases the parser lists several errors, one per line, below a heading.
		for one := range strings.SplitSeq(strings.TrimPrefix(message, "unmarshal errors:\n"), "\n") {
			one, where := strings.TrimSpace(one), where
			if m := yamlLine.FindStringSubmatch(one); m != nil {
				if line, err := strconv.Atoi(m[1]); err == nil {
					where.Line += line - 1
					one = strings.TrimPrefix(one, m[0]+": ")
				}
			}
			d.problem(where, "", one)
		}
		return
	}
	d.object(at, converted, schema.GroupVersionKind{})
}

// onlyYAML reports whether text that looks like JSON is not JSON but an object in YAML, where names may be unquoted and comments may
// follow.
func onlyYAML(text []byte) bool {
	for stream := json.NewDecoder(bytes.NewReader(text)); ; {
		var raw json.RawMessage
		switch err := stream.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return false
		case err != nil:
			var h header
			return yaml.Unmarshal(text, &h) == nil && h.APIVersion != "" && h.Kind != ""
		}
	}
}

// json reads one JSON object after the other.
func (d *decoder) json(at *Position, text []byte) {
	start := at.Line
	stream := json.NewDecoder(bytes.NewReader(text))
	for {
		begin := stream.InputOffset()
		var raw json.RawMessage
		err := stream.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		at.Document++
		where := *at
		where.Line = start + bytes.Count(text[:min(int(begin), len(text))], []byte("\n"))
		if err != nil {
			where.Line = start + bytes.Count(text[:errorOffset(err, text)], []byte("\n"))
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = errors.New("the text ends in the middle of an object")
			}
			d.problem(where, "", err.Error())
			break
		}
		d.object(where, raw, schema.GroupVersionKind{})
	}
	at.Line = start
}

func errorOffset(err error, text []byte) int {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return min(int(syntax.Offset), len(text))
	}
	return len(text)
}

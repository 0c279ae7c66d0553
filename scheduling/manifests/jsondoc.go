package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readJSON reads objects that follow each other with or without space between them, and returns the number of the
// last document.
func (l *loader) readJSON(source, document int, at span) int {
	data := l.sources[source].Data
	s := jsonScanner{data: data, end: at.end, maxDepth: l.limits.Depth}
	pos := at.start
	if bytes.HasPrefix(data[pos:at.end], []byte("---")) {
		pos += len("---")
	}
	for pos = s.skipSpace(pos); pos < at.end; pos = s.skipSpace(pos) {
		document++
		o := origin{source: source, document: document, at: span{pos, at.end}, json: true}
		if data[pos] != '{' {
			l.malformedAt(o, pos, fmt.Errorf("a document must be an object, and can't start with %q", data[pos]))
			return document
		}
		end, err := s.value(pos)
		if err != nil {
			l.malformedAt(o, end, explainJSON(data[pos:at.end], pos, err))
			return document
		}
		o.at.end = end
		l.readJSONObject(o, header{})
		pos = end
	}
	return document
}

// explainJSON prefers the words of a real parser, which knows what it expected, for text that can't be cut up.
func explainJSON(text []byte, start int, err error) error {
	if errors.Is(err, errTooDeep) || errors.Is(err, errLongLine) {
		return err
	}
	var whole json.RawMessage
	parserErr := json.NewDecoder(bytes.NewReader(text)).Decode(&whole)
	var syntax *json.SyntaxError
	switch {
	case errors.As(parserErr, &syntax):
		return &scanError{start + max(int(syntax.Offset)-1, 0), syntax}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the text ends in the middle of an object")
	}
	return err
}

// readJSONObject reads the object at o, a list or a single one. A list hands the kind of its items down to items
// that don't state their own, as those of a PodList don't.
func (l *loader) readJSONObject(o origin, inherited header) {
	data := l.sources[o.source].Data
	s := jsonScanner{data: data, end: o.at.end, maxDepth: l.limits.Depth}
	h := inherited
	var items, metadata span
	err := s.members(o.at.start, func(key, value span) error {
		switch string(data[key.start:key.end]) {
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
		l.malformedAt(o, o.at.start, err)
		return
	}
	itemHeader, isList := h.list(items.end > 0)
	if !isList {
		l.readObject(o, h, data[o.at.start:o.at.end])
		return
	}
	if o.item > 0 {
		l.malformedAt(o, o.at.start, errNestedList)
		return
	}
	l.checkListMetadata(o, h, data[metadata.start:metadata.end])
	l.readJSONItems(o, items, itemHeader)
}

func (l *loader) readJSONItems(o origin, items span, inherited header) {
	data := l.sources[o.source].Data
	if items.start == items.end || string(data[items.start:items.end]) == "null" {
		return
	}
	if data[items.start] != '[' {
		l.malformedAt(o, items.start, errItems)
		return
	}
	s := jsonScanner{data: data, end: items.end, maxDepth: l.limits.Depth}
	err := s.elements(items.start, func(value span) error {
		o.item++
		item := o
		item.at = value
		if data[value.start] != '{' {
			l.malformedAt(item, value.start, errItem)
			return nil
		}
		l.readJSONObject(item, inherited)
		return nil
	})
	if err != nil {
		l.malformedAt(o, items.start, err)
	}
}

// scalarText decodes a JSON string; for other values it leaves into unchanged, which is later refused as missing.
func scalarText(data []byte, at span, into *string) error {
	if data[at.start] != '"' {
		return nil
	}
	if err := json.Unmarshal(data[at.start:at.end], into); err != nil {
		return &scanError{at.start, err}
	}
	return nil
}

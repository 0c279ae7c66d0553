package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// span is a half-open range of bytes of a source.
type span struct{ start, end int }

var errTooDeep = errors.New("nested too deeply")

// jsonScanner finds the beginning and end of values without decoding them, so that splitting a list of fifty thousand pods into items costs
// little more than reading it. It does not check values: decoding them does.
type jsonScanner struct {
	data     []byte
	end      int
	maxDepth int
}

func (s *jsonScanner) skipSpace(pos int) int {
	for pos < s.end {
		switch s.data[pos] {
		case ' ', '\t', '\r', '\n':
			pos++
		default:
			return pos
		}
	}
	return pos
}

// value returns the end of the value that starts at pos.
func (s *jsonScanner) value(pos int) (int, error) {
	if pos >= s.end {
		return pos, io.ErrUnexpectedEOF
	}
	switch s.data[pos] {
	case '{', '[':
		return s.container(pos)
	case '"':
		return s.text(pos)
	}
	start := pos
	for pos < s.end && strings.IndexByte(" \t\r\n,:]}", s.data[pos]) < 0 {
		pos++
	}
	if pos == start {
		return pos, fmt.Errorf("a value is missing before %q", s.data[pos])
	}
	return pos, nil
}

func (s *jsonScanner) container(pos int) (int, error) {
	depth := 0
	for pos < s.end {
		switch s.data[pos] {
		case '"':
			end, err := s.text(pos)
			if err != nil {
				return end, err
			}
			pos = end
			continue
		case '{', '[':
			depth++
			if depth > s.maxDepth {
				return pos, errTooDeep
			}
		case '}', ']':
			depth--
			if depth == 0 {
				return pos + 1, nil
			}
		}
		pos++
	}
	return pos, io.ErrUnexpectedEOF
}

func (s *jsonScanner) text(pos int) (int, error) {
	start := pos
	pos++
	for pos < s.end {
		quote := bytes.IndexByte(s.data[pos:s.end], '"')
		if quote < 0 {
			break
		}
		escape := bytes.IndexByte(s.data[pos:pos+quote], '\\')
		if escape < 0 {
			if pos+quote-start > maxLine {
				return start, errLongLine
			}
			return pos + quote + 1, nil
		}
		pos += escape + 2
	}
	return s.end, io.ErrUnexpectedEOF
}

// members calls yield with key and value of each member of the object at pos.
func (s *jsonScanner) members(pos int, yield func(key, value span) error) error {
	return s.sequence(pos, '}', func(pos int) (int, error) {
		if s.data[pos] != '"' {
			return pos, fmt.Errorf("a field name in double quotes is missing before %q", s.data[pos])
		}
		keyEnd, err := s.text(pos)
		if err != nil {
			return keyEnd, err
		}
		key := span{pos + 1, keyEnd - 1}
		pos = s.skipSpace(keyEnd)
		if pos >= s.end {
			return pos, io.ErrUnexpectedEOF
		}
		if s.data[pos] != ':' {
			return pos, fmt.Errorf("a colon is missing before %q", s.data[pos])
		}
		start := s.skipSpace(pos + 1)
		end, err := s.value(start)
		if err != nil {
			return end, err
		}
		return end, yield(key, span{start, end})
	})
}

// elements calls yield with each element of the array at pos.
func (s *jsonScanner) elements(pos int, yield func(value span) error) error {
	return s.sequence(pos, ']', func(pos int) (int, error) {
		end, err := s.value(pos)
		if err != nil {
			return end, err
		}
		return end, yield(span{pos, end})
	})
}

// scanError is a syntax error with its place.
type scanError struct {
	offset int
	cause  error
}

func (e *scanError) Error() string { return e.cause.Error() }
func (e *scanError) Unwrap() error { return e.cause }

// sequence iterates over the comma-separated values between the opening mark at pos and the closing mark.
func (s *jsonScanner) sequence(pos int, closing byte, one func(pos int) (int, error)) error {
	pos = s.skipSpace(pos + 1)
	if pos < s.end && s.data[pos] == closing {
		return nil
	}
	for pos < s.end {
		end, err := one(pos)
		if err != nil {
			var located *scanError
			if errors.As(err, &located) {
				return err
			}
			return &scanError{end, err}
		}
		pos = s.skipSpace(end)
		if pos >= s.end {
			break
		}
		switch s.data[pos] {
		case ',':
			pos = s.skipSpace(pos + 1)
		case closing:
			return nil
		default:
			return &scanError{pos, fmt.Errorf("a comma is missing before %q", s.data[pos])}
		}
	}
	return &scanError{s.end, io.ErrUnexpectedEOF}
}

// jsonTree parses the JSON value in data[at.start:at.end] into the same tree that YAML is parsed into, with line numbers that count from
// line for the byte at.start. It is only used for messages, so it is not optimised, and skips unreadable parts.
func jsonTree(data []byte, at span, line, maxDepth int) *yaml.Node {
	p := jsonTreeParser{
		jsonScanner: jsonScanner{data: data, end: at.end, maxDepth: maxDepth},
		line:        line, counted: at.start,
	}
	return p.node(at)
}

type jsonTreeParser struct {
	jsonScanner
	// line is the line of the byte at counted; positions are visited in ascending order.
	line, counted int
}

func (p *jsonTreeParser) lineAt(pos int) int {
	if pos > p.counted {
		p.line += bytes.Count(p.data[p.counted:pos], []byte{'\n'})
		p.counted = pos
	}
	return p.line
}

func (p *jsonTreeParser) node(at span) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: p.lineAt(at.start)}
	text := p.data[at.start:at.end]
	if len(text) == 0 {
		n.Tag = "!!null"
		return n
	}
	// An error ends the iteration early; the tree then contains the values before it.
	switch text[0] {
	case '{':
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		_ = p.members(at.start, func(key, value span) error {
			keyNode := p.node(span{key.start - 1, key.end + 1})
			n.Content = append(n.Content, keyNode, p.node(value))
			return nil
		})
	case '[':
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		_ = p.elements(at.start, func(value span) error {
			n.Content = append(n.Content, p.node(value))
			return nil
		})
	case '"':
		n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
		if json.Unmarshal(text, &n.Value) != nil {
			n.Value = string(text)
		}
	case 't', 'f':
		n.Tag, n.Value = "!!bool", string(text)
	case 'n':
		n.Tag, n.Value = "!!null", string(text)
	default:
		n.Tag, n.Value = "!!int", string(text)
		if bytes.ContainsAny(text, ".eE") {
			n.Tag = "!!float"
		}
	}
	return n
}

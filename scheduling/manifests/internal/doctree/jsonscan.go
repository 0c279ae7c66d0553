package doctree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Span is a range of bytes of a source, from Start up to but not including End.
type Span struct{ Start, End int }

// ErrTooDeep is the error for values that are nested too deeply.
var ErrTooDeep = errors.New("nested too deeply")

// MaxLine bounds the lines of YAML and the strings of JSON, which a parser copies several times. No object that an API server accepts is
// even half as long.
const MaxLine = 8 << 20

// ErrLongLine is the error for lines and strings that are longer than MaxLine.
var ErrLongLine = fmt.Errorf("a line of YAML or a text of JSON has more than %d bytes", MaxLine)

// JSONScanner finds the beginning and end of values without decoding them, so that splitting a list of fifty thousand pods into items costs
// little more than reading it. It does not check values: this happens when they are decoded.
type JSONScanner struct {
	Data     []byte
	End      int
	MaxDepth int
}

// SkipSpace returns the position of the next value or punctuation mark.
func (s *JSONScanner) SkipSpace(pos int) int {
	for pos < s.End {
		switch s.Data[pos] {
		case ' ', '\t', '\r', '\n':
			pos++
		default:
			return pos
		}
	}
	return pos
}

// Value returns the end of the value that starts at pos.
func (s *JSONScanner) Value(pos int) (int, error) {
	if pos >= s.End {
		return pos, io.ErrUnexpectedEOF
	}
	switch s.Data[pos] {
	case '{', '[':
		return s.container(pos)
	case '"':
		return s.text(pos)
	}
	start := pos
	for pos < s.End && strings.IndexByte(" \t\r\n,:]}", s.Data[pos]) < 0 {
		pos++
	}
	if pos == start {
		return pos, fmt.Errorf("a value is missing before %q", s.Data[pos])
	}
	return pos, nil
}

func (s *JSONScanner) container(pos int) (int, error) {
	depth := 0
	for pos < s.End {
		switch s.Data[pos] {
		case '"':
			end, err := s.text(pos)
			if err != nil {
				return end, err
			}
			pos = end
			continue
		case '{', '[':
			depth++
			if depth > s.MaxDepth {
				return pos, ErrTooDeep
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

func (s *JSONScanner) text(pos int) (int, error) {
	start := pos
	pos++
	for pos < s.End {
		quote := bytes.IndexByte(s.Data[pos:s.End], '"')
		if quote < 0 {
			break
		}
		escape := bytes.IndexByte(s.Data[pos:pos+quote], '\\')
		if escape < 0 {
			if pos+quote-start > MaxLine {
				return start, ErrLongLine
			}
			return pos + quote + 1, nil
		}
		pos += escape + 2
	}
	return s.End, io.ErrUnexpectedEOF
}

// Members calls yield with key and value of each member of the object at pos.
func (s *JSONScanner) Members(pos int, yield func(key, value Span) error) error {
	return s.sequence(pos, '}', func(pos int) (int, error) {
		if s.Data[pos] != '"' {
			return pos, fmt.Errorf("a field name in double quotes is missing before %q", s.Data[pos])
		}
		keyEnd, err := s.text(pos)
		if err != nil {
			return keyEnd, err
		}
		key := Span{pos + 1, keyEnd - 1}
		pos = s.SkipSpace(keyEnd)
		if pos >= s.End {
			return pos, io.ErrUnexpectedEOF
		}
		if s.Data[pos] != ':' {
			return pos, fmt.Errorf("a colon is missing before %q", s.Data[pos])
		}
		start := s.SkipSpace(pos + 1)
		end, err := s.Value(start)
		if err != nil {
			return end, err
		}
		return end, yield(key, Span{start, end})
	})
}

// Elements calls yield with each element of the array at pos.
func (s *JSONScanner) Elements(pos int, yield func(value Span) error) error {
	return s.sequence(pos, ']', func(pos int) (int, error) {
		end, err := s.Value(pos)
		if err != nil {
			return end, err
		}
		return end, yield(Span{pos, end})
	})
}

// ScanError is a syntax error with its place.
type ScanError struct {
	Offset int
	Cause  error
}

func (e *ScanError) Error() string { return e.Cause.Error() }
func (e *ScanError) Unwrap() error { return e.Cause }

// sequence iterates over the comma-separated values between the opening mark at pos and the closing mark.
func (s *JSONScanner) sequence(pos int, closing byte, one func(pos int) (int, error)) error {
	pos = s.SkipSpace(pos + 1)
	if pos < s.End && s.Data[pos] == closing {
		return nil
	}
	for pos < s.End {
		end, err := one(pos)
		if err != nil {
			var located *ScanError
			if errors.As(err, &located) {
				return err
			}
			return &ScanError{end, err}
		}
		pos = s.SkipSpace(end)
		if pos >= s.End {
			break
		}
		switch s.Data[pos] {
		case ',':
			pos = s.SkipSpace(pos + 1)
		case closing:
			return nil
		default:
			return &ScanError{pos, fmt.Errorf("a comma is missing before %q", s.Data[pos])}
		}
	}
	return &ScanError{s.End, io.ErrUnexpectedEOF}
}

// JSONTree parses the JSON value in data[at.start:at.end] into the same tree that YAML is parsed into, with line numbers that count from
// line for the byte at.start. It is only used for messages, so it is not optimised, and skips unreadable parts.
func JSONTree(data []byte, at Span, line, maxDepth int) *yaml.Node {
	p := jsonTreeParser{
		JSONScanner: JSONScanner{Data: data, End: at.End, MaxDepth: maxDepth},
		line:        line, counted: at.Start,
	}
	return p.node(at)
}

type jsonTreeParser struct {
	JSONScanner
	// line is the number of the line that contains the byte at the position counted. The method lineAt computes it for ascending positions.
	line, counted int
}

func (p *jsonTreeParser) lineAt(pos int) int {
	if pos > p.counted {
		p.line += bytes.Count(p.Data[p.counted:pos], []byte{'\n'})
		p.counted = pos
	}
	return p.line
}

func (p *jsonTreeParser) node(at Span) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: p.lineAt(at.Start)}
	text := p.Data[at.Start:at.End]
	if len(text) == 0 {
		n.Tag = "!!null"
		return n
	}
	// Errors are ignored. An error ends the iteration early, and the tree contains only the values before the error.
	switch text[0] {
	case '{':
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		_ = p.Members(at.Start, func(key, value Span) error {
			keyNode := p.node(Span{key.Start - 1, key.End + 1})
			n.Content = append(n.Content, keyNode, p.node(value))
			return nil
		})
	case '[':
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		_ = p.Elements(at.Start, func(value Span) error {
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

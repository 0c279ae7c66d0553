package doctree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML is read as kubectl reads it: as another notation for JSON. The parser returns nodes with line numbers. The nodes are written as
// JSON, and this JSON is then decoded. Unquoted words follow YAML 1.1, where yes, no, on and off are booleans, as in the API server's
// clients.

// ErrAliases is the error for a document whose aliases unfold to far more data than the document contains.
var ErrAliases = errors.New("the aliases in the document unfold to far more data than the document holds")

// errComplexKey is the error for mappings whose keys are not scalars.
var errComplexKey = errors.New("a key of a mapping must be a single word or number")

// errMerge is the error for merge keys without a mapping to merge.
var errMerge = errors.New("a merge key (<<) needs a mapping or a list of mappings")

// SyntaxError is a YAML syntax error. line counts from 1 in the text that was parsed; 0 is unknown.
type SyntaxError struct {
	Line    int
	message string
}

func (e *SyntaxError) Error() string { return e.message }

var yamlErrorLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// ParseYAML reads every document of text, normally one.
func ParseYAML(text []byte) ([]*yaml.Node, error) {
	docs, err := decodeYAML(text)
	var syntax *SyntaxError
	if errors.As(err, &syntax) && len(text) <= maxBisected {
		syntax.Line = offendingLine(text, syntax)
	}
	return docs, err
}

// maxBisected is the largest size, in bytes, of a document that is parsed several times to find the line of an error.
const maxBisected = 256 << 10

// offendingLine finds the line that causes the error. It is the first line at which the text can be cut off and still has the same error.
// If the text has no such line, offendingLine returns the parser's own line number, which is less exact. For an unfinished construct, the
// parser names the line where the construct begins. Some errors of the parser count lines from 0, and other errors count them from 1.
func offendingLine(text []byte, syntax *SyntaxError) int {
	var ends []int
	for pos := 0; pos < len(text); pos = EndOfLine(text, pos) {
		ends = append(ends, EndOfLine(text, pos))
	}
	i := sort.Search(len(ends), func(i int) bool {
		_, err := decodeYAML(text[:ends[i]])
		var other *SyntaxError
		return errors.As(err, &other) && other.message == syntax.message
	})
	if i == len(ends) {
		return syntax.Line // no line was found for this error
	}
	return i + 1
}

func decodeYAML(text []byte) (docs []*yaml.Node, err error) {
	// The parser is known to panic on some malformed input. A library must not panic, so recover.
	defer func() {
		if cause := recover(); cause != nil {
			docs, err = nil, &SyntaxError{message: fmt.Sprintf("the document can't be parsed: %v", cause)}
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, newSyntaxError(err)
		}
		if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
			docs = append(docs, doc.Content[0])
		}
	}
}

func newSyntaxError(err error) error {
	text := err.Error()
	match := yamlErrorLine.FindStringSubmatch(text)
	if match == nil {
		return &SyntaxError{message: text}
	}
	line, _ := strconv.Atoi(match[1]) // 0 if the message contains no line number
	return &SyntaxError{Line: line, message: text[len(match[0]):]}
}

// JSONWriter turns YAML nodes into JSON.
type JSONWriter struct {
	Out []byte
	// Limit bounds len(out): aliases may make a small document big.
	Limit    int
	MaxDepth int
	// merges limits the work on merge keys. This work can grow without limit although no output is written.
	merges mergeBudget
}

// mergeBudget counts how many mappings were merged because of merge keys.
type mergeBudget int

const maxMerges mergeBudget = 100_000

// NodeError is a structural error of the document, with the node that causes it.
type NodeError struct {
	Node  *yaml.Node
	Cause error
}

func (e *NodeError) Error() string { return e.Cause.Error() }
func (e *NodeError) Unwrap() error { return e.Cause }

// Write appends the JSON of the node; depth says how deep the node is nested.
func (w *JSONWriter) Write(n *yaml.Node, depth int) error {
	// This limit also stops the recursion of an alias that refers to itself.
	if depth > w.MaxDepth {
		return &NodeError{n, ErrTooDeep}
	}
	if len(w.Out) > w.Limit {
		return &NodeError{n, ErrAliases}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.Write(n.Alias, depth+1)
	case yaml.SequenceNode:
		return w.writeSequence(n, depth)
	case yaml.MappingNode:
		return w.writeMapping(n, depth)
	case yaml.ScalarNode:
		w.Out = appendScalar(w.Out, n)
	default:
		w.Out = append(w.Out, "null"...)
	}
	return nil
}

func (w *JSONWriter) writeSequence(n *yaml.Node, depth int) error {
	w.Out = append(w.Out, '[')
	for i, item := range n.Content {
		if i > 0 {
			w.Out = append(w.Out, ',')
		}
		if err := w.Write(item, depth+1); err != nil {
			return err
		}
	}
	w.Out = append(w.Out, ']')
	return nil
}

func (w *JSONWriter) writeMapping(n *yaml.Node, depth int) error {
	pairs, err := w.merges.flatten(n, 0, w.MaxDepth)
	if err != nil {
		return err
	}
	w.Out = append(w.Out, '{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			w.Out = append(w.Out, ',')
		}
		key, ok := keyText(pairs[i])
		if !ok {
			return &NodeError{pairs[i], errComplexKey}
		}
		w.Out = appendText(w.Out, key)
		w.Out = append(w.Out, ':')
		if err := w.Write(pairs[i+1], depth+1); err != nil {
			return err
		}
	}
	w.Out = append(w.Out, '}')
	return nil
}

// flatten returns a list in which each key of the mapping is followed by its value. In place of merge keys ("<<"), the list has the merged
// entries whose keys the mapping does not have itself.
func (b *mergeBudget) flatten(n *yaml.Node, depth, maxDepth int) ([]*yaml.Node, error) {
	merged := false
	for i := 0; i+1 < len(n.Content); i += 2 {
		merged = merged || isMerge(n.Content[i])
	}
	if !merged {
		return n.Content, nil
	}
	if depth > maxDepth {
		return nil, &NodeError{n, ErrTooDeep}
	}
	if *b++; *b > maxMerges {
		return nil, &NodeError{n, ErrAliases}
	}
	stated := make(map[string]bool)
	var pairs []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			continue
		}
		key, _ := keyText(n.Content[i])
		stated[key] = true
		pairs = append(pairs, n.Content[i], n.Content[i+1])
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		for _, source := range mergeSources(n.Content[i+1]) {
			if source.Kind != yaml.MappingNode {
				return nil, &NodeError{n.Content[i], errMerge}
			}
			brought, err := b.flatten(source, depth+1, maxDepth)
			if err != nil {
				return nil, err
			}
			for j := 0; j+1 < len(brought); j += 2 {
				key, _ := keyText(brought[j])
				if !stated[key] {
					stated[key] = true
					pairs = append(pairs, brought[j], brought[j+1])
				}
			}
		}
	}
	return pairs, nil
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Tag == "!!merge" && key.Value == "<<"
}

func mergeSources(n *yaml.Node) []*yaml.Node {
	n = ResolveAlias(n)
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	sources := make([]*yaml.Node, len(n.Content))
	for i, item := range n.Content {
		sources[i] = ResolveAlias(item)
	}
	return sources
}

// ResolveAlias follows an alias. The parser never makes an alias of an alias.
func ResolveAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// keyText returns the field name for a YAML key. It converts numbers and booleans to text.
func keyText(n *yaml.Node) (string, bool) {
	n = ResolveAlias(n)
	if n.Kind != yaml.ScalarNode {
		return "", false
	}
	if value, ok := boolean(n); ok {
		return strconv.FormatBool(value), true
	}
	return n.Value, true
}

// boolean says whether a scalar is a boolean, and returns its value.
func boolean(n *yaml.Node) (value, ok bool) {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	tag := n.ShortTag()
	if n.Value == "" || tag != "!!bool" && (tag != "!!str" || n.Style&(quoted|yaml.TaggedStyle) != 0) {
		return false, false
	}
	// YAML 1.1 accepts each word in lower case, capitalised, and in upper case.
	lower := strings.ToLower(n.Value)
	if n.Value != lower && n.Value != strings.ToUpper(n.Value) && n.Value != strings.ToUpper(lower[:1])+lower[1:] {
		return false, false
	}
	switch lower {
	case "true", "yes", "y", "on":
		return true, true
	case "false", "no", "n", "off":
		return false, true
	}
	return false, false
}

func appendScalar(out []byte, n *yaml.Node) []byte {
	if value, ok := boolean(n); ok {
		return strconv.AppendBool(out, value)
	}
	switch n.ShortTag() {
	case "!!null":
		return append(out, "null"...)
	case "!!int":
		return appendInteger(out, n.Value)
	case "!!float":
		return appendFloat(out, n.Value)
	}
	return appendText(out, n.Value)
}

func appendInteger(out []byte, text string) []byte {
	plain := strings.ReplaceAll(text, "_", "")
	if value, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return strconv.AppendInt(out, value, 10)
	}
	if value, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return strconv.AppendUint(out, value, 10)
	}
	return appendFloat(out, plain)
}

func appendFloat(out []byte, text string) []byte {
	value, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		// JSON can't express infinity or NaN. Such a value is written as text, and the decoder refuses text in a field that requires a
		// number.
		return appendText(out, text)
	}
	if mantissa := strings.FieldsFunc(text, func(r rune) bool { return r == 'e' || r == 'E' }); value == 0 && strings.ContainsAny(mantissa[0], "123456789") {
		return appendText(out, text) // the value is not zero, but too small for a number of JSON
	}
	number, err := json.Marshal(value)
	if err != nil {
		return appendText(out, text)
	}
	return append(out, number...)
}

// appendText writes text in quotes. It is fast for plain ASCII without characters to escape, because nearly all text has this form.
func appendText(out []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			quoted, err := json.Marshal(text)
			if err != nil {
				return append(out, `""`...) // never: json.Marshal accepts every string
			}
			return append(out, quoted...)
		}
	}
	out = append(out, '"')
	out = append(out, text...)
	return append(out, '"')
}

// EndOfLine returns the position after the line that contains pos, including its line end.
func EndOfLine(text []byte, pos int) int {
	if end := bytes.IndexByte(text[pos:], '\n'); end >= 0 {
		return pos + end + 1
	}
	return len(text)
}

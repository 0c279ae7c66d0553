package usage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
)

// reader reads one file.
type reader struct {
	usage *Usage
	// resource is what the series of the file measure; empty if their labels say it.
	resource corev1.ResourceName
	// found counts the series and the objects of the file, sums counts skipped series, and used counts what was not skipped.
	found, sums, used int
}

// document is a document of a file: an answer of Prometheus, an object, or a list of objects.
type document struct {
	// Status is a text in an answer of Prometheus.
	Status    json.RawMessage `json:"status"`
	ErrorType string          `json:"errorType"`
	Error     string          `json:"error"`
	Data      json.RawMessage `json:"data"`

	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
}

var errUnknownDocument = errors.New("is neither an answer of Prometheus' HTTP API nor a VerticalPodAutoscaler; save what curl prints of /api/v1/query, or what kubectl get vpa -A -o yaml prints")

// read reads all documents of a file.
func (r *reader) read(text []byte) error {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	read := r.readYAML
	if isJSON(text) {
		read = r.readJSON
	}
	if err := read(text); err != nil {
		return err
	}
	switch {
	case r.found == 0:
		return errors.New("has no series and no VerticalPodAutoscaler; check the query, or the namespace")
	case r.sums == r.found:
		return errors.New("all series are sums of pods, because they have no label container; keep it in the query, as in sum by (namespace, pod, container) (...)")
	}
	return nil
}

// isJSON distinguishes JSON from YAML that also begins with a brace: in JSON, a name in double quotes or nothing follows it.
func isJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) > 0 && text[0] == '[' {
		return true
	}
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	text = bytes.TrimLeft(text[1:], " \t\r\n")
	return len(text) == 0 || text[0] == '"' || text[0] == '}'
}

// readJSON reads documents that follow each other.
func (r *reader) readJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for number := 1; ; number++ {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the text ends in the middle of the document; save it again")
		}
		if err == nil {
			err = r.documentOf(raw)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", number, plain(err))
		}
	}
}

// documentOf reads one document of JSON.
func (r *reader) documentOf(raw json.RawMessage) error {
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	var status string
	switch {
	case d.Kind == "" && json.Unmarshal(d.Status, &status) == nil && d.Status != nil:
		return r.answer(status, d)
	case d.Kind == "":
		return errUnknownDocument
	case d.Kind == "List" || d.Kind == kindVPA+"List":
		for i, item := range d.Items {
			if err := r.objectJSON(item, d); err != nil {
				return fmt.Errorf("item %d: %w", i+1, err)
			}
		}
		return nil
	}
	return r.objectJSON(raw, document{})
}

func (r *reader) objectJSON(raw json.RawMessage, list document) error {
	var v autoscaler
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	return r.autoscaler(v.inherit(list))
}

// objects is a document of YAML; Items are the objects of a list.
type objects struct {
	APIVersion string      `yaml:"apiVersion"`
	Kind       string      `yaml:"kind"`
	Items      []yaml.Node `yaml:"items"`
}

// readYAML reads documents of YAML. The parser is known to panic on some malformed text, so that readYAML recovers.
func (r *reader) readYAML(text []byte) (err error) {
	if len(text) > mostYAMLBytes {
		return fmt.Errorf("is larger than %d bytes of YAML; save it with -o json", mostYAMLBytes)
	}
	number := 0
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("document %d: can't be parsed: %v", number, cause)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		number++
		var root yaml.Node
		err := decoder.Decode(&root)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = r.objectsYAML(&root)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", number, plain(err))
		}
	}
}

// objectsYAML reads one document of YAML.
func (r *reader) objectsYAML(root *yaml.Node) error {
	if root.Kind == yaml.DocumentNode && len(root.Content) == 1 && root.Content[0].ShortTag() == "!!null" {
		return nil // only comments
	}
	var d objects
	if err := root.Decode(&d); err != nil {
		return err
	}
	switch d.Kind {
	case "":
		return errUnknownDocument
	case "List", kindVPA + "List":
		for i := range d.Items {
			if err := r.objectYAML(&d.Items[i], document{APIVersion: d.APIVersion, Kind: d.Kind}); err != nil {
				return fmt.Errorf("item %d: %w", i+1, err)
			}
		}
		return nil
	}
	return r.objectYAML(root, document{})
}

func (r *reader) objectYAML(node *yaml.Node, list document) error {
	var v autoscaler
	if err := node.Decode(&v); err != nil {
		return err
	}
	return r.autoscaler(v.inherit(list))
}

// plain removes the names of the parsers from an error, and makes it one line.
func plain(err error) error {
	text := err.Error()
	short := strings.Join(strings.Fields(strings.NewReplacer("json: ", "", "yaml: ", "").Replace(text)), " ")
	if short == text {
		return err
	}
	return errors.New(short)
}

package planning

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	options "github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/quantities"
)

// maxSnapshotBytes is the largest size of the input of DecodeSnapshot. It is twice the limit of package manifests. Snapshots of the largest
// clusters are much smaller.
const maxSnapshotBytes = 1 << 30

// Encode writes the snapshot as YAML. DecodeSnapshot turns the output back into an equal snapshot.
func (s *Snapshot) Encode(w io.Writer) error {
	if w == nil {
		return options.Missing("Snapshot.Encode", "the writer")
	}
	return encodeYAML(w, s)
}

// EncodeJSON writes the snapshot as JSON. DecodeSnapshot reads JSON much faster than YAML, so use JSON for large clusters.
func (s *Snapshot) EncodeJSON(w io.Writer) error {
	if w == nil {
		return options.Missing("Snapshot.EncodeJSON", "the writer")
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	if err := enc.Encode(s); err != nil {
		return fmt.Errorf("encoding snapshot: %w", err)
	}
	return nil
}

// DecodeSnapshot reads a snapshot written by Encode or EncodeJSON. It refuses unknown fields: ignoring part of a snapshot would reproduce a
// different decision. For manifests the error is a *NotSnapshotError, for a nil reader an *option.ArgumentError, and for too much input a
// *SizeError. Other errors wrap the error of the reader or the decoder.
func DecodeSnapshot(r io.Reader) (*Snapshot, error) {
	if r == nil {
		return nil, options.Missing("DecodeSnapshot", "the reader")
	}
	data, err := io.ReadAll(bufio.NewReader(io.LimitReader(r, maxSnapshotBytes+1)))
	if err != nil {
		return nil, fmt.Errorf("reading snapshot: %w", err)
	}
	if len(data) > maxSnapshotBytes {
		return nil, fmt.Errorf("reading snapshot: %w", &SizeError{Limit: maxSnapshotBytes})
	}
	if err := checkTexts(data); err != nil {
		return nil, fmt.Errorf("decoding snapshot: %w", err)
	}
	s, err := decodeDocument(data)
	if err != nil {
		if kind := kindOfObject(data); kind != "" {
			err = &NotSnapshotError{Kind: kind}
		}
		return nil, fmt.Errorf("decoding snapshot: %w", err)
	}
	for i := range s.NodePools {
		p := &s.NodePools[i]
		if p.Key.IsZero() && p.Object != nil {
			p.Key = v1.NewPoolKey(p.Object.Name)
		}
	}
	return s, nil
}

// NotSnapshotError says that the input of DecodeSnapshot is not a snapshot but a Kubernetes object or a list of them.
type NotSnapshotError struct {
	// Kind of the first object.
	Kind string
}

// Error names the kind and the package that reads it.
func (e *NotSnapshotError) Error() string {
	return fmt.Sprintf("it holds Kubernetes objects (the first is a %s), not a snapshot: package scheduling/manifests makes one of them", e.Kind)
}

// kindOfObject returns the kind of the first document if this document is a Kubernetes object. If not, it returns "".
func kindOfObject(data []byte) string {
	doc, err := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))).Read()
	if err != nil {
		return ""
	}
	var object struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(doc, &object); err != nil || object.APIVersion == "" {
		return ""
	}
	return object.Kind
}

// decodeDocument reads exactly one document, JSON or YAML.
func decodeDocument(data []byte) (*Snapshot, error) {
	trimmed := bytes.TrimSpace(data)
	s := &Snapshot{}
	switch {
	case len(trimmed) == 0:
		return nil, errors.New("it is empty")
	case trimmed[0] == '{':
		if err := quantities.CheckJSON(data, reflect.TypeFor[Snapshot]()); err != nil {
			return nil, err
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(s); err != nil {
			return nil, err
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("more data follows the document: a snapshot must be a single document")
		}
		return s, nil
	}
	docs, err := countDocuments(data)
	if err != nil {
		return nil, err
	}
	if docs != 1 {
		return nil, fmt.Errorf("it has %d documents: a snapshot must be a single document", docs)
	}
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, err
	}
	if err := quantities.CheckJSON(text, reflect.TypeFor[Snapshot]()); err != nil {
		return nil, err
	}
	return s, yaml.UnmarshalStrict(data, s)
}

// countDocuments counts the YAML documents that are not empty.
func countDocuments(data []byte) (int, error) {
	docs := 0
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return docs, err
		}
		if len(bytes.TrimSpace(doc)) > 0 {
			docs++
		}
	}
}

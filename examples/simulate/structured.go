package main

import (
	"bytes"
	"io"

	"sigs.k8s.io/yaml"
)

// structured reports whether output is for programs.
func (f outputFormat) structured() bool { return f == outputJSON || f == outputYAML }

// writeDocument writes a document as JSON or YAML. The YAML has the keys of each object sorted.
func writeDocument(w io.Writer, form outputFormat, document any) error {
	if form != outputYAML {
		return writeJSON(w, document)
	}
	var asJSON bytes.Buffer
	if err := writeJSON(&asJSON, document); err != nil {
		return err
	}
	text, err := yaml.JSONToYAML(asJSON.Bytes())
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

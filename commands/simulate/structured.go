package simulate

import (
	"bytes"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/commands/simulate/internal/jsonstream"
)

// documentVersion changes if the meaning of a key changes or a key is removed; such a change needs a line in the changelog.
const documentVersion = "simulate.drawknife.dev/v1"

// Kinds of documents. Each kind has its JSON Schema in the folder schemas.
const (
	kindPlan              = "Plan"
	kindConsolidationPlan = "ConsolidationPlan"
	kindPoolComparison    = "PoolComparison"
	kindReplay            = "Replay"
	kindPodExplanation    = "PodExplanation"
	kindNodeExplanation   = "NodeExplanation"
	kindPoolExplanation   = "NodePoolExplanation"
)

// typeMeta contains the kind and the version of a document.
type typeMeta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func typeOf(kind string) typeMeta { return typeMeta{APIVersion: documentVersion, Kind: kind} }

// structured reports whether output is for programs.
func (f outputFormat) structured() bool {
	return f == outputJSON || f == outputYAML || f == outputCSV
}

// known reports whether the format exists.
func (f outputFormat) known() bool {
	return f == outputText || f == outputWide || f == outputMarkdown || f.structured() || f.judged()
}

// judged reports whether the format is one for the result of a policy.
func (f outputFormat) judged() bool { return f == outputSARIF || f == outputJUnit }

// writeDocument writes a document as JSON or YAML, or its rows as CSV. The YAML has the keys of each object sorted.
func writeDocument(w io.Writer, form outputFormat, document any) error {
	if list, ok := document.(tabular); ok && form == outputCSV {
		return writeCSV(w, list)
	}
	if form != outputYAML {
		return jsonstream.Write(w, document)
	}
	var asJSON bytes.Buffer
	if err := jsonstream.Write(&asJSON, document); err != nil {
		return err
	}
	text, err := yaml.JSONToYAML(asJSON.Bytes())
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

package simulate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

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

// tabular is a document with a list for a spreadsheet. -o csv prints one row for each entry of the list.
type tabular interface {
	// rows is a slice of structs.
	rows() any
}

func (d document) rows() any              { return d.Nodes }
func (d consolidationDocument) rows() any { return d.Nodes }
func (d differenceDocument) rows() any    { return d.Nodes }
func (d replayDocument) rows() any        { return d.Series }
func (d *podExplanation) rows() any       { return d.Rules }
func (d *nodeExplanation) rows() any      { return d.Workloads }
func (d *poolExplanation) rows() any      { return d.Rules }

// cell is the name of a column, and the path of its field in the struct of a row.
type cell struct {
	name  string
	index []int
}

// writeCSV writes the rows of a document, with the keys of its JSON as titles. Lists of texts are joined by spaces, and other values that
// are not scalars are written as JSON.
func writeCSV(w io.Writer, d tabular) error {
	rows := reflect.ValueOf(d.rows())
	cells := cellsOf(rows.Type().Elem(), nil, map[string]bool{})
	out := csv.NewWriter(w)
	line := make([]string, len(cells))
	for i, c := range cells {
		line[i] = c.name
	}
	if err := out.Write(line); err != nil {
		return err
	}
	for i := range rows.Len() {
		for j, c := range cells {
			text, err := cellText(rows.Index(i).FieldByIndex(c.index))
			if err != nil {
				return err
			}
			line[j] = text
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// cellsOf returns the columns of a struct: one for each field, with its JSON name. Fields of embedded structs come last. A field of an
// embedded struct is left out if an outer field has the same name.
func cellsOf(t reflect.Type, at []int, taken map[string]bool) []cell {
	var cells []cell
	var embedded []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			embedded = append(embedded, f)
			continue
		}
		if name == "" || name == "-" || taken[name] || !f.IsExported() {
			continue
		}
		taken[name] = true
		cells = append(cells, cell{name, append(append([]int{}, at...), f.Index...)})
	}
	for _, f := range embedded {
		cells = append(cells, cellsOf(f.Type, append(append([]int{}, at...), f.Index...), taken)...)
	}
	return cells
}

// cellText returns the text of a value in a cell. A text that a spreadsheet would treat as a formula gets an apostrophe in front.
func cellText(v reflect.Value) (string, error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", nil
		}
		if _, isPlace := v.Interface().(fmt.Stringer); !isPlace || v.Type().Elem() == reflect.TypeFor[time.Time]() {
			return cellText(v.Elem())
		}
	}
	switch value := v.Interface().(type) {
	case string:
		return guarded(value), nil
	case bool:
		return strconv.FormatBool(value), nil
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64), nil
	case time.Time:
		return value.Format(time.RFC3339), nil
	case []string:
		return guarded(strings.Join(value, " ")), nil
	}
	if v.CanInt() {
		return strconv.FormatInt(v.Int(), 10), nil
	}
	if v.Kind() == reflect.String {
		return guarded(v.String()), nil
	}
	text, err := json.Marshal(v.Interface())
	return string(text), err
}

func guarded(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

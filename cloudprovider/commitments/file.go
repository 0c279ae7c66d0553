package commitments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/option"
)

const (
	// accountSchema and useSchema are the values of "schema" in files.
	accountSchema = "drawknife-commitments/1"
	useSchema     = "drawknife-commitment-use/1"
	// maxBytes bounds files.
	maxBytes = 16 << 20
)

type accountFile struct {
	Schema string `json:"schema"`
	Account
}

type useFile struct {
	Schema string `json:"schema"`
	ClusterUse
}

// Decode reads an account from YAML or JSON of at most 16 MiB. Encode writes such files, and people can write them too: see
// docs/costs.md. Unknown fields are refused, because ignoring part of a commitment would change prices. A file that breaks a rule gives
// an *Error.
func Decode(r io.Reader) (*Account, error) {
	f := &accountFile{}
	if err := decode(r, "commitments", f); err != nil {
		return nil, err
	}
	if f.Schema != accountSchema {
		return nil, &Error{"schema", fmt.Sprintf("is %q: it must be %q", f.Schema, accountSchema)}
	}
	if err := f.Validate(); err != nil {
		return nil, err
	}
	return &f.Account, nil
}

// Encode writes the account as JSON. The same account gives the same bytes.
func (a *Account) Encode(w io.Writer) error {
	f := accountFile{Schema: accountSchema}
	if a != nil {
		f.Account = *a
	}
	return encode(w, "commitments", f)
}

// DecodeUse reads the report of a cluster, which ClusterUse.Encode writes.
func DecodeUse(r io.Reader) (ClusterUse, error) {
	f := useFile{}
	if err := decode(r, "use of commitments", &f); err != nil {
		return ClusterUse{}, err
	}
	switch {
	case f.Schema != useSchema:
		return ClusterUse{}, &Error{"schema", fmt.Sprintf("is %q: it must be %q", f.Schema, useSchema)}
	case !named(f.Cluster):
		return ClusterUse{}, &Error{"cluster", "must be the name of a cluster"}
	case len(f.Uses) > MaxCommitments:
		return ClusterUse{}, &Error{"uses", fmt.Sprintf("has %d entries: at most %d are allowed", len(f.Uses), MaxCommitments)}
	}
	for id, used := range f.Uses {
		if !named(id) || !amount(used) {
			return ClusterUse{}, &Error{"uses", fmt.Sprintf("has %g for %q: each amount must be from 0 to %g", used, id, float64(maxAmount))}
		}
	}
	return f.ClusterUse, nil
}

// Encode writes the report as JSON. The same report gives the same bytes.
func (u ClusterUse) Encode(w io.Writer) error {
	return encode(w, "use of commitments", useFile{useSchema, u})
}

func decode(r io.Reader, what string, into any) error {
	if r == nil {
		return option.Missing("Decode", "the reader")
	}
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	if len(data) > maxBytes {
		return fmt.Errorf("reading %s: the file has more than 16 MiB", what)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("reading %s: %w", what, errEmpty)
	}
	if err := yaml.UnmarshalStrict(data, into); err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	return nil
}

var errEmpty = errors.New("the file is empty")

func encode(w io.Writer, what string, f any) error {
	if w == nil {
		return option.Missing("Encode", "the writer")
	}
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", what, err)
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("writing %s: %w", what, err)
	}
	return nil
}

package planning

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"sigs.k8s.io/yaml"

	options "github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
)

const (
	// maxCostModelBytes is the largest size of the input of DecodeCostModel. A cost model with a table of a million offerings is smaller.
	maxCostModelBytes = 256 << 20
	// maxCostTerms and maxTabulated are the largest numbers of terms and of table entries of a cost model.
	maxCostTerms = 256
	maxTabulated = 1_000_000
	// minAmount is the smallest amount of a term, in USD per hour, because prices are whole nano-USD.
	minAmount = 1e-9
)

// MaxPrice is the highest possible price, USD per hour.
const MaxPrice = 1e9

// CostModelError says what is wrong with a CostModel.
type CostModelError struct {
	// Path of the field from the model's root: "terms[2].percent".
	Path string
	// Rule that the field breaks; it continues a sentence that begins with the path.
	Rule string
	// Cure says what to do.
	Cure string
}

// Error returns "cost model: path rule: cure".
func (e *CostModelError) Error() string {
	return fmt.Sprintf("cost model: %s %s: %s", e.Path, e.Rule, e.Cure)
}

// DecodeCostModel reads a CostModel as YAML or JSON, one document, at most 256 MiB, and validates it. It refuses unknown fields: ignoring
// part of a term would change prices. If the model breaks a rule, the error is a *CostModelError.
func DecodeCostModel(r io.Reader) (*CostModel, error) {
	if r == nil {
		return nil, options.Missing("DecodeCostModel", "the reader")
	}
	data, err := io.ReadAll(io.LimitReader(r, maxCostModelBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading cost model: %w", err)
	}
	if len(data) > maxCostModelBytes {
		return nil, fmt.Errorf("reading cost model: %w", &SizeError{Limit: maxCostModelBytes})
	}
	if err := checkTexts(data); err != nil {
		return nil, fmt.Errorf("decoding cost model: %w", err)
	}
	c := &CostModel{}
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '{' {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err = dec.Decode(c); err == nil {
			if _, more := dec.Token(); !errors.Is(more, io.EOF) {
				err = errors.New("more data follows the document: a cost model must be a single document")
			}
		}
	} else if len(trimmed) == 0 {
		err = errors.New("it is empty: a model without terms is written {}")
	} else {
		var n int
		if n, err = countDocuments(data); err == nil && n != 1 {
			err = fmt.Errorf("it has %d documents: a cost model must be a single document", n)
		}
		if err == nil {
			err = yaml.UnmarshalStrict(data, c)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("decoding cost model: %w", err)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, nil
}

// Validate returns a *CostModelError for the first field that breaks a rule, or nil if the model is valid. A nil model is valid.
func (c *CostModel) Validate() error {
	if c == nil {
		return nil
	}
	if len(c.Terms) > maxCostTerms {
		return &CostModelError{"terms", fmt.Sprintf("has %d entries", len(c.Terms)), fmt.Sprintf("give at most %d", maxCostTerms)}
	}
	seen := map[string]int{}
	for i := range c.Terms {
		t := &c.Terms[i]
		path := fmt.Sprintf("terms[%d]", i)
		if t.Name == "" || t.Name == ListPriceTerm {
			return &CostModelError{path + ".name", fmt.Sprintf("is %q", t.Name), "give the term a name of its own"}
		}
		if first, twice := seen[t.Name]; twice {
			return &CostModelError{path + ".name", fmt.Sprintf("is %q, like that of terms[%d]", t.Name, first), "names are unique"}
		}
		seen[t.Name] = i
		if t.Source == "" {
			return &CostModelError{path + ".source", "is empty", "say where the figure comes from, for anyone who audits a plan"}
		}
		if err := t.check(path); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error if the amounts of the term or its conditions on offerings are invalid.
func (t *CostTerm) check(path string) error {
	given := 0
	for _, is := range []bool{t.Percent != nil, t.PerNode != nil, t.PerResource != nil, t.Price != nil, t.Offerings != nil, t.Commitment != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return &CostModelError{path, fmt.Sprintf("gives %d of percent, perNode, perResource, price, offerings and commitment", given), "give exactly one"}
	}
	for i := range t.Where.Requirements {
		if _, err := requirements.ParseNodeSelectorRequirement(t.Where.Requirements[i]); err != nil {
			return &CostModelError{fmt.Sprintf("%s.where.requirements[%d]", path, i), "can't be read: " + err.Error(), "see the rule"}
		}
	}
	if at := slices.Index(t.Where.NodePools, ""); at >= 0 {
		return &CostModelError{fmt.Sprintf("%s.where.nodePools[%d]", path, at), "is empty", "name a NodePool or leave the entry out"}
	}
	switch {
	case t.Percent != nil:
		return within(path+".percent", *t.Percent, -100, 1e6)
	case t.PerNode != nil:
		return within(path+".perNode", *t.PerNode, -MaxPrice, MaxPrice)
	case t.Price != nil:
		return within(path+".price", *t.Price, 0, MaxPrice)
	case t.Commitment != nil:
		return t.Commitment.check(path + ".commitment")
	case t.PerResource != nil:
		for _, name := range sortedKeys(t.PerResource) {
			if name == "" {
				return &CostModelError{path + ".perResource", "has an entry without a name", "name the resource"}
			}
			if err := within(fmt.Sprintf("%s.perResource[%s]", path, name), t.PerResource[name], -MaxPrice, MaxPrice); err != nil {
				return err
			}
		}
		return nil
	}
	return checkTable(path+".offerings", t.Offerings)
}

func checkTable(path string, table []OfferingAmount) error {
	if len(table) > maxTabulated {
		return &CostModelError{path, fmt.Sprintf("has %d entries", len(table)), fmt.Sprintf("give at most %d", maxTabulated)}
	}
	seen := make(map[cloudprovider.OfferingKey]bool, len(table))
	for i, o := range table {
		at := fmt.Sprintf("%s[%d]", path, i)
		if o.Offering.InstanceType == "" || seen[o.Offering] {
			return &CostModelError{at + ".offering", fmt.Sprintf("is %q, which names no instance type or stands twice", o.Offering), "list each offering once"}
		}
		seen[o.Offering] = true
		if err := within(at+".amount", o.Amount, -MaxPrice, MaxPrice); err != nil {
			return err
		}
	}
	return nil
}

func (c *Commitment) check(path string) error {
	if err := above(path+".amount", c.Amount, MaxPrice); err != nil {
		return err
	}
	if c.RemainingPercent == 100 {
		return &CostModelError{path + ".remainingPercent", "is 100", "leave out a commitment that saves nothing"}
	}
	if err := within(path+".remainingPercent", c.RemainingPercent, 0, 100); err != nil {
		return err
	}
	if c.PercentOfPrice != 0 {
		if c.ByType != nil {
			return &CostModelError{path, "gives both percentOfPrice and byType", "give at most one; without either each node uses 1"}
		}
		return above(path+".percentOfPrice", c.PercentOfPrice, 100)
	}
	for _, name := range sortedKeys(c.ByType) {
		if err := above(fmt.Sprintf("%s.byType[%s]", path, name), c.ByType[name], MaxPrice); err != nil {
			return err
		}
	}
	return nil
}

// within returns an error if x is not a number from lo to hi.
func within(path string, x, lo, hi float64) error {
	if math.IsNaN(x) || x < lo || x > hi {
		return &CostModelError{path, fmt.Sprintf("is %v", x), fmt.Sprintf("give a number from %v to %v", lo, hi)}
	}
	return nil
}

// above returns an error if x is not a number from a billionth to hi.
func above(path string, x, hi float64) error {
	if math.IsNaN(x) || x < minAmount || x > hi {
		return &CostModelError{path, fmt.Sprintf("is %v", x), fmt.Sprintf("give a number from %v to %v", minAmount, hi)}
	}
	return nil
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

package fees

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Choice is a fee that is counted.
type Choice struct {
	Fee Fee
	// Amount in the fee's unit, from 0 to 1,000,000; without a meaning for fees that take none.
	Amount float64
	// NodePools whose nodes have the fee, as PoolKey.String writes them; nil for all nodes.
	NodePools []string
}

// Choices are fees that are counted, each once. Nil counts none.
type Choices []Choice

// Error says what is wrong with a choice of fees.
type Error struct {
	// Item that is refused, as it was written; empty if its fee does not exist, or is chosen twice.
	Item string
	// Rule that it breaks, with the cure.
	Rule string
}

// Error is "fee ITEM: RULE".
func (e *Error) Error() string {
	if e.Item == "" {
		return "fees: " + e.Rule
	}
	return "fee " + e.Item + ": " + e.Rule
}

// mostUnits bounds amounts.
const mostUnits = 1e6

// Parse reads a choice: NAME, NAME=AMOUNT, NAME@POOL or NAME=AMOUNT@POOL, several with commas between them, and several NodePools
// with a plus. An empty text chooses none. What can't be read is an *Error.
func Parse(text string) (Choices, error) {
	if text == "" {
		return nil, nil
	}
	known, err := BuiltIn()
	if err != nil {
		return nil, err
	}
	var out Choices
	for _, item := range strings.Split(text, ",") {
		c, err := parse(item, known)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o Choice) bool { return o.Fee.Name == c.Fee.Name }) {
			return nil, &Error{Rule: c.Fee.Name + " is named twice"}
		}
		out = append(out, c)
	}
	return out, nil
}

// parse reads one item.
func parse(item string, known []Fee) (Choice, error) {
	rest, pool, inPool := strings.Cut(strings.TrimSpace(item), "@")
	name, amount, given := strings.Cut(rest, "=")
	at := slices.IndexFunc(known, func(f Fee) bool { return f.Name == name })
	if at < 0 {
		names := make([]string, len(known))
		for i := range known {
			names[i] = known[i].Name
		}
		return Choice{}, &Error{Rule: fmt.Sprintf("there is no fee %q, only %s", name, strings.Join(names, ", "))}
	}
	c := Choice{Fee: known[at]}
	switch {
	case inPool && pool == "":
		return c, &Error{item, "needs the name of a NodePool after @"}
	case given && c.Fee.Unit == "":
		return c, &Error{item, name + " takes no amount"}
	case given:
		var err error
		if c.Amount, err = strconv.ParseFloat(amount, 64); err != nil || !(c.Amount >= 0 && c.Amount <= mostUnits) {
			return c, &Error{item, fmt.Sprintf("must be a number of %s, from 0 to 1000000", c.Fee.Unit)}
		}
	case c.Fee.Amount != nil:
		c.Amount = *c.Fee.Amount
	case c.Fee.Unit != "":
		return c, &Error{item, fmt.Sprintf("needs an amount, as %s=10 for 10 %s", name, c.Fee.Unit)}
	}
	if inPool {
		c.NodePools = strings.Split(pool, "+")
	}
	return c, nil
}

// Check refuses NodePools that the snapshot does not have, with an *Error: a fee for a misspelt one would be counted nowhere. A nil snapshot
// has none.
func (c Choices) Check(s *planning.Snapshot) error {
	if s == nil {
		s = &planning.Snapshot{}
	}
	var known []string
	for i := range s.NodePools {
		known = append(known, s.NodePools[i].Identity().String())
	}
	slices.Sort(known)
	for i := range c {
		for _, pool := range c[i].NodePools {
			if !slices.Contains(known, pool) {
				return &Error{c[i].Fee.Name + "@" + strings.Join(c[i].NodePools, "+"), fmt.Sprintf("the input has no nodepool %q, only %s", pool, strings.Join(known, ", "))}
			}
		}
	}
	return nil
}

// AddTo returns a model with the terms of the model, which may be nil, and then those of the fees, so that commitments don't cover them. Shares of
// prices on demand are those of the snapshot's catalogs. The model stays as it is. A model that is not valid, such as one that has a term of a
// fee's name, is refused with a *planning.CostModelError.
func (c Choices) AddTo(model *planning.CostModel, s *planning.Snapshot) (*planning.CostModel, error) {
	if len(c) == 0 {
		return model, nil
	}
	if s == nil {
		s = &planning.Snapshot{} // without instance types
	}
	out := &planning.CostModel{}
	if model != nil {
		out.Terms = slices.Clone(model.Terms)
	}
	for i := range c {
		out.Terms = append(out.Terms, c[i].Fee.terms(c[i].Amount, c[i].NodePools, s)...)
	}
	if err := out.Validate(); err != nil {
		return nil, err
	}
	return out, nil
}

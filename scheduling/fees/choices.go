package fees

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Choice is a fee that a user chose.
type Choice struct {
	Fee Fee
	// Amount in the fee's unit, from 0 to 1,000,000. It has no meaning for fees that take no amount.
	Amount float64
	// NodePools whose nodes pay the fee, in the form of PoolKey.String; nil for all nodes.
	NodePools []string
}

// Choices are the chosen fees, each at most once. Nil means no fees.
type Choices []Choice

// Error says what is wrong with a choice of fees.
type Error struct {
	// Item is the refused part of the text; empty if its fee does not exist or is chosen twice.
	Item string
	// Rule is the rule that the item breaks, with the cure.
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

// Parse parses choices of fees, separated by commas. Each is NAME, NAME=AMOUNT, NAME@POOL or NAME=AMOUNT@POOL; several NodePools are
// joined by a plus sign. An empty string chooses no fees. If the string cannot be parsed, the error is an *Error.
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

// parse parses one item of the list of fees.
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

// Check returns an *Error if the snapshot lacks one of the NodePools. Without this check, a fee with a misspelt NodePool would never be
// counted. A nil snapshot has no NodePools.
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

// AddTo returns a model with the terms of the given model, which may be nil, followed by the terms of the fees. In this order, commitments
// don't cover fees. Percentages of on-demand prices use the snapshot's catalogs. The given model is not changed. If the resulting model is
// not valid, for example because it already has a term with a fee's name, the error is a *planning.CostModelError.
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

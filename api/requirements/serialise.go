package requirements

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// NodeSelectorRequirements returns entries that mean the same as r: one for each bound, one for the values or exclusions, and one with
// only the operator if there are neither. minValues is repeated on each. Parsing the entries returns an equal requirement.
func (r Requirement) NodeSelectorRequirements() []v1.NodeSelectorRequirementWithMinValues {
	return r.appendEntries(nil)
}

// NodeSelectorRequirements returns entries that mean the same as s, in the order of the keys: for each key Gte, Lte, then In, NotIn,
// Exists or DoesNotExist as needed. Value lists are sorted. [ParseSet] converts the entries to an equal set.
func (s Set) NodeSelectorRequirements() []v1.NodeSelectorRequirementWithMinValues {
	entries := make([]v1.NodeSelectorRequirementWithMinValues, 0, len(s.reqs))
	for _, r := range s.reqs {
		entries = r.appendEntries(entries)
	}
	return entries
}

// MarshalJSON writes the result of s.NodeSelectorRequirements.
func (s Set) MarshalJSON() ([]byte, error) { return json.Marshal(s.NodeSelectorRequirements()) }

// UnmarshalJSON reads a list of entries like [ParseSet]. null is the empty set.
func (s *Set) UnmarshalJSON(data []byte) error {
	var entries []v1.NodeSelectorRequirementWithMinValues
	if err := json.Unmarshal(data, &entries); err != nil {
		return fmt.Errorf("reading requirements: %w", err)
	}
	parsed, err := ParseSet(entries)
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}

func (r Requirement) appendEntries(entries []v1.NodeSelectorRequirementWithMinValues) []v1.NodeSelectorRequirementWithMinValues {
	add := func(op Operator, values ...string) {
		entries = append(entries, v1.NodeSelectorRequirementWithMinValues{Key: r.key, Operator: op, Values: values, MinValues: r.MinValues()})
	}
	if r.bounds.hasLower {
		add(OpGte, strconv.FormatInt(r.bounds.lower, 10))
	}
	switch {
	case r.bounds.hasUpper && r.bounds.upper < 0:
		// Entries contain only non-negative integers, so "at most -1" is written as "less than 0".
		add(OpLt, "0")
	case r.bounds.hasUpper:
		add(OpLte, strconv.FormatInt(r.bounds.upper, 10))
	}
	if len(r.values) > 0 || !r.bounds.any() {
		add(r.Operator(), slices.Clone(r.values)...)
	}
	return entries
}

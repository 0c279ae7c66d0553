package catalog

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Schema is the value of "schema" in catalogue files with the format that this package reads.
const Schema = "drawknife-ec2-catalog/1"

// defaultSpotSource is the key of the source of spot prices in catalogue files, for types whose records name no source.
const defaultSpotSource = "b"

// Catalog is a list of EC2 instance types of one region. It is made by Embedded, Load, Parse,
// ParseDescribeInstanceTypes or New and not changed afterwards, so goroutines may share it. The zero value is an empty catalogue.
type Catalog struct {
	// Region of the zones and prices, such as "us-east-1".
	Region string
	// Zones of the region.
	Zones []Zone
	// Sources are texts for people that say where the facts come from and what day they are from, by key: "hardware", and the keys in
	// Type.OnDemandFrom and Type.SpotFrom.
	Sources map[string]string
	// PriceFacts say how reliable prices are, by the keys of Sources; see OnDemandFacts.
	PriceFacts map[string]PriceFacts
	// Types sorted by name; names are unique.
	Types []Type
}

// Zone is an availability zone.
type Zone struct {
	// Name such as "us-east-1a"; the same name may mean different zones in different accounts.
	Name string `json:"name"`
	// ID such as "use1-az2", the same in every account; empty when unknown.
	ID string `json:"id,omitempty"`
}

// New checks c, sorts its types and returns a catalogue with them. The slices of c are copied, but what they point to is shared: the caller
// must not change it afterwards. The error is a *FieldError.
func New(c Catalog) (*Catalog, error) {
	out := &Catalog{
		Region:  c.Region,
		Zones:   slices.Clone(c.Zones),
		Sources: maps.Clone(c.Sources), PriceFacts: maps.Clone(c.PriceFacts),
		Types: slices.Clone(c.Types),
	}
	for i := range out.Types {
		if out.Types[i].Name == "" { // checked before sorting, so that the index in the error is the index in the caller's list
			return nil, &FieldError{Type: fmt.Sprintf("types[%d]", i), Field: "name", Problem: "must not be empty"}
		}
	}
	slices.SortStableFunc(out.Types, func(a, b Type) int { return cmp.Compare(a.Name, b.Name) })
	if err := out.validate(); err != nil {
		return nil, err
	}
	return out, nil
}

// Lookup finds a type by name. The result points into the catalogue and must not be changed.
func (c *Catalog) Lookup(name string) (*Type, bool) {
	i := sort.Search(len(c.Types), func(i int) bool { return c.Types[i].Name >= name })
	if i == len(c.Types) || c.Types[i].Name != name {
		return nil, false
	}
	return &c.Types[i], true
}

// OnDemandSource returns a text for people that says where the type's on-demand price comes from, or "" if unknown.
func (c *Catalog) OnDemandSource(t *Type) string {
	if t == nil {
		return ""
	}
	source := c.Sources[t.OnDemandFrom]
	if source != "" && t.OnDemandTenancy != "" {
		source += " (" + t.OnDemandTenancy + " tenancy)"
	}
	return source
}

// SpotSource returns a text for people that says where the type's spot prices come from, or "" if unknown.
func (c *Catalog) SpotSource(t *Type) string {
	if t == nil {
		return ""
	}
	return c.Sources[cmp.Or(t.SpotFrom, defaultSpotSource)]
}

// Family yields the types of the family of the type called name, ordered by name: those whose names have the same part before the dot. They
// point into the catalogue: callers must not change them.
func (c *Catalog) Family(name string) iter.Seq[*Type] {
	family, _, _ := strings.Cut(name, ".")
	family += "."
	return func(yield func(*Type) bool) {
		i := sort.Search(len(c.Types), func(i int) bool { return c.Types[i].Name >= family })
		for ; i < len(c.Types) && strings.HasPrefix(c.Types[i].Name, family); i++ {
			if !yield(&c.Types[i]) {
				return
			}
		}
	}
}

package simulate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/scheduling"
)

// assumptions are assumed facts on which the result depends, because neither the input nor AWS contains them. They are part of the result.
// Nil means that there are none.
type assumptions struct {
	lines []string
	// estimated is true for each pair of instance type and capacity type whose price is an estimate.
	estimated map[[2]string]bool
}

// assumptionsOf returns the assumptions of a snapshot and its estimated prices, or nil if it has neither.
func assumptionsOf(snapshot *scheduling.Snapshot) *assumptions {
	a := &assumptions{lines: snapshot.Assumptions, estimated: make(map[[2]string]bool)}
	for _, types := range snapshot.Catalogs {
		for _, t := range types {
			for i := range t.Offerings {
				if o := &t.Offerings[i]; catalog.EstimatedSource(o.PriceSource) {
					a.estimated[[2]string{t.Name, o.CapacityType()}] = true
				}
			}
		}
	}
	if len(a.lines)+len(a.estimated) == 0 {
		return nil
	}
	return a
}

// isEstimated reports whether the price of a node is an estimate.
func (a *assumptions) isEstimated(instanceType, capacityType string) bool {
	return a != nil && a.estimated[[2]string{instanceType, capacityType}]
}

// mark returns the mark that precedes estimated prices in the text, or "" for other prices.
func (a *assumptions) mark(instanceType, capacityType string) string {
	if a.isEstimated(instanceType, capacityType) {
		return "~"
	}
	return ""
}

// list returns the assumptions as lines, or nil if there are none.
func (a *assumptions) list() []string {
	if a == nil {
		return nil
	}
	return a.lines
}

func (a *assumptions) write(w io.Writer) {
	for i, line := range a.list() {
		if i == 0 {
			fmt.Fprintln(w, "Assumed:")
		}
		fmt.Fprintln(w, "  "+line)
	}
}

// inRegion converts the built-in catalogue to the region of --region, or else of the cluster's nodes, with the zones of the nodes. If there
// is no --region and the nodes are in no known region or in several, the catalogue stays unchanged; if there are nodes, the snapshot
// records that the region is a guess. Catalogues from the user or from AWS have a region of their own and are returned unchanged.
func (s *simulation) inRegion(facts *catalog.Catalog, snapshot *scheduling.Snapshot) (*catalog.Catalog, error) {
	if s.provider != providerFile || s.catalog != "" {
		return facts, nil
	}
	places := placesOf(snapshot)
	region, from := s.region, "--region"
	if region == "" {
		from = "the nodes"
		var guess string
		if region, guess = places.region(); guess != "" {
			snapshot.Assumptions = []string{fmt.Sprintf("region %s, its zones, types and prices (a guess: %s; name it with --region)", facts.Region, guess)}
		}
	}
	if region == "" {
		return facts, nil
	}
	elsewhere := places.elsewhere(region)
	if region == facts.Region {
		if elsewhere != "" {
			snapshot.Assumptions = []string{fmt.Sprintf("region %s (from %s)", region, from), elsewhere}
		}
		return facts, nil
	}
	zones, zonesFrom := slices.Clone(places.zones[region]), "those of the nodes"
	for _, zone := range s.zones {
		if regionOfZone(zone) == region && !slices.Contains(zones, zone) {
			zones, zonesFrom = append(zones, zone), "those of the nodes and of --zones"
		}
	}
	if len(zones) == 0 {
		zones, zonesFrom = []string{region + "a", region + "b", region + "c"}, "a guess: no node says, name them with --zones"
	}
	slices.Sort(zones)
	var list []catalog.Zone
	for _, zone := range zones {
		list = append(list, catalog.Zone{Name: zone})
	}
	there, err := catalog.InRegion(facts, region, list, typesOf(snapshot))
	if err != nil {
		return nil, fmt.Errorf("instance types of %s: %w", region, err)
	}
	snapshot.Assumptions = assumedOf(there, from, zonesFrom)
	if elsewhere != "" {
		snapshot.Assumptions = append(snapshot.Assumptions, elsewhere)
	}
	return there, nil
}

// typesOf returns the instance types of the nodes.
func typesOf(snapshot *scheduling.Snapshot) map[string]bool {
	present := make(map[string]bool)
	for i := range snapshot.Nodes {
		if n := snapshot.Nodes[i].Object; n != nil {
			present[instanceTypeOf(n)] = true
		}
	}
	return present
}

// assumedOf returns the assumptions of a catalogue that was converted to a region.
func assumedOf(there *catalog.Catalog, from, zonesFrom string) []string {
	var zones []string
	for _, z := range there.Zones {
		zones = append(zones, z.Name)
	}
	lines := []string{fmt.Sprintf("region %s (from %s), zones %s (%s)", there.Region, from, strings.Join(zones, ", "), zonesFrom)}
	if source := there.Sources["regional"]; source != "" {
		lines = append(lines, "on-demand prices: "+source+"; newer families are left out unless nodes are of them")
	}
	return append(lines, "prices marked ~ and all spot prices, "+there.Sources["estimated"])
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/scheduling"
)

// assumptions are what an answer rests on that neither the input nor AWS says. They are part of the answer. Nil has none.
type assumptions struct {
	lines []string
	// estimated are the instance types by capacity type whose price is an estimate.
	estimated map[[2]string]bool
}

// assumptionsOf are those that stand in a snapshot; nil without any.
func assumptionsOf(snapshot *scheduling.Snapshot) *assumptions {
	if len(snapshot.Assumptions) == 0 {
		return nil
	}
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
	return a
}

// isEstimated reports whether the price of a machine is an estimate.
func (a *assumptions) isEstimated(instanceType, capacityType string) bool {
	return a != nil && a.estimated[[2]string{instanceType, capacityType}]
}

// mark is what the text puts before a price that is an estimate.
func (a *assumptions) mark(instanceType, capacityType string) string {
	if a.isEstimated(instanceType, capacityType) {
		return "~"
	}
	return ""
}

// list is the lines; nil without any.
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

// inRegion is the built-in catalogue as it would be in the region that --region or the cluster's nodes name, with the zones of the
// nodes. Catalogues that the user brings, and AWS's own answers, are of their region.
func (s *simulation) inRegion(facts *catalog.Catalog, snapshot *scheduling.Snapshot) (*catalog.Catalog, error) {
	if s.provider != providerFile || s.catalog != "" {
		return facts, nil
	}
	places := placesOf(snapshot)
	region, from := s.region, "--region"
	if region == "" {
		regions := sortedKeys(places)
		if len(regions) != 1 {
			if len(regions) > 1 {
				s.note("SeveralRegions", "the nodes are in %s: instance types and prices are those of %s", strings.Join(regions, ", "), facts.Region)
			}
			return facts, nil
		}
		region, from = regions[0], "the nodes"
	}
	if region == facts.Region {
		return facts, nil
	}
	zones, zonesFrom := places[region], "those of the nodes"
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
	present := make(map[string]bool)
	for i := range snapshot.Nodes {
		if n := snapshot.Nodes[i].Object; n != nil {
			present[cmp.Or(n.Labels[corev1.LabelInstanceTypeStable], n.Labels[corev1.LabelInstanceType])] = true
		}
	}
	there, err := catalog.InRegion(facts, region, list, present)
	if err != nil {
		return nil, fmt.Errorf("instance types of %s: %w", region, err)
	}
	snapshot.Assumptions = assumedOf(there, from, zonesFrom)
	return there, nil
}

// assumedOf says what a catalogue that was made for a region rests on.
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

// placesOf are the zones of the nodes by region.
func placesOf(snapshot *scheduling.Snapshot) map[string][]string {
	out := make(map[string][]string)
	for i := range snapshot.Nodes {
		n := snapshot.Nodes[i].Object
		if n == nil {
			continue
		}
		zone := cmp.Or(n.Labels[corev1.LabelTopologyZone], n.Labels[corev1.LabelFailureDomainBetaZone], zoneOfProviderID(n.Spec.ProviderID))
		region := regionOfZone(zone)
		if region != "" && !slices.Contains(out[region], zone) {
			out[region] = append(out[region], zone)
		}
	}
	return out
}

// zoneName is what availability zones of AWS are called; local zones have longer names.
var zoneName = regexp.MustCompile(`^((?:[a-z]+-)+[0-9]+)[a-z]$`)

// regionOfZone is the region of an availability zone; empty for other texts.
func regionOfZone(zone string) string {
	if found := zoneName.FindStringSubmatch(zone); found != nil {
		return found[1]
	}
	return ""
}

// zoneOfProviderID is the zone in "aws:///eu-west-1a/i-0123"; empty without one.
func zoneOfProviderID(id string) string {
	rest, ok := strings.CutPrefix(id, "aws:///")
	zone, _, found := strings.Cut(rest, "/")
	if !ok || !found {
		return ""
	}
	return zone
}

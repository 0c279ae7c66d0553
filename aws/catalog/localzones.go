package catalog

import (
	_ "embed"
	"fmt"
	"strings"
)

// localZonePrices is a table that internal/ec2catalog -local-zones has written.
//
//go:embed localzones.tsv
var localZonePrices string

// localZoneSource is the source of the built-in prices of Local Zones.
const localZoneSource = "built-in price snapshot of Local Zones"

// LocalZonePrices returns the built-in on-demand prices of a region's Local Zones, by group of zones: us-west-2-lax-1 for the zones
// us-west-2-lax-1a and us-west-2-lax-1b. It is empty for regions without Local Zones. Types without a price there are missing. The prices
// are older than the catalogue's own: docs/catalog.md states their day.
func LocalZonePrices(region string) (map[string]*Regional, error) {
	head, _, _ := strings.Cut(localZonePrices, "\n")
	groups := map[string]*Regional{}
	for _, group := range strings.Split(head, "\t")[1:] {
		rest, ok := strings.CutPrefix(group, region+"-")
		if region == "" || !ok || strings.Count(rest, "-") != 1 { // rest must look like lax-1
			continue
		}
		list, err := parseTable(strings.NewReader(localZonePrices), group)
		if err != nil {
			return nil, fmt.Errorf("built-in prices of Local Zones: %w", err)
		}
		list.Source = localZoneSource
		groups[group] = list
	}
	return groups, nil
}

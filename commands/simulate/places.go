package simulate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// nodePlaces contains the regions and zones of a cluster's nodes, according to their labels and provider IDs.
type nodePlaces struct {
	// zones contains the zones with nodes in each AWS region, and nodes the number of nodes in each AWS region. A region may have nodes,
	// but no zone.
	zones map[string][]string
	nodes map[string]int
	// foreign counts the nodes in regions that are not AWS regions; silent is the number of nodes without a region.
	foreign map[string]int
	silent  int
}

// placesOf returns the regions and zones of the snapshot's nodes.
func placesOf(snapshot *scheduling.Snapshot) nodePlaces {
	p := nodePlaces{zones: make(map[string][]string), nodes: make(map[string]int), foreign: make(map[string]int)}
	for i := range snapshot.Nodes {
		if n := snapshot.Nodes[i].Object; n != nil {
			p.add(n)
		} else {
			p.silent++
		}
	}
	return p
}

func (p *nodePlaces) add(n *corev1.Node) {
	zone := zoneOf(n)
	label := cmp.Or(n.Labels[corev1.LabelTopologyRegion], n.Labels[corev1.LabelFailureDomainBetaRegion])
	cloud, _, found := strings.Cut(n.Spec.ProviderID, "://")
	region := regionOfZone(zone)
	if region == "" && regionName.MatchString(label) {
		region, zone = label, ""
	}
	switch {
	case found && cloud != "aws":
		if at := cmp.Or(label, zone); at != "" {
			cloud = at + " of " + cloud
		}
		p.foreign[cloud]++
	case region != "":
		p.nodes[region]++
		if zone != "" && !slices.Contains(p.zones[region], zone) {
			p.zones[region] = append(p.zones[region], zone)
		}
	case cmp.Or(label, zone) != "":
		p.foreign[cmp.Or(label, zone)]++
	default:
		p.silent++
	}
}

// region returns the AWS region of the nodes. If the nodes are not in exactly one AWS region, region is empty, and instead is the reason;
// both are empty if there are no nodes.
func (p *nodePlaces) region() (region, instead string) {
	switch regions := sortedKeys(p.nodes); {
	case len(regions) == 1:
		return regions[0], ""
	case len(regions) > 1:
		return "", "the nodes are in " + strings.Join(regions, ", ")
	case len(p.foreign) > 0:
		return "", fmt.Sprintf("%s in %s, which is no region of AWS", areNodes(p.foreign), strings.Join(sortedKeys(p.foreign), ", "))
	case p.silent > 0:
		return "", "no node says where it is"
	}
	return "", ""
}

// elsewhere returns a remark about the nodes that are not in the given region, or "" if all are in it.
func (p *nodePlaces) elsewhere(region string) string {
	var items []string
	for _, other := range sortedKeys(p.nodes) {
		if other != region {
			items = append(items, fmt.Sprintf("%s in %s", counted(p.nodes[other], "node"), other))
		}
	}
	for _, other := range sortedKeys(p.foreign) {
		items = append(items, fmt.Sprintf("%s in %s", counted(p.foreign[other], "node"), other))
	}
	if p.silent > 0 {
		items = append(items, fmt.Sprintf("%s without a region", counted(p.silent, "node")))
	}
	if len(items) == 0 {
		return ""
	}
	return fmt.Sprintf("prices are those of %s alone, and not for %s", region, strings.Join(items, ", "))
}

func areNodes(by map[string]int) string {
	if n := total(by); n != 1 {
		return counted(n, "node") + " are"
	}
	return "1 node is"
}

// instanceTypeOf returns the instance type in the node's labels.
func instanceTypeOf(n *corev1.Node) string {
	return cmp.Or(n.Labels[corev1.LabelInstanceTypeStable], n.Labels[corev1.LabelInstanceType])
}

// zoneOf returns the node's zone, or "" if the node has none.
func zoneOf(n *corev1.Node) string {
	return cmp.Or(n.Labels[corev1.LabelTopologyZone], n.Labels[corev1.LabelFailureDomainBetaZone], zoneOfProviderID(n.Spec.ProviderID))
}

var (
	// regionName matches names of AWS regions.
	regionName = regexp.MustCompile(`^(?:[a-z]+-)+[0-9]+$`)
	// zoneName matches names of AWS availability zones; local zones have longer names.
	zoneName = regexp.MustCompile(`^((?:[a-z]+-)+[0-9]+)[a-z]$`)
)

// regionOfZone returns the region of an availability zone, or "" for other texts.
func regionOfZone(zone string) string {
	if found := zoneName.FindStringSubmatch(zone); found != nil {
		return found[1]
	}
	return ""
}

// zoneOfProviderID returns the zone in a provider ID such as "aws:///eu-west-1a/i-0123", or "" if the ID has no zone.
func zoneOfProviderID(id string) string {
	rest, ok := strings.CutPrefix(id, "aws:///")
	zone, _, found := strings.Cut(rest, "/")
	if !ok || !found {
		return ""
	}
	return zone
}

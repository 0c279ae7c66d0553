package settings

import (
	"fmt"
	"strings"
)

// FeatureGates switch features on and off.
type FeatureGates struct {
	// Drift replaces nodes that differ from their pool and class. True by default.
	Drift bool
	// SpotToSpotConsolidation replaces spot nodes by cheaper spot nodes. False by default.
	SpotToSpotConsolidation bool
	// NodeRepair replaces nodes that stay unhealthy. False by default.
	NodeRepair bool
	// ReservedCapacity uses capacity reservations. True by default.
	ReservedCapacity bool
	// NodeOverlay allows NodeOverlays to change prices and resources of instance types. False by default.
	NodeOverlay bool
	// StaticCapacity keeps the number of nodes of a pool equal to its field replicas. False by default.
	StaticCapacity bool
	// CapacityBuffer keeps capacity free for CapacityBuffers. False by default.
	CapacityBuffer bool
	// ProvisioningRequest answers ProvisioningRequests. False by default.
	ProvisioningRequest bool
}

// DefaultFeatureGates returns the default values of all gates.
func DefaultFeatureGates() FeatureGates { return FeatureGates{Drift: true, ReservedCapacity: true} }

// gate is the name of a gate and a pointer to its value.
type gate struct {
	name string
	at   *bool
}

// gates returns all gates, in the order in which String writes them.
func (g *FeatureGates) gates() []gate {
	return []gate{
		{"Drift", &g.Drift},
		{"SpotToSpotConsolidation", &g.SpotToSpotConsolidation},
		{"NodeRepair", &g.NodeRepair},
		{"ReservedCapacity", &g.ReservedCapacity},
		{"NodeOverlay", &g.NodeOverlay},
		{"StaticCapacity", &g.StaticCapacity},
		{"CapacityBuffer", &g.CapacityBuffer},
		{"ProvisioningRequest", &g.ProvisioningRequest},
	}
}

// String returns the value of every gate, in the form that ParseFeatureGates reads.
func (g FeatureGates) String() string {
	var out []string
	for _, gate := range g.gates() {
		out = append(out, fmt.Sprintf("%s=%t", gate.name, *gate.at))
	}
	return strings.Join(out, ",")
}

// ParseFeatureGates reads a list such as "Drift=false,NodeRepair=true". Gates that are not named keep their defaults. Only the values
// "true" and "false" are accepted. An unknown name is an error. A name given twice with different values is also an error. Spaces around
// names and values are ignored, and so are empty parts between commas.
func ParseFeatureGates(text string) (FeatureGates, error) {
	g := DefaultFeatureGates()
	seen := make(map[string]bool)
	for piece := range strings.SplitSeq(text, ",") {
		piece = strings.TrimSpace(piece)
		if piece == "" {
			continue
		}
		name, value, _ := strings.Cut(piece, "=")
		name = strings.TrimSpace(name)
		on, err := parseBool(strings.TrimSpace(value))
		if err != nil {
			return FeatureGates{}, fmt.Errorf("%q must be %s=true or %s=false", piece, name, name)
		}
		at := g.named(name)
		if at == nil {
			return FeatureGates{}, fmt.Errorf("unknown gate %q; known are %s", name, strings.Join(gateNames(), ", "))
		}
		if before, twice := seen[name]; twice && before != on {
			return FeatureGates{}, fmt.Errorf("%s is given twice with different values", name)
		}
		seen[name], *at = on, on
	}
	return g, nil
}

// named returns the gate with this name, or nil if there is none.
func (g *FeatureGates) named(name string) *bool {
	for _, gate := range g.gates() {
		if gate.name == name {
			return gate.at
		}
	}
	return nil
}

func gateNames() []string {
	var names []string
	for _, gate := range new(FeatureGates).gates() {
		names = append(names, gate.name)
	}
	return names
}

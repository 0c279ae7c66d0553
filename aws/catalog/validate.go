package catalog

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Bounds of the numbers in a catalogue. They are far above the numbers of any instance, and low enough that no product formed from them
// (bytes of memory, pods times megabytes) overflows an int64.
const (
	maxCount     = 1 << 20   // vCPUs, devices
	maxENIs      = 1 << 14   // interfaces of an instance, or addresses of an interface; memory reservations multiply both numbers by megabytes
	maxMemoryMiB = 1 << 32   // 4 PiB
	maxGB        = 1 << 32   // decimal gigabytes of local storage
	maxRate      = 1 << 40   // Mbit/s, I/O operations per second
	maxClockGHz  = 1 << 10   // GHz
	maxUSD       = 1_000_000 // USD per hour
	maxText      = 63        // the maximum length of a label value
	maxSource    = 1 << 10   // texts for people
	maxItems     = 1 << 10   // entries of a list within a type
	maxZones     = 1 << 10   // zones of a region
	maxTypes     = 1 << 16   // types of a catalogue
)

// FieldError says which fact of a catalogue is wrong, and why.
type FieldError struct {
	// Type is the name of the instance type, or "types[i]" if it has none; empty if the fact belongs to no type.
	Type string
	// Field is the path of the field, by the names of the file: "net.enis", "zones[2].name".
	Field string
	// Problem says what is wrong with the field.
	Problem string
}

// Error names the type, the field and the problem.
func (e *FieldError) Error() string {
	var parts []string
	if e.Type != "" {
		parts = append(parts, fmt.Sprintf("instance type %q", e.Type))
	}
	if e.Field != "" {
		parts = append(parts, e.Field)
	}
	return strings.Join(append(parts, e.Problem), ": ")
}

// checker records the first problem of a type; later checks then do nothing.
type checker struct {
	name string
	err  *FieldError
}

func (c *checker) fail(field, format string, args ...any) {
	if c.err == nil {
		c.err = &FieldError{Type: c.name, Field: field, Problem: fmt.Sprintf(format, args...)}
	}
}

func (c *checker) integer(field string, v, low, high int64) {
	if v < low || v > high {
		c.fail(field, "must be from %d to %d, is %d", low, high, v)
	}
}

func (c *checker) number(field string, v, high float64) {
	if math.IsNaN(v) || v < 0 || v > high {
		c.fail(field, "must be from 0 to %g, is %g", high, v)
	}
}

func (c *checker) text(field, v string) {
	if len(v) > maxText {
		c.fail(field, "must have at most %d characters, has %d", maxText, len(v))
		return
	}
	for i := 0; i < len(v); i++ {
		if v[i] < ' ' || v[i] > '~' {
			c.fail(field, "must be printable ASCII, is %q", v)
			return
		}
	}
}

// label checks that a string can be a label value.
func (c *checker) label(field, v string) {
	c.text(field, v)
	for i := 0; i < len(v); i++ {
		ch := v[i]
		inner := i > 0 && i < len(v)-1 && strings.IndexByte("-_.", ch) >= 0
		if !inner && !alphanumeric(ch) {
			c.fail(field, "must be letters, digits, and dots, hyphens or underscores between them, is %q", v)
			return
		}
	}
}

func alphanumeric(ch byte) bool {
	return ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z' || ch >= '0' && ch <= '9'
}

func (c *checker) length(field string, n int) {
	if n > maxItems {
		c.fail(field, "must have at most %d entries, has %d", maxItems, n)
	}
}

func (c *checker) texts(field string, list []string) {
	c.length(field, len(list))
	for i, v := range list {
		path := func() string { return fmt.Sprintf("%s[%d]", field, i) }
		if v == "" {
			c.fail(path(), "must not be empty")
		}
		if c.err == nil {
			c.text(path(), v)
		}
	}
}

// validate checks everything that New guarantees.
func (c *Catalog) validate() error {
	k := &checker{}
	if c.Region == "" {
		k.fail("region", "must not be empty")
	}
	k.label("region", c.Region)
	if len(c.Zones) > maxZones {
		k.fail("zones", "must have at most %d entries, has %d", maxZones, len(c.Zones))
	}
	if len(c.Types) > maxTypes {
		k.fail("types", "must have at most %d entries, has %d", maxTypes, len(c.Types))
	}
	for _, text := range c.Sources {
		if len(text) > maxSource {
			// The message must not depend on the map's order.
			k.fail("sources", "each must have at most %d characters", maxSource)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.PriceFacts)) {
		c.PriceFacts[key].check(k, "priceFacts."+key)
	}
	names := make(map[string]bool, len(c.Zones))
	for i, zone := range c.Zones {
		path := fmt.Sprintf("zones[%d]", i)
		k.label(path+".name", zone.Name)
		k.label(path+".id", zone.ID)
		switch {
		case zone.Name == "":
			k.fail(path+".name", "must not be empty")
		case names[zone.Name]:
			k.fail(path+".name", "%q is there twice", zone.Name)
		}
		names[zone.Name] = true
	}
	for i := range c.Types {
		t := &c.Types[i]
		k.name = t.Name
		if i > 0 && c.Types[i-1].Name == t.Name {
			k.fail("name", "is there twice")
		}
		c.validateType(k, t)
		if k.err != nil {
			break
		}
	}
	if k.err != nil {
		return k.err
	}
	return nil
}

func (c *Catalog) validateType(k *checker, t *Type) {
	validateName(k, t.Name)
	k.integer("vcpu", t.VCPUs, 1, maxCount)
	k.integer("cores", t.Cores, 0, maxCount)
	k.integer("memMiB", t.MemoryMiB, 1, maxMemoryMiB)
	if len(t.Architectures) == 0 {
		k.fail("arch", "must name at least one architecture")
	}
	k.texts("arch", t.Architectures)
	k.text("cpuMaker", t.CPUManufacturer)
	k.number("clockGHz", t.ClockGHz, maxClockGHz)
	k.texts("cpuFeatures", t.CPUFeatures)
	k.label("hypervisor", t.Hypervisor)
	k.texts("virt", t.VirtualizationTypes)
	k.texts("placement", t.PlacementStrategies)
	k.texts("usage", t.UsageClasses)
	validateNetwork(k, &t.Network)
	validateStorage(k, t)
	validateDevices(k, t)
	c.validateMarket(k, t)
	if t.BranchENIs != nil {
		k.integer("branchENIs", *t.BranchENIs, 0, maxCount)
	}
}

// validateName checks that a name is a label value without upper-case letters, which EC2 does not use.
func validateName(k *checker, name string) {
	k.label("name", name)
	if name != strings.ToLower(name) {
		k.fail("name", "must be lower-case, is %q", name)
	}
}

func validateNetwork(k *checker, n *Network) {
	k.integer("net.enis", n.ENIs, 0, maxENIs)
	k.integer("net.enisDefaultCard", n.ENIsDefaultCard, 0, maxENIs)
	k.integer("net.cards", n.Cards, 0, maxItems)
	k.integer("net.ipv4PerENI", n.IPv4PerENI, 0, maxENIs)
	k.integer("net.ipv6PerENI", n.IPv6PerENI, 0, maxENIs)
	k.integer("net.mbps", n.Mbps, 0, maxRate)
	k.integer("net.burstMbps", n.BurstMbps, 0, maxRate)
	k.integer("net.efa", n.EFA, 0, maxENIs)
	k.text("net.grade", n.Grade)
	k.text("net.ena", n.ENA)
	k.texts("net.weightings", n.BandwidthWeightings)
	k.length("net.enisPerCard", len(n.ENIsPerCard))
	for i, v := range n.ENIsPerCard {
		if v < 0 || v > maxENIs {
			k.integer(fmt.Sprintf("net.enisPerCard[%d]", i), v, 0, maxENIs)
		}
	}
}

func validateStorage(k *checker, t *Type) {
	k.text("ebs.optimized", t.EBS.Optimized)
	k.text("ebs.nvme", t.EBS.NVMe)
	k.text("ebs.attachLimit", t.EBS.AttachLimit)
	k.integer("ebs.baseMbps", t.EBS.BaseMbps, 0, maxRate)
	k.integer("ebs.maxMbps", t.EBS.MaxMbps, 0, maxRate)
	k.integer("ebs.maxIops", t.EBS.MaxIOPS, 0, maxRate)
	k.integer("ebs.maxAttach", t.EBS.MaxAttach, 0, maxCount)
	if t.LocalStorage == nil {
		return
	}
	k.integer("local.totalGB", t.LocalStorage.TotalGB, 0, maxGB)
	k.text("local.nvme", t.LocalStorage.NVMe)
	k.length("local.disks", len(t.LocalStorage.Disks))
	for i, d := range t.LocalStorage.Disks {
		path := fmt.Sprintf("local.disks[%d]", i)
		k.integer(path, d.Count, 0, maxCount)
		k.integer(path, d.SizeGB, 0, maxGB)
		k.text(path, d.Kind)
	}
}

func validateDevices(k *checker, t *Type) {
	k.length("gpus", len(t.GPUs))
	for i, g := range t.GPUs {
		path := fmt.Sprintf("gpus[%d].", i)
		k.text(path+"name", g.Name)
		k.text(path+"manufacturer", g.Manufacturer)
		k.integer(path+"count", g.Count, 0, maxCount)
		k.integer(path+"memMiB", g.MemoryMiB, 0, maxMemoryMiB)
		k.integer(path+"logicalCount", g.LogicalCount, 0, maxCount)
		k.number(path+"partition", g.Partition, 1)
	}
	for _, kind := range []struct {
		name string
		list []Accelerator
	}{
		{"neuron", t.Accelerators.Neuron},
		{"inference", t.Accelerators.Inference},
		{"fpga", t.Accelerators.FPGA},
		{"media", t.Accelerators.Media},
	} {
		k.length("accel."+kind.name, len(kind.list))
		for i, a := range kind.list {
			path := fmt.Sprintf("accel.%s[%d].", kind.name, i)
			k.text(path+"name", a.Name)
			k.text(path+"manufacturer", a.Manufacturer)
			k.integer(path+"count", a.Count, 0, maxCount)
			k.integer(path+"coresPerDevice", a.CoresPerDevice, 0, maxCount)
			k.integer(path+"memMiB", a.MemoryMiB, 0, maxMemoryMiB)
		}
	}
}

// validateMarket checks zones and prices.
func (c *Catalog) validateMarket(k *checker, t *Type) {
	for i, zone := range t.Zones {
		switch {
		case zone < 0 || zone >= len(c.Zones):
			k.fail(fmt.Sprintf("zones[%d]", i), "must be an index into the %d zones of the catalogue, is %d", len(c.Zones), zone)
		case i > 0 && zone <= t.Zones[i-1]:
			k.fail(fmt.Sprintf("zones[%d]", i), "must be above the index before it, %d, is %d", t.Zones[i-1], zone)
		}
	}
	k.number("odUSD", t.OnDemandUSD, maxUSD)
	k.text("odTenancy", t.OnDemandTenancy)
	if _, ok := c.Sources[t.OnDemandFrom]; t.OnDemandFrom != "" && !ok {
		k.fail("odFrom", "must be a key of sources, is %q", t.OnDemandFrom)
	}
	if _, ok := c.Sources[t.SpotFrom]; t.SpotFrom != "" && !ok {
		k.fail("spotFrom", "must be a key of sources, is %q", t.SpotFrom)
	}
	if len(t.SpotUSD) > len(t.Zones) {
		k.fail("spotUSD", "must have at most one price per zone, has %d for %d zones", len(t.SpotUSD), len(t.Zones))
	}
	for i, price := range t.SpotUSD {
		if math.IsNaN(price) || price < 0 || price > maxUSD {
			k.number(fmt.Sprintf("spotUSD[%d]", i), price, maxUSD)
		}
	}
	k.text("spotInterrupt", t.SpotInterruption)
}

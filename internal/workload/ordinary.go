package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// Ordinary describes an ordinary cluster. It has one to three instance families with on-demand prices that are proportional to their sizes.
// About 120 deployments have round requests, with or without rules between pods. The same Ordinary gives the same cluster.
type Ordinary struct {
	// Families are the instance families. OrdinaryFamilies returns all allowed families.
	Families []string
	// Rules names the rules between pods. It is one of the names that OrdinaryRules returns.
	Rules string
	// Zones is the number of zones, from 1 to 6. Each type has the same price in all zones.
	Zones int
	// Seed is the seed of the random generator.
	Seed uint64
	// Pods is the total number of pods. 0 means OrdinaryPods.
	Pods int
}

// OrdinaryPods is the default number of pods of an ordinary cluster.
const OrdinaryPods = 2200

// ordinaryFamily has the on-demand price of a family in us-east-1, in USD per hour and CPU, and its memory in GiB per CPU.
type ordinaryFamily struct {
	name  string
	price float64
	gib   int
}

func ordinaryFamilies() []ordinaryFamily {
	return []ordinaryFamily{
		{"m5", 0.048, 4}, {"c5", 0.0425, 2}, {"r5", 0.063, 8}, {"m6g", 0.0385, 4}, {"c6g", 0.034, 2}, {"r6g", 0.0504, 8}, {"m7i", 0.0504, 4},
	}
}

// OrdinaryFamilies returns the families that Ordinary knows.
func OrdinaryFamilies() []string {
	var names []string
	for _, f := range ordinaryFamilies() {
		names = append(names, f.name)
	}
	return names
}

// OrdinaryRules returns the rules that Ordinary knows. With "anti", every seventh deployment with at most 20 pods keeps its pods on
// separate nodes. With "spread", every fourth deployment spreads its pods over zones. "both" combines the rules of "anti" and "spread", and
// "none" has no rules.
func OrdinaryRules() []string { return []string{"none", "anti", "spread", "both"} }

// Name returns FAMILY+FAMILY-RULES-ZONESz-SEED. If Pods is not OrdinaryPods, it appends -PODSp.
func (o Ordinary) Name() string {
	name := fmt.Sprintf("%s-%s-%dz-%d", strings.Join(o.Families, "+"), o.Rules, o.Zones, o.Seed)
	if o.Pods != 0 && o.Pods != OrdinaryPods {
		name += fmt.Sprintf("-%dp", o.Pods)
	}
	return name
}

// ParseOrdinary returns the Ordinary whose Name has the given value.
func ParseOrdinary(name string) (Ordinary, error) {
	parts := strings.Split(name, "-")
	if len(parts) != 4 && len(parts) != 5 {
		return Ordinary{}, fmt.Errorf("ordinary cluster %q: give FAMILIES-RULES-ZONESz-SEED, for example m5-none-3z-1", name)
	}
	o := Ordinary{Families: strings.Split(parts[0], "+"), Rules: parts[1]}
	var wrong []error
	number := func(text, suffix string) uint64 {
		digits, found := strings.CutSuffix(text, suffix)
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || !found {
			wrong = append(wrong, fmt.Errorf("%q is not a number followed by %q", text, suffix))
		}
		return n
	}
	o.Zones = int(min(number(parts[2], "z"), math.MaxInt32))
	o.Seed = number(parts[3], "")
	if len(parts) == 5 {
		o.Pods = int(min(number(parts[4], "p"), math.MaxInt32))
	}
	if err := errors.Join(append(wrong, o.check())...); err != nil {
		return Ordinary{}, fmt.Errorf("ordinary cluster %q: %w", name, err)
	}
	return o, nil
}

func (o Ordinary) check() error {
	for _, f := range o.Families {
		if !slices.Contains(OrdinaryFamilies(), f) {
			return fmt.Errorf("unknown family %q; known are %s", f, strings.Join(OrdinaryFamilies(), ", "))
		}
	}
	switch {
	case len(o.Families) == 0:
		return errors.New("no instance family is given")
	case !slices.Contains(OrdinaryRules(), o.Rules):
		return fmt.Errorf("unknown rules %q; known are %s", o.Rules, strings.Join(OrdinaryRules(), ", "))
	case o.Zones < 1 || o.Zones > 6:
		return fmt.Errorf("%d zones: give 1 to 6", o.Zones)
	case o.Pods < 0 || o.Pods > 1_000_000:
		return fmt.Errorf("%d pods: give 1 to 1000000, or 0 for the default", o.Pods)
	}
	return nil
}

// Snapshot returns the cluster. An Ordinary with an unknown family, with unknown rules, or with numbers out of range is an error.
func (o Ordinary) Snapshot() (*scheduling.Snapshot, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("ordinary cluster %s: %w", o.Name(), err)
	}
	s := snapshot(InstanceTypes(o.types()))
	s.NodePools[0].Object.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	for _, p := range o.pods() {
		s.Pods = append(s.Pods, object(&p))
	}
	return s, nil
}

// types returns the types of the cluster's families, in EC2's sizes. Each type reserves the resources that Amazon Linux 2023 reserves, and
// the requests of three small DaemonSets.
func (o Ordinary) types() []*Type {
	var types []*Type
	for _, name := range o.Families {
		f := ordinaryFamilies()[slices.Index(OrdinaryFamilies(), name)]
		for _, s := range []size{{"large", 2}, {"xlarge", 4}, {"2xlarge", 8}, {"4xlarge", 16}, {"8xlarge", 32}, {"12xlarge", 48}, {"16xlarge", 64}, {"24xlarge", 96}} {
			memory := int64(s.vcpu * f.gib * 1024)
			t := &Type{
				Name: f.name + "." + s.name, Family: f.name, Size: s.name, Arch: "amd64", VCPU: s.vcpu, MemGiB: float64(s.vcpu * f.gib),
				MaxPods: ordinaryMaxPods(s.vcpu), CapCPUm: int64(s.vcpu) * 1000, CapMemMi: memory, ODPrice: round4(f.price * float64(s.vcpu)),
			}
			t.ReservedCPUm = 210
			if s.vcpu > 2 {
				t.ReservedCPUm += 10
			}
			if s.vcpu > 4 {
				t.ReservedCPUm += 10 + int64(s.vcpu-4)*5/2
			}
			t.ReservedMemMi = int64(float64(memory)*0.075) + 100 + 11*int64(t.MaxPods) + 255 + 300
			for _, zone := range []string{"zone-a", "zone-b", "zone-c", "zone-d", "zone-e", "zone-f"}[:o.Zones] {
				t.Offerings = append(t.Offerings, Offering{Zone: zone, Price: t.ODPrice, Available: true})
			}
			types = append(types, t)
		}
	}
	return types
}

func ordinaryMaxPods(vcpu int) int {
	switch {
	case vcpu <= 2:
		return 29
	case vcpu <= 8:
		return 58
	case vcpu <= 48:
		return 234
	}
	return 737
}

// round4 rounds to four decimal places in decimal notation, so that the result is exactly the number in a price list.
func round4(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', 4, 64), 64)
	if err != nil { // never happens: a formatted number can always be parsed
		return x
	}
	return y
}

// pods draws the pods, one deployment after another, as the original generator in Python does. The draws must stay in this order, because
// another order would give other pods.
func (o Ordinary) pods() []Pod {
	total := o.Pods
	if total == 0 {
		total = OrdinaryPods
	}
	r := newMersenne(o.Seed)
	var out []Pod
	for n := 1; len(out) < total; n++ {
		count := min(choice(r, 2, 3, 5, 8, 10, 20, 40, 60), total-len(out))
		p := Pod{App: fmt.Sprintf("app-%d", n)}
		p.CPUm = choice[int64](r, 50, 100, 200, 250, 500, 500, 1000, 2000)
		p.MemMi = choice[int64](r, 128, 256, 512, 1024, 2048, 4096)
		p.ZoneSpread = (o.Rules == "spread" || o.Rules == "both") && n%4 == 0
		p.HostAnti = (o.Rules == "anti" || o.Rules == "both") && n%7 == 0 && count <= 20
		for i := range count {
			p.Name = fmt.Sprintf("%s-%05d", p.App, i)
			out = append(out, p)
		}
	}
	return out
}

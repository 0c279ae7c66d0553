package commitments

import (
	"slices"
	"strconv"
	"strings"

	"github.com/drawknife/drawknife/aws/catalog"
)

// small has the normalization factors of the sizes up to xlarge (docs.aws.amazon.com/AWSEC2/latest/UserGuide/apply_ri.html).
var small = map[string]float64{"nano": 0.25, "micro": 0.5, "small": 1, "medium": 2, "large": 4, "xlarge": 8}

// inflexible are the families whose regional Reserved Instances cover only one size.
var inflexible = []string{"g4ad", "g4dn", "g5", "g5g", "g6", "inf1", "inf2", "p5", "hpc7a", "u7i-12tb", "u7in-16tb", "u7in-24tb", "u7in-32tb"}

// units returns the normalization factor of an instance type: 8 for xlarge, 16 for 2xlarge, and so on. A bare-metal type has the factor of
// the size with as many vCPUs. It is 0 for types without a factor.
func units(name string, vCPUs int64) float64 {
	_, size, ok := strings.Cut(name, ".")
	if !ok {
		return 0
	}
	if f := small[size]; f > 0 {
		return f
	}
	size = strings.TrimPrefix(size, "metal-")
	if n, found := strings.CutSuffix(size, "xlarge"); found {
		if k, err := strconv.Atoi(n); err == nil && k > 0 && k <= 1000 {
			return 8 * float64(k)
		}
	}
	if n, found := strings.CutSuffix(size, "xl"); found {
		if k, err := strconv.Atoi(n); err == nil && k > 0 && k <= 1000 {
			return 8 * float64(k)
		}
	}
	if size == "metal" {
		return 2 * float64(vCPUs) // an xlarge has four vCPUs
	}
	return 0
}

// flexible reports whether a regional Reserved Instance of the family covers all its sizes, on Linux with shared tenancy.
func flexible(family string) bool { return !slices.Contains(inflexible, family) }

func familyOf(name string) string {
	family, _, _ := strings.Cut(name, ".")
	return family
}

// family returns the normalization factors of a type's family by type name: of the types that the catalogue known contains, and of the type
// called name itself.
func family(known *catalog.Catalog, name string) map[string]float64 {
	out := map[string]float64{}
	if f := units(name, 0); f > 0 {
		out[name] = f
	}
	if known == nil {
		return out
	}
	for i := range known.Types {
		t := &known.Types[i]
		if familyOf(t.Name) != familyOf(name) {
			continue
		}
		if f := units(t.Name, t.VCPUs); f > 0 {
			out[t.Name] = f
		}
	}
	return out
}

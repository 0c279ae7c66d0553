package instancetype

import (
	"math"
	"math/big"
	"math/bits"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/internal/quantities"
)

// reserved are quantities that a class reserves, by resource.
type reserved map[corev1.ResourceName]resource.Quantity

// parseReserved parses a kubeReserved or systemReserved block. Process ids ("pid") are valid in these blocks but are not a node resource,
// so they are left out.
func parseReserved(path string, block map[string]string) (reserved, error) {
	out := reserved{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, "pid"} {
		text, ok := block[string(name)]
		if !ok {
			continue
		}
		field := path + "[" + string(name) + "]"
		q, err := quantities.Parse(text)
		switch {
		case err != nil:
			return nil, badSetting(field, "must be a resource quantity, is %q", text)
		case q.Sign() < 0:
			return nil, badSetting(field, "must not be negative, is %q", text)
		case name != "pid":
			out[name] = q
		}
	}
	for name := range block {
		switch name {
		case "cpu", "memory", "ephemeral-storage", "pid":
		default:
			// The error must not depend on the map's order if there are several unknown names.
			return nil, badSetting(path, "keys must be cpu, memory, ephemeral-storage or pid")
		}
	}
	return out, nil
}

// threshold is a hard eviction threshold: a number of bytes, or a fraction of the total.
type threshold struct {
	bytes                  int64
	numerator, denominator uint64 // if denominator is not 0, the threshold is this fraction of the total
}

// of returns the threshold in bytes for a resource whose amount is total; a fraction is rounded up.
func (t threshold) of(total int64) int64 {
	if t.denominator == 0 {
		return t.bytes
	}
	high, low := bits.Mul64(uint64(max(0, total)), t.numerator)
	low, carry := bits.Add64(low, t.denominator-1, 0)
	// The fraction is less than 1, so the quotient fits into an int64.
	quotient, _ := bits.Div64(high+carry, low, t.denominator)
	return int64(quotient)
}

// maxThreshold is more bytes than any instance has, and small enough for calculations not to overflow.
const maxThreshold = 1 << 60

// parseThreshold parses one signal of an eviction block, or returns the default if it is missing.
func parseThreshold(path string, block map[string]string, signal string, byDefault threshold) (threshold, error) {
	text, ok := block[signal]
	if !ok {
		return byDefault, nil
	}
	field := path + "[" + signal + "]"
	percent, isPercent := strings.CutSuffix(text, "%")
	if !isPercent {
		q, err := quantities.Parse(text)
		if err != nil || q.Sign() < 0 || q.CmpInt64(maxThreshold) > 0 {
			return threshold{}, badSetting(field, "must be a percentage or a quantity from 0 to 1Ei, is %q", text)
		}
		return threshold{bytes: q.Value()}, nil
	}
	fraction, ok := parsePercent(percent)
	if !ok {
		return threshold{}, badSetting(field, "must be a percentage from 0%% to 100%%, is %q", text)
	}
	if fraction.Cmp(big.NewRat(1, 1)) == 0 {
		return threshold{}, nil // the kubelet reads 100% as "never evict"
	}
	return threshold{numerator: fraction.Num().Uint64(), denominator: fraction.Denom().Uint64()}, nil
}

// parsePercent parses a percentage (plain decimal digits with up to nine decimal places) to a fraction from 0 to 1. It returns false for
// other texts.
func parsePercent(text string) (*big.Rat, bool) {
	whole, places, hasPlaces := strings.Cut(text, ".")
	if len(whole) == 0 || len(whole) > 3 || len(places) > 9 || hasPlaces && places == "" {
		return nil, false
	}
	if strings.Trim(whole+places, "0123456789") != "" {
		return nil, false
	}
	v, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, false
	}
	v.Quo(v, big.NewRat(100, 1))
	return v, v.Cmp(big.NewRat(1, 1)) <= 0
}

// reservation contains the amounts that an instance reserves for Kubernetes' daemons by default.
type reservation struct {
	milliCPU  int64
	memoryMiB int64
}

// reservationOf returns the amounts that are reserved for Kubernetes' daemons unless the class overrides them. The rules are those of the
// EKS images' bootstrap: CPU by the number of vCPUs, and 255 MiB of memory plus 11 MiB for each pod.
func (p *plan) reservationOf(t *catalog.Type, c capacity) reservation {
	pods := c.pods
	switch {
	case c.reservedPods > 0:
		pods = c.reservedPods
	case p.family.reservedFromENIs:
		pods = p.eniLimitedPods(t)
	}
	return reservation{milliCPU: reservedMilliCPU(p.vcpus(t)), memoryMiB: 11*pods + 255}
}

// reservedMilliCPU reserves 6 % of the first vCPU, 1 % of the second, 0.5 % of the third and fourth and 0.25 % of all further vCPUs. Each
// share is truncated to whole milli-CPU. This is the rule of the EKS images' bootstrap.
func reservedMilliCPU(vcpus int64) int64 {
	total := vcpus * 1000
	reserved, from := int64(0), int64(0)
	for _, tier := range []struct{ upTo, perTenThousand int64 }{
		{1000, 600}, {2000, 100}, {4000, 50}, {math.MaxInt64, 25},
	} {
		if share := min(total, tier.upTo) - from; share > 0 {
			reserved += share * tier.perTenThousand / 10_000
		}
		from = tier.upTo
	}
	return reserved
}

// list converts r to a resource list, with the class's own entries replacing the computed ones.
func (r reservation) list(own reserved) corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewMilliQuantity(r.milliCPU, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(r.memoryMiB<<20, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(gibi, resource.BinarySI),
	}
	for name, q := range own {
		list[name] = q
	}
	return list
}

// eviction is the hard eviction threshold of an instance, in bytes.
type eviction struct {
	memory, disk int64
}

// evictionOf returns the amounts of memory and disk that the kubelet keeps free by evicting pods. A percentage refers to the memory,
// discovered or estimated, that capacityOf returns for the instance, so that threshold and capacity can't contradict each other.
func (p *plan) evictionOf(c capacity) eviction {
	return eviction{memory: p.memoryEviction.of(c.memory), disk: p.diskEviction.of(c.disk.bytes)}
}

func (e eviction) list() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceMemory:           *resource.NewQuantity(e.memory, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(e.disk, resource.BinarySI),
	}
}

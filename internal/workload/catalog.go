package workload

import (
	"fmt"
	"hash/fnv"
	"math"
	"sort"
)

// Seed is the seed of every scenario.
const Seed = 42

// Zones returns the zones of every scenario.
func Zones() []string { return []string{"zone-a", "zone-b", "zone-c"} }

// Offering is one way to buy an instance type.
type Offering struct {
	Zone      string
	Spot      bool
	Price     float64 // USD/hour
	Available bool
}

// Type is an instance type with its prices, its capacity, and the amounts that the node reserves for itself.
type Type struct {
	Name, Family, Category, Size, Arch string
	Generation                         int
	VCPU                               int
	MemGiB                             float64
	GPUs                               int
	MaxPods                            int
	CapCPUm                            int64 // millicores, capacity
	CapMemMi                           int64 // capacity in MiB, from which 7.5% VM overhead is already subtracted
	ReservedCPUm, ReservedMemMi        int64 // kube-reserved plus the eviction threshold
	ODPrice                            float64
	Offerings                          []Offering
}

// AllocCPUm returns the CPU that pods can use, in millicores.
func (t *Type) AllocCPUm() int64 { return t.CapCPUm - t.ReservedCPUm }

// AllocMemMi returns the memory that pods can use, in MiB.
func (t *Type) AllocMemMi() int64 { return t.CapMemMi - t.ReservedMemMi }

// unit returns a number in [0,1) that depends only on the string s. It hashes the string with FNV-1a 64, and then applies one round of the
// splitmix64 finalizer.
func unit(s string) float64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	x := h.Sum64()
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / float64(1<<53)
}

type size struct {
	name string
	vcpu int
}

var allSizes = []size{{"medium", 1}, {"large", 2}, {"xlarge", 4}, {"2xlarge", 8}, {"4xlarge", 16}, {"8xlarge", 32},
	{"12xlarge", 48}, {"16xlarge", 64}, {"24xlarge", 96}, {"32xlarge", 128}, {"48xlarge", 192}, {"metal", 192}}

func maxPods(vcpu int) int {
	switch { // ENIs * (IPv4 addresses per ENI - 1) + 2
	case vcpu <= 1:
		return 8
	case vcpu <= 2:
		return 29
	case vcpu <= 8:
		return 58
	case vcpu <= 48:
		return 234
	}
	return 737
}

// kubeReservedCPUm returns the CPU that the kubelet reserves, in thousandths of a core: 6% of the first core, 1% of the second core, 0.5%
// of the third and of the fourth core, and 0.25% of each further core.
func kubeReservedCPUm(vcpu int) int64 {
	m := 0.0
	for i := 0; i < vcpu; i++ {
		switch {
		case i == 0:
			m += 60
		case i == 1:
			m += 10
		case i < 4:
			m += 5
		default:
			m += 2.5
		}
	}
	return int64(m)
}

// Catalog returns the instance types, sorted by name.
func Catalog() []*Type {
	var out []*Type
	add := func(family, category string, gen int, arch string, memPerCPU, factor, gpuPrice float64, sizes []size) {
		for _, s := range sizes {
			mem := float64(s.vcpu) * memPerCPU
			gpus := 0
			if gpuPrice > 0 {
				gpus = max(1, s.vcpu/16)
			}
			name := family + "." + s.name
			od := factor*(0.037*float64(s.vcpu)+0.00275*mem) + gpuPrice*float64(gpus)
			if s.name == "metal" {
				od *= 1.02
			}
			od *= 0.99 + 0.02*unit(name) // +-1% per type
			od = math.Round(od*1e5) / 1e5
			t := &Type{Name: name, Family: family, Category: category, Size: s.name, Arch: arch, Generation: gen,
				VCPU: s.vcpu, MemGiB: mem, GPUs: gpus, MaxPods: maxPods(s.vcpu), CapCPUm: int64(s.vcpu) * 1000,
				CapMemMi: int64(mem * 1024 * 0.925), ODPrice: od}
			t.ReservedCPUm = kubeReservedCPUm(s.vcpu)
			t.ReservedMemMi = 11*int64(min(t.MaxPods, 250)) + 255 + 100
			for _, z := range Zones() {
				t.Offerings = append(t.Offerings, Offering{Zone: z, Price: od, Available: true})
				f := 0.30 + 0.10*unit(name+"|"+z)
				t.Offerings = append(t.Offerings, Offering{Zone: z, Spot: true, Price: math.Round(od*f*1e5) / 1e5,
					Available: unit("ice|"+name+"|"+z) >= 0.03}) // 3% of the spot offerings have no capacity
			}
			out = append(out, t)
		}
	}
	genFactor := map[int]float64{5: 1.00, 6: 0.98, 7: 1.05, 8: 1.08}
	cats := []struct {
		c   string
		mem float64
	}{{"c", 2}, {"m", 4}, {"r", 8}}
	variants := []struct {
		suffix, arch string
		f            float64
	}{{"i", "amd64", 1.00}, {"a", "amd64", 0.90}, {"g", "arm64", 0.80}, {"id", "amd64", 1.18}, {"gd", "arm64", 0.94}}
	for _, c := range cats {
		for _, g := range []int{5, 6, 7, 8} {
			for _, v := range variants {
				add(fmt.Sprintf("%s%d%s", c.c, g, v.suffix), c.c, g, v.arch, c.mem, genFactor[g]*v.f, 0, allSizes)
			}
		}
	}
	add("t3", "t", 3, "amd64", 4, 0.95, 0, allSizes[:4])
	add("t3a", "t", 3, "amd64", 4, 0.86, 0, allSizes[:4])
	add("t4g", "t", 4, "arm64", 4, 0.76, 0, allSizes[:4])
	add("i3", "i", 3, "amd64", 8, 1.30, 0, allSizes[1:])
	add("i4i", "i", 4, "amd64", 8, 1.45, 0, allSizes[1:])
	add("i4g", "i", 4, "arm64", 8, 1.30, 0, allSizes[1:])
	add("i7ie", "i", 7, "amd64", 8, 1.75, 0, allSizes[1:])
	add("g4dn", "g", 4, "amd64", 4, 1.05, 0.33, allSizes[2:])
	add("g5", "g", 5, "amd64", 4, 1.10, 0.80, allSizes[2:])
	add("g6", "g", 6, "amd64", 4, 1.08, 0.60, allSizes[2:])
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
)

// Digest returns the SHA-256 hash of a canonical text form of the workload. Use it to check that two generators give the same workload.
func Digest(cat []*Type, pods []Pod, nodes []Node) string {
	h := sha256.New()
	for _, t := range cat {
		fmt.Fprintf(h, "T %s %s %d %d %d %d %d %d\n", t.Name, t.Arch, t.CapCPUm, t.CapMemMi, t.ReservedCPUm, t.ReservedMemMi, t.MaxPods, t.GPUs)
		for _, o := range t.Offerings {
			fmt.Fprintf(h, "O %s %v %.5f %v\n", o.Zone, o.Spot, o.Price, o.Available)
		}
	}
	pp := func(p Pod) {
		ks := make([]string, 0)
		for k, v := range p.NodeSelector {
			ks = append(ks, k+"="+v)
		}
		sort.Strings(ks)
		fmt.Fprintf(h, "P %s %s %d %d %v %v %v %s\n", p.Name, p.App, p.CPUm, p.MemMi, p.ZoneSpread, p.HostAnti, ks, p.Node)
	}
	for _, p := range pods {
		pp(p)
	}
	for _, n := range nodes {
		fmt.Fprintf(h, "N %s %s %s %v\n", n.Name, n.Type.Name, n.Zone, n.Spot)
		for _, p := range n.Pods {
			pp(p)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

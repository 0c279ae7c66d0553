package model

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// checkQuantities refuses invalid amounts of nodes, pools, instance types and overlays. Amounts of pods are checked pod by pod: see
// resources.CheckPod. Unchanged catalogs of the previous model, which may be nil, and compiled catalogs are not checked again.
func checkQuantities(s *planning.Snapshot, previous *Model, o *Options) error {
	var c quantityCheck
	for i := range s.Nodes {
		c.node(&s.Nodes[i])
	}
	for i := range s.NodePools {
		c.list(corev1.ResourceList(s.NodePools[i].Object.Spec.Limits), func() string { return fmt.Sprintf("nodePools[%d].object.spec.limits", i) })
	}
	for i, o := range s.NodeOverlays {
		c.list(o.Spec.Capacity, func() string { return fmt.Sprintf("nodeOverlays[%d].spec.capacity", i) })
	}
	for _, name := range slices.Sorted(maps.Keys(s.Catalogs)) {
		known := previous != nil && SameList(previous.Snapshot.Catalogs[name], s.Catalogs[name]) || o.knows(s.Catalogs[name])
		if !known {
			c.types(name, s.Catalogs[name])
		}
	}
	return c.err
}

// quantityCheck keeps the error of one invalid amount: see quantityCheck.amount. It computes the paths of fields only for invalid amounts.
type quantityCheck struct{ err error }

func (c *quantityCheck) types(name string, list []*cloudprovider.InstanceType) {
	for i, it := range list {
		if it == nil {
			continue // Compile refuses null types later
		}
		at := func(field string) string { return fmt.Sprintf("catalogs[%s][%d]%s", name, i, field) }
		c.list(it.Capacity, func() string { return at(".capacity") })
		c.overhead(&it.Overhead, func() string { return at(".overhead") })
		c.devices(it.Devices, at)
		for j := range it.Offerings {
			o := &it.Offerings[j]
			offering := func(field string) string { return fmt.Sprintf("%s[%d]%s", at(".offerings"), j, field) }
			c.list(o.Capacity, func() string { return offering(".capacity") })
			if c.err == nil && o.Price == 0 && o.CapacityType() == v1.CapacityTypeOnDemand {
				c.err = &planning.SnapshotError{Path: offering(".price"), Rule: "is 0, but the offering is on-demand", Cure: "give its price; only reserved capacity may be paid for already"}
			}
			if o.Overhead != nil {
				c.overhead(o.Overhead, func() string { return offering(".overhead") })
			}
		}
	}
}

func (c *quantityCheck) overhead(o *cloudprovider.Overhead, path func() string) {
	c.list(o.KubeReserved, func() string { return path() + ".kubeReserved" })
	c.list(o.SystemReserved, func() string { return path() + ".systemReserved" })
	c.list(o.EvictionThreshold, func() string { return path() + ".evictionThreshold" })
}

func (c *quantityCheck) list(list corev1.ResourceList, path func() string) {
	worst, negative := corev1.ResourceName(""), corev1.ResourceName("")
	for name, q := range list {
		if resources.Absurd(&q) && (worst == "" || name < worst) {
			worst = name
		}
		if q.Sign() < 0 && (negative == "" || name < negative) {
			negative = name
		}
	}
	if negative != "" && c.err == nil {
		c.err = &planning.SnapshotError{
			Path: fmt.Sprintf("%s[%s]", path(), negative), Rule: "is negative, " + resources.Short(list[negative]), Cure: "give 0 or more",
		}
	}
	if worst != "" && c.err == nil {
		c.err = &planning.SnapshotError{
			Path: fmt.Sprintf("%s[%s]", path(), worst), Rule: "is " + resources.Short(list[worst]) + ", too much or too little to compute with",
			Cure: "give an amount between 1e-12 and 1e24",
		}
	}
}

// checkTypes refuses instance types without a unique name, and invalid prices.
func checkTypes(name string, types []*cloudprovider.InstanceType) error {
	seen := make(map[string]bool, len(types))
	for i, it := range types {
		if it == nil {
			return &planning.SnapshotError{Path: fmt.Sprintf("catalogs[%s][%d]", name, i), Rule: "is null", Cure: "leave it out"}
		}
		if it.Name == "" || seen[it.Name] {
			return &planning.SnapshotError{Path: fmt.Sprintf("catalogs[%s][%d].name", name, i), Rule: fmt.Sprintf("is %q, which is empty or stands twice", it.Name), Cure: "names of instance types are unique"}
		}
		seen[it.Name] = true
		for j, o := range it.Offerings {
			if math.IsNaN(o.Price) || math.IsInf(o.Price, 0) || o.Price < 0 || o.Price > 1e9 {
				return &planning.SnapshotError{Path: fmt.Sprintf("catalogs[%s][%s].offerings[%d].price", name, it.Name, j), Rule: fmt.Sprintf("is %v", o.Price), Cure: "a price is finite, >= 0 and <= 1e9 USD per hour"}
			}
		}
	}
	return nil
}

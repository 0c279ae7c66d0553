package reconcilers

import (
	"cmp"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// deviceMetrics count devices by driver and NodePool. Each metric has a time series for each driver in each NodePool. Devices of nodes
// without a NodePool, and devices that several nodes can use, have an empty pool label.
type deviceMetrics struct{ published, allocated, planned *prometheus.Desc }

func newDeviceMetrics(desc func(subsystem, name, help string, labels ...string) *prometheus.Desc) deviceMetrics {
	labels := []string{"driver", "nodepool"}
	return deviceMetrics{
		published: desc("devices", "published", "Devices that drivers of Dynamic Resource Allocation have published.", labels...),
		allocated: desc("devices", "allocated", "Devices that are allocated to ResourceClaims; one that several share counts once.", labels...),
		planned:   desc("devices", "planned", "Devices that nodes on their way have by their instance types, and that their drivers have not published yet.", labels...),
	}
}

func (m *deviceMetrics) describe() []*prometheus.Desc {
	return []*prometheus.Desc{m.published, m.allocated, m.planned}
}

// devicesOf contains the labels of a time series of devices.
type devicesOf struct{ driver, pool string }

// deviceKey names a device in the cluster.
type deviceKey struct{ driver, pool, device string }

// deviceCounts are numbers of devices.
type deviceCounts struct{ published, allocated, planned map[devicesOf]int }

// collect counts the devices of a view. Each slice, claim and node is visited once.
func (m *deviceMetrics) collect(view *cluster.View, set *provisioning.PoolSet, gauge func(*prometheus.Desc, float64, ...string)) {
	counts := countDevices(view, set)
	for of, n := range counts.published {
		gauge(m.published, float64(n), of.driver, of.pool)
	}
	for of, n := range counts.allocated {
		gauge(m.allocated, float64(n), of.driver, of.pool)
	}
	for of, n := range counts.planned {
		gauge(m.planned, float64(n), of.driver, of.pool)
	}
}

// countDevices counts the devices of a view. set contains the instance types of nodes that are being launched; nil before the first
// planning pass.
func countDevices(view *cluster.View, set *provisioning.PoolSet) deviceCounts {
	counts := deviceCounts{map[devicesOf]int{}, map[devicesOf]int{}, map[devicesOf]int{}}
	pools := make(map[string]string, len(view.Nodes))
	for i := range view.Nodes {
		if n := &view.Nodes[i]; n.Node != nil {
			pools[n.Node.Name] = n.Pool.String()
		}
	}
	taken := allocatedDevices(view.Snapshot.ResourceClaims)
	publish := map[[2]string]bool{} // whether drivers have published devices, by node and driver
	for _, slice := range currentSlices(view.Snapshot.ResourceSlices) {
		spec := &slice.Spec
		if spec.NodeName != nil {
			publish[[2]string{*spec.NodeName, spec.Driver}] = true
		}
		for i := range spec.Devices {
			d := &spec.Devices[i]
			of := devicesOf{driver: spec.Driver}
			if node := cmp.Or(spec.NodeName, d.NodeName); node != nil {
				of.pool = pools[*node]
			}
			counts.published[of]++
			key := deviceKey{spec.Driver, spec.Pool.Name, d.Name}
			if taken[key] {
				counts.allocated[of]++
				delete(taken, key)
			} else {
				counts.allocated[of] += 0 // creates the time series even if all devices are free
			}
		}
	}
	for key := range taken { // allocated devices that their driver no longer publishes
		counts.allocated[devicesOf{key.driver, pools[key.pool]}]++
	}
	counts.plan(view, set, publish)
	return counts
}

// plan adds the number of expected devices of nodes that are not initialized, for drivers that have published no devices on them yet.
func (c *deviceCounts) plan(view *cluster.View, set *provisioning.PoolSet, publish map[[2]string]bool) {
	if set == nil {
		return
	}
	types := map[string]map[string]*cloudprovider.InstanceType{} // instance types by pool and name
	for i := range set.NodePools {
		pool := &set.NodePools[i]
		byName := map[string]*cloudprovider.InstanceType{}
		for _, t := range set.Catalogs[pool.Catalog] {
			if len(t.Devices) > 0 {
				byName[t.Name] = t
			}
		}
		types[pool.Identity().String()] = byName
	}
	for i := range view.Nodes {
		n := &view.Nodes[i]
		if n.Claim == nil || n.Leaving || n.Phase >= cluster.PhaseInitialized {
			continue
		}
		pool, node := n.Pool.String(), ""
		if n.Node != nil {
			node = n.Node.Name
		}
		t := types[pool][n.Claim.Labels[corev1.LabelInstanceTypeStable]]
		if t == nil {
			continue
		}
		for j := range t.Devices {
			if d := &t.Devices[j]; !publish[[2]string{node, d.Driver}] {
				c.planned[devicesOf{d.Driver, pool}] += len(d.Devices)
			}
		}
	}
}

// allocatedDevices returns the devices that are allocated to claims, without duplicates. Devices that are claimed only for administration
// (adminAccess) are left out.
func allocatedDevices(claims []*resourcev1.ResourceClaim) map[deviceKey]bool {
	taken := map[deviceKey]bool{}
	for _, claim := range claims {
		if claim.Status.Allocation == nil {
			continue
		}
		results := claim.Status.Allocation.Devices.Results
		for i := range results {
			if r := &results[i]; r.AdminAccess == nil || !*r.AdminAccess {
				taken[deviceKey{r.Driver, r.Pool, r.Device}] = true
			}
		}
	}
	return taken
}

// currentSlices returns the slices of the newest generation of each pool: slices of earlier generations will be deleted.
func currentSlices(slices []*resourcev1.ResourceSlice) []*resourcev1.ResourceSlice {
	newest := map[[2]string]int64{}
	for _, s := range slices {
		pool := [2]string{s.Spec.Driver, s.Spec.Pool.Name}
		newest[pool] = max(newest[pool], s.Spec.Pool.Generation)
	}
	var out []*resourcev1.ResourceSlice
	for _, s := range slices {
		if s.Spec.Pool.Generation == newest[[2]string{s.Spec.Driver, s.Spec.Pool.Name}] {
			out = append(out, s)
		}
	}
	return out
}

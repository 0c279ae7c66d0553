package instancetype

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
)

const (
	// EFADriver is the driver that AWS recommends for Elastic Fabric Adapters: DRANET.
	EFADriver = "dra.net"
	// NeuronDriver is the driver of Inferentia2 and Trainium devices.
	NeuronDriver = "neuron.aws.com"
)

// efaDevice is the name of an EFA interface in the database of PCI devices.
const efaDevice = "Elastic Fabric Adapter (EFA)"

// efasOnRoot returns the number of EFA interfaces that share a PCIe root with a GPU, for the types whose number is documented.
func efasOnRoot() map[string]int64 { return map[string]int64{"p5.48xlarge": 4} }

// efaPools returns the EFA interfaces of an instance as DRANET publishes them. DRANET also publishes network interfaces that are not EFA
// interfaces; plans don't consider claims for them. The attributes have the domain dra.net, whatever the driver's name is.
//
// Sources: https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html and pkg/apis/attributes.go of https://github.com/kubernetes-sigs/dranet.
func efaPools(t *catalog.Type, driver string, count int64) []cloudprovider.DevicePool {
	if count <= 0 {
		return nil
	}
	pool := cloudprovider.DevicePool{Driver: driver}
	onRoot, yes := efasOnRoot()[t.Name], true
	for i := range count {
		d := resourcev1.Device{
			Name: fmt.Sprintf("efa-%d", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"dra.net/pciDevice": words(efaDevice), "dra.net/pciVendor": words("Amazon.com, Inc."), "dra.net/rdma": {BoolValue: &yes},
			},
		}
		if onRoot > 0 {
			d.Attributes[pcieRoot] = words(fmt.Sprintf("root-%d", i/onRoot))
		}
		pool.Devices = append(pool.Devices, d)
	}
	return []cloudprovider.DevicePool{pool}
}

// EFAs returns the number of devices of a pool that are EFA interfaces, or 0 for a nil pool.
func EFAs(pool *cloudprovider.DevicePool) int {
	n := 0
	if pool != nil {
		for i := range pool.Devices {
			if kind := pool.Devices[i].Attributes["dra.net/pciDevice"].StringValue; kind != nil && *kind == efaDevice {
				n++
			}
		}
	}
	return n
}

// neuronPools returns the Neuron devices of an instance. The values that identify groups of connected devices are placeholders: claims only
// compare them. The driver does not support the first generation of Inferentia.
//
// Source: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/dra.html and
// https://docs.aws.amazon.com/eks/latest/userguide/device-management-neuron.html.
func neuronPools(t *catalog.Type, driver string) []cloudprovider.DevicePool {
	pool := cloudprovider.DevicePool{Driver: driver}
	total := int64(0)
	for _, kind := range t.Accelerators.Neuron {
		if served := strings.HasPrefix(kind.Name, "Trainium") || kind.Name == "Inferentia2"; served {
			total += kind.Count
		}
	}
	for i := range total {
		d := resourcev1.Device{
			Name:       fmt.Sprintf("neurondevice%d", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"neuron.aws.com/instanceType": words(t.Name)},
		}
		for _, size := range []int64{1, 4, 8, 16} {
			if total%size == 0 {
				d.Attributes[resourcev1.QualifiedName(fmt.Sprintf("resource.aws.com/devicegroup%d_id", size))] = words(fmt.Sprintf("group-%d", i/size))
			}
		}
		pool.Devices = append(pool.Devices, d)
	}
	if len(pool.Devices) == 0 {
		return nil
	}
	return []cloudprovider.DevicePool{pool}
}

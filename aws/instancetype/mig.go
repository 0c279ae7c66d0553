package instancetype

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// migProfile is a kind of GPU partition (MIG) with its resources. A partition at position p takes the memory slices p to p+slices-1.
type migProfile struct {
	name                                                            string
	id                                                              int
	memoryMiB                                                       int64
	multiprocessors, copyEngines, decoders, jpegEngines, ofaEngines int64
	slices                                                          int
	places                                                          []int
}

// migLayout contains the profiles of a model; the last profile takes the whole GPU.
type migLayout []migProfile

// memorySlices is the number of memory slices of a GPU, for all models that have a layout here.
const memorySlices = 8

// migLayouts returns the partitions that the driver's feature DynamicMIG publishes in addition to whole GPUs, by product. They are for GPUs
// whose MIG mode can change without a reset: Hopper and Blackwell. An A100 has either whole GPUs or partitions, as configured at boot, so
// only its whole GPUs are used for planning.
//
// Profiles, positions and fractions are from NVIDIA's MIG User Guide, "Supported MIG Profiles". Memory and multiprocessors are from
// published outputs of nvidia-smi mig -lgip, in GiB with two decimals:
//   - H100 80GB HBM3: 9.75, 19.62, 39.50, 79.25; https://jbarrow.ai/field_notes/nvidia-mig/
//   - H200: 16.00, 32.25, 69.50, 139.75; https://github.com/NVIDIA/mig-parted/issues/120
//   - B200: 20.50 and 44.25; https://github.com/NVIDIA/mig-parted/pull/187. An older driver had 22.00 (pull/166): the lower value is used.
//     The larger profiles, 89.00 and 178.50, could not be checked against a second source.
func migLayouts() map[string]migLayout {
	all, pairs, low, halves, first := []int{0, 1, 2, 3, 4, 5, 6}, []int{0, 2, 4, 6}, []int{0, 2, 4}, []int{0, 4}, []int{0}
	layout := func(names [7]string, memory [4]int64, processors [6]int64, copies int64) migLayout {
		return migLayout{
			{names[0], 19, memory[0], processors[0], copies, 1, 1, 0, 1, all},
			{names[1], 20, memory[0], processors[0], copies, 1, 1, 1, 1, all},
			{names[2], 15, memory[1], processors[1], copies, 1, 1, 0, 2, pairs},
			{names[3], 14, memory[1], processors[2], 2 * copies, 2, 2, 0, 2, low},
			{names[4], 9, memory[2], processors[3], 3 * copies, 3, 3, 0, 4, halves},
			{names[5], 5, memory[2], processors[4], 4 * copies, 4, 4, 0, 4, first},
			{names[6], 0, memory[3], processors[5], 8 * copies, 7, 7, 1, memorySlices, first},
		}
	}
	hopper := [6]int64{16, 26, 32, 60, 64, 132}
	return map[string]migLayout{
		"NVIDIA H100 80GB HBM3": layout([7]string{"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"},
			[4]int64{9984, 20096, 40448, 81152}, hopper, 1),
		"NVIDIA H200": layout([7]string{"1g.18gb", "1g.18gb+me", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"},
			[4]int64{16384, 33024, 71168, 143104}, hopper, 1),
		"NVIDIA B200": layout([7]string{"1g.23gb", "1g.23gb+me", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"},
			[4]int64{20992, 45312, 91136, 182784}, [6]int64{18, 30, 36, 70, 72, 148}, 2),
	}
}

// of returns the counters of a GPU, and the devices for its partitions. It also changes the parameter whole, the device for the whole GPU:
// this device takes all of the counters and has the capacity of the largest partition.
func (l migLayout) of(g *nvidiaGPU, whole *resourcev1.Device, minor int) (resourcev1.CounterSet, []resourcev1.Device) {
	set := fmt.Sprintf("gpu-%d-counter-set", minor)
	full := &l[len(l)-1]
	whole.Capacity = full.capacity()
	whole.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: set, Counters: full.counters(0)}}
	var parts []resourcev1.Device
	for i := range l {
		p := &l[i]
		// Device names contain no dots and no plus signs.
		label := strings.ReplaceAll(strings.ReplaceAll(p.name, ".", ""), "+", "-")
		for _, place := range p.places {
			d := resourcev1.Device{
				Name: fmt.Sprintf("gpu-%d-mig-%s-%d-%d", minor, label, p.id, place), Attributes: g.attributes("mig"), Capacity: p.capacity(),
				ConsumesCounters: []resourcev1.DeviceCounterConsumption{{CounterSet: set, Counters: p.counters(place)}},
			}
			d.Attributes["profile"] = words(p.name)
			// Claims only compare this value, for instance to get two partitions of one GPU.
			d.Attributes["parentUUID"] = words(fmt.Sprintf("gpu-%d", minor))
			parts = append(parts, d)
		}
	}
	return resourcev1.CounterSet{Name: set, Counters: full.counters(0)}, parts
}

func (p *migProfile) capacity() map[resourcev1.QualifiedName]resourcev1.DeviceCapacity {
	count := func(n int64) resourcev1.DeviceCapacity {
		return resourcev1.DeviceCapacity{Value: *resource.NewQuantity(n, resource.BinarySI)}
	}
	return map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
		"memory": mebibytes(p.memoryMiB), "multiprocessors": count(p.multiprocessors), "copyEngines": count(p.copyEngines),
		"decoders": count(p.decoders), "encoders": count(0), "jpegEngines": count(p.jpegEngines), "ofaEngines": count(p.ofaEngines),
	}
}

// counters returns the counters that a partition at position place takes.
func (p *migProfile) counters(place int) map[string]resourcev1.Counter {
	names := map[resourcev1.QualifiedName]string{"copyEngines": "copy-engines", "jpegEngines": "jpeg-engines", "ofaEngines": "ofa-engines"}
	out := map[string]resourcev1.Counter{}
	for name, c := range p.capacity() {
		counter, ok := names[name]
		if !ok {
			counter = string(name)
		}
		out[counter] = resourcev1.Counter{Value: c.Value}
	}
	for i := place; i < place+p.slices; i++ {
		out[fmt.Sprintf("memory-slice-%d", i)] = resourcev1.Counter{Value: *resource.NewQuantity(1, resource.BinarySI)}
	}
	return out
}

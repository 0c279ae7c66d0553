package instancetype

import (
	"strings"

	"github.com/drawknife/drawknife/aws/catalog"
)

// EBSDriver is the CSI driver of EBS volumes, the key of EBS limits in cloudprovider.InstanceType.VolumeLimits.
const EBSDriver = "ebs.csi.aws.com"

const (
	// xenAttachments is the number of volumes with which a Xen instance reliably boots: EC2 says 40, its documentation warns that more may
	// prevent Linux from booting, and the EBS CSI driver stops at 39.
	xenAttachments = 39
	// defaultAttachments is the shared limit that the EBS CSI driver assumes for unknown types: the 28 slots of a Nitro instance minus its
	// primary interface.
	defaultAttachments = 27
	// warmInterfaces are interfaces that the VPC CNI keeps attached beyond those whose addresses are in use
	// (WARM_ENI_TARGET, whose default is 1).
	warmInterfaces = 1
)

// ebsLimit returns the number of EBS volumes that an instance of the type can attach for pods. It exceeds neither the number that the EBS
// CSI driver will report in CSINode, nor the number that can really be attached. It is EC2's maximum, which already accounts for the
// primary interface, local NVMe disks and accelerators, minus:
//
//   - the volumes with which it boots, including the root;
//   - if interfaces and volumes share slots, all interfaces except the primary one. The driver counts the interfaces that are attached when
//     it starts. But the VPC CNI attaches more interfaces for new pods, and these use slots that volumes could use. So ebsLimit counts the
//     interfaces that are needed if each volume belongs to a different pod, plus warmInterfaces;
//   - on Xen, disks of the instance store that are not NVMe: there the limit applies to block devices of any kind.
//
// The result is at least 1, like the number that the driver reports. A driver that runs with --volume-attach-limit or
// --reserved-volume-attachments reports other numbers; ebsLimit does not know these flags.
func (p *plan) ebsLimit(t *catalog.Type) int32 {
	slots := t.EBS.MaxAttach
	taken := p.bootVolumes()
	switch {
	case t.Hypervisor == "xen":
		if slots == 0 || slots > xenAttachments {
			slots = xenAttachments
		}
		taken += blockDisks(t)
	case slots == 0:
		return p.sharedLimit(t, defaultAttachments, taken)
	case t.EBS.AttachLimit != "dedicated":
		return p.sharedLimit(t, slots, taken)
	}
	return int32(max(1, slots-taken))
}

// sharedLimit returns the largest number of volumes that fit into the slots together with the network interfaces that the same number of
// pods needs.
func (p *plan) sharedLimit(t *catalog.Type, slots, taken int64) int32 {
	n := slots - taken
	for n > 1 && n+p.interfaces(t, n)-1 > slots-taken {
		n--
	}
	return int32(max(1, n))
}

// interfaces returns the number of network interfaces of an instance of the type when it runs the given number of pods with their own
// addresses. It does not consider address prefixes, which would need fewer interfaces.
func (p *plan) interfaces(t *catalog.Type, pods int64) int64 {
	launched := max(1, t.Network.EFA)
	if p.NetworkInterfaces != nil {
		launched = max(1, int64(len(p.NetworkInterfaces)))
	}
	perInterface := max(1, t.Network.IPv4PerENI-1)
	serving := (pods + perInterface - 1) / perInterface
	return min(t.Network.ENIs, launched-1+p.ReservedENIs+serving+warmInterfaces)
}

// bootVolumes counts the volumes with which an instance starts: those of the class and those of the family's images, which the class may
// replace by naming the same device.
func (p *plan) bootVolumes() int64 {
	devices := map[string]bool{}
	for _, name := range p.family.imageDevices {
		devices[name] = true
	}
	rooted := len(devices) > 0
	n := int64(0)
	for _, d := range p.BlockDevices {
		rooted = rooted || d.Root || d.DeviceName == "/dev/sda1" || strings.HasPrefix(d.DeviceName, "/dev/xvda")
		if d.DeviceName == "" {
			n++ // EC2 refuses a volume without a name, and it can't be matched with another volume
			continue
		}
		devices[d.DeviceName] = true
	}
	if !rooted {
		n++ // counts the root volume of a custom image, whose device name is unknown
	}
	return n + int64(len(devices))
}

// blockDisks counts the disks of the instance store that are not NVMe.
func blockDisks(t *catalog.Type) int64 {
	if t.LocalStorage == nil || t.LocalStorage.NVMe == "required" {
		return 0
	}
	n := int64(0)
	for _, d := range t.LocalStorage.Disks {
		n += d.Count
	}
	return n
}

package instancetype

import (
	"strings"

	"github.com/drawknife/drawknife/aws/catalog"
)

// EBSDriver is the CSI driver of EBS volumes, the key of EBS limits in cloudprovider.InstanceType.VolumeLimits.
const EBSDriver = "ebs.csi.aws.com"

const (
	// xenAttachments is how many volumes a Xen instance can be relied on to boot with: EC2 says 40, its documentation
	// warns that more may keep Linux from booting, and the EBS CSI driver stops at 39.
	xenAttachments = 39
	// defaultAttachments is the shared limit the EBS CSI driver takes for a type it does not know: the 28 slots of a
	// Nitro instance less its primary interface.
	defaultAttachments = 27
	// warmInterfaces are interfaces that the VPC CNI keeps attached beyond those whose addresses are in use
	// (WARM_ENI_TARGET, whose default is 1).
	warmInterfaces = 1
)

// ebsLimit is how many EBS volumes an instance of the type can attach for pods: no more than the EBS CSI driver will
// report in CSINode, nor than will in fact attach. From EC2's maximum, in which the primary interface, local NVMe
// disks and accelerators are already accounted for, come off:
//
//   - the volumes it boots with, the root among them;
//   - where interfaces and volumes share slots, all interfaces but the primary one. The driver counts those attached
//     when it starts, but the VPC CNI attaches more as pods come, and they take slots from volumes; so those are
//     counted that are needed when each volume belongs to a pod of its own, and the warm one;
//   - on Xen, disks of the instance store that are not NVMe: there the limit is of block devices of any kind.
//
// At least 1, as the driver reports. A driver that runs with --volume-attach-limit or --reserved-volume-attachments
// reports what these say instead; nothing of that is known here.
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

// sharedLimit is the greatest number of volumes that leaves slots for the interfaces which their pods need.
func (p *plan) sharedLimit(t *catalog.Type, slots, taken int64) int32 {
	n := slots - taken
	for n > 1 && n+p.interfaces(t, n)-1 > slots-taken {
		n--
	}
	return int32(max(1, n))
}

// interfaces is how many network interfaces an instance of the type has attached when it runs so many pods with
// addresses of their own. Address prefixes would need fewer; that is not relied on.
func (p *plan) interfaces(t *catalog.Type, pods int64) int64 {
	launched := max(1, t.Network.EFA)
	if p.NetworkInterfaces != nil {
		launched = max(1, int64(len(p.NetworkInterfaces)))
	}
	perInterface := max(1, t.Network.IPv4PerENI-1)
	serving := (pods + perInterface - 1) / perInterface
	return min(t.Network.ENIs, launched-1+p.ReservedENIs+serving+warmInterfaces)
}

// bootVolumes counts the volumes an instance starts with: those of the class and those that the family's images bring,
// which the class may replace by naming the same device.
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
			n++ // refused by EC2, and not known to be any other
			continue
		}
		devices[d.DeviceName] = true
	}
	if !rooted {
		n++ // the root that a custom image brings under a name of its own
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

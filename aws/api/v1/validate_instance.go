package v1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// minVolumeBytes is 1G, the smallest valid size; a smaller size probably has a missing or wrong unit.
	minVolumeBytes = 1_000_000_000
	// maxVolumeGiB is the size of the largest EBS volume, in GiB.
	maxVolumeGiB = 65536
	// maxVolumeExponent is larger than the decimal exponent of any valid size.
	maxVolumeExponent = 30
)

func validateBlockDeviceMappings(mappings []BlockDeviceMapping, path *field.Path) field.ErrorList {
	errs := listLength(path, len(mappings), maxBlockDeviceMappings)
	root := -1
	for i := range mappings {
		at := path.Index(i)
		errs = append(errs, validateBlockDevice(mappings[i].EBS, at.Child("ebs"))...)
		if !mappings[i].RootVolume {
			continue
		}
		if root >= 0 {
			errs = append(errs, field.Forbidden(at.Child("rootVolume"), fmt.Sprintf("only one volume holds the kubelet's files, and %s is marked too: unmark one", path.Index(root))))
			continue
		}
		root = i
	}
	return errs
}

func validateBlockDevice(ebs *BlockDevice, path *field.Path) field.ErrorList {
	if ebs == nil {
		return field.ErrorList{field.Required(path, "describe the volume, at least by volumeSize or snapshotID")}
	}
	var errs field.ErrorList
	if ebs.SnapshotID == nil && ebs.VolumeSize == nil {
		errs = append(errs, field.Required(path.Child("volumeSize"), "the size of the volume is not known: give volumeSize or snapshotID"))
	}
	if size := ebs.VolumeSize; size != nil {
		errs = append(errs, validateVolumeSize(ebs, path.Child("volumeSize"))...)
	}
	errs = append(errs, notNegative(ebs.IOPS, path.Child("iops"))...)
	errs = append(errs, notNegative(ebs.Throughput, path.Child("throughput"))...)
	errs = append(errs, between(ebs.VolumeInitializationRate, path.Child("volumeInitializationRate"), 100, 300)...)
	if ebs.VolumeInitializationRate != nil && (ebs.SnapshotID == nil || *ebs.SnapshotID == "") {
		errs = append(errs, field.Forbidden(path.Child("volumeInitializationRate"), "only a volume made from a snapshot is initialised: give snapshotID or remove it"))
	}
	return append(errs, oneOf(ebs.VolumeType, path.Child("volumeType"),
		VolumeTypeStandard, VolumeTypeIO1, VolumeTypeIO2, VolumeTypeGP2, VolumeTypeSC1, VolumeTypeST1, VolumeTypeGP3)...)
}

func validateVolumeSize(ebs *BlockDevice, path *field.Path) field.ErrorList {
	size := ebs.VolumeSize
	// A short text such as 1e99999999 can denote a number whose digits would fill the memory, and comparing the quantity would write out
	// all digits.
	exact := size.DeepCopy()
	if exact.AsDec().Scale() < -maxVolumeExponent {
		return field.ErrorList{field.Invalid(path, size.String(), "is more than 64Ti, the largest volume there is")}
	}
	if size.Format == resource.DecimalExponent {
		return field.ErrorList{field.Invalid(path, size.String(), "has an exponent: write the size with a unit, as in 20Gi")}
	}
	if size.Cmp(*resource.NewQuantity(minVolumeBytes, resource.DecimalSI)) < 0 {
		return field.ErrorList{field.Invalid(path, size.String(), "is less than 1G: write the unit, as in 20Gi")}
	}
	if size.Cmp(*resource.NewQuantity(maxVolumeGiB*gibibyte, resource.BinarySI)) > 0 {
		return field.ErrorList{field.Invalid(path, size.String(), "is more than 64Ti, the largest volume there is")}
	}
	return nil
}

func validateNetwork(s *EC2NodeClassSpec, spec *field.Path) field.ErrorList {
	errs := notNegative(s.IPPrefixCount, spec.Child("ipPrefixCount"))
	errs = append(errs, validateNetworkInterfaces(s.NetworkInterfaces, spec.Child("networkInterfaces"))...)
	if public := s.AssociatePublicIPAddress; public != nil && *public && len(s.NetworkInterfaces) > 1 {
		errs = append(errs, field.Forbidden(spec.Child("associatePublicIPAddress"), "EC2 gives a public address only to an instance with a single interface: remove it, or all networkInterfaces but the first"))
	}
	return append(errs, validateConnectionTracking(s.ConnectionTracking, spec.Child("connectionTracking"))...)
}

func validateNetworkInterfaces(interfaces []NetworkInterface, path *field.Path) field.ErrorList {
	if len(interfaces) == 0 {
		return nil
	}
	type slot struct{ card, device int32 }
	errs := listLength(path, len(interfaces), maxNetworkInterfaces)
	taken := make(map[slot]int, len(interfaces))
	efaOnly := make(map[int32]int)
	primary := false
	for i := range interfaces {
		n, at := &interfaces[i], path.Index(i)
		errs = append(errs, notNegative(&n.NetworkCardIndex, at.Child("networkCardIndex"))...)
		errs = append(errs, notNegative(&n.DeviceIndex, at.Child("deviceIndex"))...)
		errs = append(errs, oneOf(&n.InterfaceType, at.Child("interfaceType"), InterfaceTypeInterface, InterfaceTypeEFAOnly)...)
		where := slot{n.NetworkCardIndex, n.DeviceIndex}
		if first, ok := taken[where]; ok {
			duplicate := field.Duplicate(at, fmt.Sprintf("card %d, device %d", where.card, where.device))
			duplicate.Detail = fmt.Sprintf("%s is in the same place: give it another deviceIndex", path.Index(first))
			errs = append(errs, duplicate)
		} else {
			taken[where] = i
		}
		if n.InterfaceType == InterfaceTypeEFAOnly {
			if first, ok := efaOnly[n.NetworkCardIndex]; ok {
				errs = append(errs, field.Forbidden(at.Child("interfaceType"), fmt.Sprintf("card %d already has the efa-only interface %s: a card takes one", n.NetworkCardIndex, path.Index(first))))
			} else {
				efaOnly[n.NetworkCardIndex] = i
			}
		}
		primary = primary || where == slot{} && n.InterfaceType == InterfaceTypeInterface
	}
	if !primary {
		errs = append(errs, field.Required(path, "an instance needs its primary interface: add networkCardIndex 0, deviceIndex 0, interfaceType interface"))
	}
	return errs
}

func validateConnectionTracking(c *ConnectionTracking, path *field.Path) field.ErrorList {
	if c == nil {
		return nil
	}
	if *c == (ConnectionTracking{}) {
		return field.ErrorList{field.Required(path, "sets nothing: give tcpEstablishedTimeout, udpStreamTimeout or udpTimeout, or remove it")}
	}
	errs := between(c.TCPEstablishedTimeout, path.Child("tcpEstablishedTimeout"), 60, 432000)
	errs = append(errs, between(c.UDPStreamTimeout, path.Child("udpStreamTimeout"), 60, 180)...)
	return append(errs, between(c.UDPTimeout, path.Child("udpTimeout"), 30, 60)...)
}

func validateMetadataOptions(o *MetadataOptions, path *field.Path) field.ErrorList {
	if o == nil {
		return nil
	}
	errs := oneOf(o.HTTPEndpoint, path.Child("httpEndpoint"), Enabled, Disabled)
	errs = append(errs, oneOf(o.HTTPProtocolIPv6, path.Child("httpProtocolIPv6"), Enabled, Disabled)...)
	errs = append(errs, between(o.HTTPPutResponseHopLimit, path.Child("httpPutResponseHopLimit"), 1, 64)...)
	return append(errs, oneOf(o.HTTPTokens, path.Child("httpTokens"), HTTPTokensRequired, HTTPTokensOptional)...)
}

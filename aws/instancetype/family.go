package instancetype

import (
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// family contains the differences between AMI families in capacity, overhead and labels.
type family struct {
	// eniLimitedPods means that the network interfaces limit the number of pods if maxPods is not set. If it is false and maxPods is not
	// set, the limit is 110 pods.
	eniLimitedPods bool
	// podsPerCore means that the family supports the kubelet setting of this name.
	podsPerCore bool
	// reservedFromENIs means that memory for Kubernetes' daemons is computed from the number of pods that the network interfaces allow,
	// whatever the pod limit is. If it is false, this memory is computed from the pod limit.
	reservedFromENIs bool
	// ephemeralDevice is the device with the kubelet's root; empty if unknown.
	ephemeralDevice string
	// ephemeralBytes is the size of the default volume of ephemeralDevice; 0 if the family has no default volume.
	ephemeralBytes int64
	// imageDevices are the volumes of the family's images; empty if unknown.
	imageDevices []string
	// windowsBuild is the value of the windows-build label; empty for Linux.
	windowsBuild string
}

const gibi = 1 << 30

// familyOf returns the properties of a family. Ubuntu and unknown names behave like AL2.
func familyOf(name awsv1.AMIFamily) family {
	f := family{
		eniLimitedPods:   true,
		podsPerCore:      true,
		reservedFromENIs: true,
		ephemeralDevice:  "/dev/xvda",
		ephemeralBytes:   20 * gibi,
		imageDevices:     []string{"/dev/xvda"},
	}
	switch name {
	case awsv1.AMIFamilyBottlerocket:
		f.podsPerCore, f.reservedFromENIs = false, false
		f.ephemeralDevice = "/dev/xvdb"
		f.imageDevices = []string{"/dev/xvda", "/dev/xvdb"}
	case awsv1.AMIFamilyCustom:
		f.ephemeralDevice, f.ephemeralBytes, f.imageDevices = "", 0, nil
	case awsv1.AMIFamilyWindows2019:
		return windows("10.0.17763")
	case awsv1.AMIFamilyWindows2022:
		return windows("10.0.20348")
	case awsv1.AMIFamilyWindows2025:
		return windows("10.0.26100")
	}
	return f
}

func windows(build string) family {
	return family{
		podsPerCore:     true,
		ephemeralDevice: "/dev/sda1",
		ephemeralBytes:  50 * gibi,
		imageDevices:    []string{"/dev/sda1"},
		windowsBuild:    build,
	}
}

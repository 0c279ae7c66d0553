package launchtemplate

import (
	"fmt"
	"math"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// volumes returns the volumes that the class lists, or else the default volumes of its AMI family. If neither lists any volume, it returns
// nil, because EC2 refuses empty lists.
func (p *plan) volumes() ([]ec2types.LaunchTemplateBlockDeviceMappingRequest, error) {
	mappings := p.NodeClass.Spec.BlockDeviceMappings
	if len(mappings) == 0 {
		mappings = awsv1.DefaultBlockDeviceMappings(p.family)
	}
	var volumes []ec2types.LaunchTemplateBlockDeviceMappingRequest
	for i, mapping := range mappings {
		if mapping.EBS == nil {
			return nil, p.failed(fmt.Errorf("spec.blockDeviceMappings[%d].ebs: describe the volume, at least by volumeSize or snapshotID", i))
		}
		ebs := mapping.EBS
		request := &ec2types.LaunchTemplateEbsBlockDeviceRequest{
			DeleteOnTermination:      ebs.DeleteOnTermination,
			Encrypted:                ebs.Encrypted,
			KmsKeyId:                 ebs.KMSKeyID,
			SnapshotId:               ebs.SnapshotID,
			VolumeInitializationRate: ebs.VolumeInitializationRate,
		}
		if ebs.VolumeType != nil {
			request.VolumeType = ec2types.VolumeType(*ebs.VolumeType)
		}
		for _, number := range []struct {
			name string
			from *int64
			to   **int32
		}{
			{"iops", ebs.IOPS, &request.Iops},
			{"throughput", ebs.Throughput, &request.Throughput},
			{"volumeSize", volumeSize(ebs), &request.VolumeSize},
		} {
			if number.from == nil || *number.from == 0 {
				continue
			}
			if *number.from < 0 || *number.from > math.MaxInt32 {
				return nil, p.failed(fmt.Errorf("spec.blockDeviceMappings[%d].ebs.%s: %d is not a number from 0 to 2147483647", i, number.name, *number.from))
			}
			value := int32(*number.from)
			*number.to = &value
		}
		volumes = append(volumes, ec2types.LaunchTemplateBlockDeviceMappingRequest{DeviceName: mapping.DeviceName, Ebs: request})
	}
	return volumes, nil
}

func volumeSize(ebs *awsv1.BlockDevice) *int64 {
	if ebs.VolumeSize == nil {
		return nil
	}
	size := ebs.VolumeSizeGiB()
	return &size
}

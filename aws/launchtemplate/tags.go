package launchtemplate

import (
	"maps"
	"slices"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// Tags returns the tags of everything that a launch creates: the cluster's tags, then the class's, then those that identify the owner.
// Later tags override earlier tags. nodePool is v1.PoolKey.String: launch templates have the same tags for all generations of pools, so
// that one rule finds and deletes them. The caller owns the map.
func Tags(cluster Cluster, class *awsv1.EC2NodeClass, nodePool string) map[string]string {
	if class == nil {
		return nil
	}
	tags := make(map[string]string, len(cluster.Tags)+len(class.Spec.Tags)+4)
	maps.Copy(tags, cluster.Tags)
	maps.Copy(tags, class.Spec.Tags)
	tags[awsv1.TagClusterPrefix+cluster.Name] = "owned"
	tags[awsv1.TagNodePool] = nodePool
	tags[awsv1.TagClusterName] = cluster.Name
	tags[awsv1.TagNodeClass] = class.Name
	return tags
}

// sortedTags converts tags for EC2, sorted by key.
func sortedTags(tags map[string]string) []ec2types.Tag {
	list := make([]ec2types.Tag, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		value := tags[key]
		list = append(list, ec2types.Tag{Key: &key, Value: &value})
	}
	return list
}

package migration

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/nodeclass"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
)

// checkDrift compares each NodeClaim and its instance with the pool and the class.
func (v *verifier) checkDrift(ctx context.Context) {
	pools := map[string]*v1.NodePool{}
	for _, pool := range v.NodePools {
		pools[pool.Name] = pool
	}
	launched, err := v.instances(ctx)
	if err != nil {
		v.report.skip(CheckDrift, "", "instances cannot be read: %v", err)
	}
	for _, claim := range v.NodeClaims {
		if claim.DeletionTimestamp == nil {
			v.checkClaim(claim, pools[claim.Labels[v1.NodePoolLabelKey]], launched)
		}
	}
}

// checkClaim adds a finding for everything that would make drawknife replace one node. A nil map launched means that instances could not be
// read.
func (v *verifier) checkClaim(claim *v1.NodeClaim, pool *v1.NodePool, launched map[string]instances.Instance) {
	object, class := claimObject(claim.Name), v.classes[claim.Spec.NodeClassRef.Name]
	const replaced = "drawknife replaces the node within the budgets of its pool; Karpenter would as well"
	if c := claim.Conditions().Get(v1.ConditionDrifted); c.Status == metav1.ConditionTrue {
		v.report.found(SeverityWarning, CheckDrift, object, "status.conditions[Drifted]", replaced, "Karpenter has found drift: %s", c.Reason)
	}
	switch {
	case pool == nil:
		v.report.found(SeverityError, CheckDrift, object, "metadata.labels["+v1.NodePoolLabelKey+"]", "restore the NodePool, or delete the NodeClaim before the move",
			"its NodePool %q does not exist", claim.Labels[v1.NodePoolLabelKey])
	case hashDiffers(claim, pool, v1.NodePoolHashAnnotationKey, v1.NodePoolHashVersionAnnotationKey):
		v.report.found(SeverityWarning, CheckDrift, object, "metadata.annotations["+v1.NodePoolHashAnnotationKey+"]", replaced, "the template of NodePool %q has changed since the launch", pool.Name)
	}
	if class == nil {
		v.report.found(SeverityError, CheckDrift, object, "spec.nodeClassRef", "restore the class, or delete the NodeClaim before the move", "its EC2NodeClass %q does not exist", claim.Spec.NodeClassRef.Name)
		return
	}
	if hashDiffers(claim, class, awsv1.AnnotationHash, awsv1.AnnotationHashVersion) {
		v.report.found(SeverityWarning, CheckDrift, object, "metadata.annotations["+awsv1.AnnotationHash+"]", replaced, "EC2NodeClass %q has changed since the launch", class.Name)
	}
	if launched != nil {
		v.checkInstance(claim, class, launched)
	}
}

// hashDiffers reports whether the hash on a claim differs from the hash on its NodePool or node class. It returns false if the versions of
// the two hashes differ, because such hashes can't be compared. After the migration, drawknife replaces Karpenter's hashes by its own
// before it compares hashes.
func hashDiffers(claim, owner metav1.Object, hash, version string) bool {
	have, want := claim.GetAnnotations(), owner.GetAnnotations()
	return have[hash] != "" && want[hash] != "" && have[version] == want[version] && have[hash] != want[hash]
}

// checkInstance compares a claim's instance with the status of its class.
func (v *verifier) checkInstance(claim *v1.NodeClaim, class *awsv1.EC2NodeClass, launched map[string]instances.Instance) {
	object := claimObject(claim.Name)
	if claim.Status.ProviderID == "" {
		return // not launched yet
	}
	id, err := instances.ParseProviderID(claim.Status.ProviderID)
	i, ok := launched[id]
	if err != nil || !ok || i.Terminating() {
		v.report.found(SeverityWarning, CheckDrift, object, "status.providerID", "drawknife deletes the NodeClaim; delete it before the move to see what happens to its pods", "its instance does not exist any more")
		return
	}
	if !i.Of(v.Cluster.Name) {
		v.report.found(SeverityError, CheckDrift, object, "status.providerID", "restore the tags "+awsv1.TagClusterPrefix+v.Cluster.Name+"=owned and "+awsv1.TagNodePool,
			"instance %s does not have the cluster's tags, so drawknife would not find it", id)
	}
	expected := nodeclass.Expected{NodeClass: class}
	if at := slices.IndexFunc(v.lists[class.Name], func(s instancetype.Shape) bool { return s.Type.Name == i.Type }); at >= 0 {
		if expected.ImageID, err = launchtemplate.ImageFor(class, &v.lists[class.Name][at].Type); err != nil {
			v.report.skip(CheckDrift, object, "its image cannot be compared: %v", err)
		}
	}
	// Placement groups are not read, so ignore differences of placement groups.
	for _, d := range nodeclass.Differences(nodeclass.Launched{Instance: i, Annotations: claim.Annotations}, expected) {
		if d.Field == "spec" {
			continue // differences of the class's hash were already reported
		}
		v.report.found(SeverityWarning, CheckDrift, object, d.Field, "drawknife replaces the node within the budgets of its pool", "instance %s differs from its class: %s", id, d)
	}
}

// instances reads the cluster's instances, by id. It asks EC2 for the instances of the NodeClaims.
func (v *verifier) instances(ctx context.Context) (map[string]instances.Instance, error) {
	ids := map[string]bool{}
	for _, claim := range v.NodeClaims {
		if id, err := instances.ParseProviderID(claim.Status.ProviderID); err == nil {
			ids[id] = true
		}
	}
	out := map[string]instances.Instance{}
	for chunk := range slices.Chunk(slices.Sorted(maps.Keys(ids)), 200) {
		name := "instance-id"
		input := &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{{Name: &name, Values: chunk}}}
		for {
			answer, err := v.api.EC2.DescribeInstances(ctx, input)
			if err != nil {
				return nil, sdk.Wrap("reading the instances of cluster "+v.Cluster.Name, err)
			}
			for _, r := range answer.Reservations {
				for i := range r.Instances {
					found := instances.FromEC2(&r.Instances[i])
					out[strings.TrimSpace(found.ID)] = found
				}
			}
			if answer.NextToken == nil || *answer.NextToken == "" {
				break
			}
			input.NextToken = answer.NextToken
		}
	}
	return out, nil
}

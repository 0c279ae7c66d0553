// Package warm decides which instances are stopped and kept for later NodeClaims, and which NodeClaims get them. A stopped instance starts
// in seconds, because its image is on its volume and the images of pods are in its cache.
//
//	size, err := warm.Size(class)          // how many the node class wants
//	mark := warm.MarkOf(claim, classHash)  // what the claim's instance is configured with
//	i, of, ok := warm.Choose(order, kept, warm.Wish{Mark: mark, …})
//
// All functions are pure.
package warm

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/cloudprovider"
)

const (
	// MaxSize is the largest number of instances that a node class may keep.
	MaxSize = 100
	// MaxAge is how long an instance is kept after its last start. The time is limited because image and software become outdated and the
	// volume costs money.
	MaxAge = 7 * 24 * time.Hour
	// MinAge is how old an instance must be before it is kept: EC2's answers may lack a younger instance.
	MinAge = 2 * launch.Visibility
	// MaxPremium is how much more a warm instance may cost than the cheapest offering with room, as a fraction of that offering's cost.
	MaxPremium = 0.10
)

// SizeError means that the annotation for the size of a node class's warm pool is invalid.
type SizeError struct {
	// NodeClass is its name.
	NodeClass string
	// Value of the annotation.
	Value string
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("node class %q: metadata.annotations[%s] is %q: give a number of instances from 0 to %d", e.NodeClass, awsv1.AnnotationWarmPool, e.Value, MaxSize)
}

// Size returns how many instances a node class keeps: 0 for nil, for a class without the annotation, and for one that is being deleted. The
// error is a *SizeError.
func Size(class *awsv1.EC2NodeClass) (int, error) {
	if class == nil || class.DeletionTimestamp != nil {
		return 0, nil
	}
	text, ok := class.Annotations[awsv1.AnnotationWarmPool]
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > MaxSize {
		return 0, &SizeError{NodeClass: class.Name, Value: text}
	}
	return n, nil
}

// MarkOf returns a text that identifies the configuration of a claim's instance: the hashes of its node class, of its NodePool's template
// and of the claim's own labels. Instances with equal marks are interchangeable. The mark is empty if a hash is missing, or if the claim
// requests other resources than CPU, memory, pods and ephemeral storage: the launch template depends on such resources.
func MarkOf(claim *v1.NodeClaim, classHash string, vocabulary requirements.Vocabulary) string {
	if claim == nil || classHash == "" {
		return ""
	}
	pool := claim.Annotations[v1.NodePoolHashAnnotationKey]
	if pool == "" || v1.PoolOf(claim.Labels).Generation == v1.GenerationV1Alpha5 {
		return ""
	}
	for name := range claim.Spec.Resources.Requests {
		if !slices.Contains([]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, corev1.ResourceEphemeralStorage}, name) {
			return ""
		}
	}
	own := map[string]string{}
	for key, value := range claim.Labels {
		if !vocabulary.IsWellKnown(key) && vocabulary.Restricted(key) == "" {
			own[key] = value
		}
	}
	h := fnv.New64a()
	for _, key := range slices.Sorted(maps.Keys(own)) {
		fmt.Fprintf(h, "%q=%q,", key, own[key])
	}
	return strings.Join([]string{classHash, claim.Annotations[v1.NodePoolHashVersionAnnotationKey] + "." + pool, strconv.FormatUint(h.Sum64(), 36)}, "/")
}

// ClassHash returns the hash of the node class in a mark.
func ClassHash(mark string) string {
	hash, _, _ := strings.Cut(mark, "/")
	return hash
}

// Refused says why the instance of a claim is not kept; empty if it may be kept. Only consolidation frees usable instances: other claims
// are removed because their instance has a fault or is old.
func Refused(claim *v1.NodeClaim, i instances.Instance, class *awsv1.EC2NodeClass, now time.Time) string {
	reason := ""
	if at := slices.IndexFunc(claim.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == v1.ConditionDisruptionReason && c.Status == metav1.ConditionTrue
	}); at >= 0 {
		reason = claim.Status.Conditions[at].Reason
	}
	family := class.Spec.EffectiveAMIFamily()
	switch {
	case reason != string(v1.DisruptionReasonEmpty) && reason != string(v1.DisruptionReasonUnderutilized):
		return "it was not consolidated"
	case i.State != instances.StateRunning:
		return "it is " + i.State
	case i.CapacityType != v1.CapacityTypeOnDemand:
		return "its capacity type is " + i.CapacityType
	case i.Tenancy != awsv1.TenancyDefault, i.OutpostID != "", i.PlacementGroupID != "":
		return "it is not on shared hardware of the region"
	case i.EFAs > 0:
		return "it has EFA interfaces"
	case i.Tags[launch.TagBatch] != "":
		return "it was launched in a batch"
	case now.Sub(i.LaunchTime) < MinAge:
		return "it was just launched"
	case now.Sub(i.LaunchTime) >= MaxAge:
		return "it is too old"
	case !current(i, class):
		return "it is not what its node class asks for"
	case option.Or(class.Spec.InstanceStorePolicy, "") != "":
		return "its local disks are set up at the first boot only"
	case family.IsWindows(), family == awsv1.AMIFamilyCustom:
		return "its AMI family is " + string(family)
	}
	return ""
}

// current reports whether image and subnet of an instance are among those of its class.
func current(i instances.Instance, class *awsv1.EC2NodeClass) bool {
	return slices.ContainsFunc(class.Status.AMIs, func(a awsv1.AMI) bool { return a.ID == i.ImageID }) &&
		slices.ContainsFunc(class.Status.Subnets, func(s awsv1.Subnet) bool { return s.ID == i.SubnetID })
}

// Wish contains the conditions that a claim sets for a warm instance.
type Wish struct {
	// Mark of the claim; empty matches nothing.
	Mark string
	// NodePool is the pool of the claim.
	NodePool v1.PoolKey
	// Class is the claim's node class.
	Class *awsv1.EC2NodeClass
	// Taken reports whether another launch of this process uses the instance. Nil means none.
	Taken func(id string) bool
	// Cost has the expected costs of offerings; nil means their prices.
	Cost cloudprovider.LaunchCost
}

// Choose returns the warm instance for a claim with its offering: the first in launch order that matches and costs at most MaxPremium more
// than the cheapest offering with room. It returns false if no instance matches.
func Choose(order []cloudprovider.Candidate, kept []instances.Instance, w Wish) (instances.Instance, cloudprovider.Candidate, bool) {
	cheapest := slices.IndexFunc(order, func(c cloudprovider.Candidate) bool { return c.Offering.HasRoom() })
	if cheapest < 0 || w.Mark == "" || w.Class == nil {
		return instances.Instance{}, cloudprovider.Candidate{}, false
	}
	limit := w.Cost.Of(order[cheapest])
	for _, c := range order {
		if c.Offering.HasRoom() {
			limit = min(limit, w.Cost.Of(c))
		}
	}
	for _, c := range order {
		// The records of package unavailable are not checked: starting a warm instance shows whether it has capacity.
		if c.Offering.CapacityType() != v1.CapacityTypeOnDemand || w.Cost.Of(c) > limit*(1+MaxPremium) {
			continue
		}
		for _, i := range kept {
			mark, _ := i.Mark()
			if mark == w.Mark && i.State == instances.StateStopped && i.Type == c.Type.Name && i.Zone == c.Offering.Zone() && i.NodePool() == w.NodePool &&
				i.NodeClass() == w.Class.Name && current(i, w.Class) && (w.Taken == nil || !w.Taken(i.ID)) {
				return i, c, true
			}
		}
	}
	return instances.Instance{}, cloudprovider.Candidate{}, false
}

// Duties are the actions to take on warm instances.
type Duties struct {
	// Stop are the running warm instances, whose stop was interrupted. Terminate are the instances that no claim can use any more. Both are
	// sorted by id.
	Stop, Terminate []instances.Instance
}

// Tend decides about all warm instances of the cluster. classOf returns a node class with its hash, or nil if the class does not exist. If
// the class can't be read, the third result of classOf is false, and the class's instances are not changed.
func Tend(kept []instances.Instance, classOf func(name string) (class *awsv1.EC2NodeClass, hash string, read bool), now time.Time) Duties {
	kept = slices.SortedFunc(slices.Values(kept), func(a, b instances.Instance) int {
		return cmp.Or(b.LaunchTime.Compare(a.LaunchTime), cmp.Compare(a.ID, b.ID)) // the newest instances come first, because they are kept
	})
	var d Duties
	count := map[string]int{}
	for _, i := range kept {
		class, hash, read := classOf(i.NodeClass())
		if !read {
			continue
		}
		size, err := Size(class)
		if err != nil {
			continue // the annotation is invalid, so instances that were kept for an earlier annotation stay
		}
		mark, _ := i.Mark()
		if count[i.NodeClass()] >= size || ClassHash(mark) != hash || !current(i, class) || now.Sub(i.LaunchTime) >= MaxAge {
			d.Terminate = append(d.Terminate, i)
			continue
		}
		count[i.NodeClass()]++
		if i.State == instances.StateRunning {
			d.Stop = append(d.Stop, i)
		}
	}
	byID := func(a, b instances.Instance) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(d.Stop, byID)
	slices.SortFunc(d.Terminate, byID)
	return d
}

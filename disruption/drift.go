package disruption

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// Reasons of the condition Drifted that drawknife finds without the provider.
const (
	// DriftNodePool: the claim was made from an earlier template of the pool.
	DriftNodePool cloudprovider.DriftReason = "NodePoolDrifted"
	// DriftRequirements: the claim's labels don't meet the pool's requirements.
	DriftRequirements cloudprovider.DriftReason = "RequirementsDrifted"
	// DriftInstanceType: the provider no longer has the instance type, or has no offering of it that matches the node.
	DriftInstanceType cloudprovider.DriftReason = "InstanceTypeNotFound"
)

// Times of drift checks.
const (
	// DriftEvery is the time between two checks of a claim.
	DriftEvery = 5 * time.Minute
	// goneFrom is the smallest age of a node whose instance type may be reported as missing: for younger nodes, the catalog may still be
	// incomplete.
	goneFrom = time.Hour
)

// DriftState is the observed state of a claim. MarkDrift does not change it.
type DriftState struct {
	// Claim is the claim to check, and Pool the pool that owns it. Pool is nil if the pool does not exist.
	Claim *v1.NodeClaim
	Pool  *v1.NodePool
	// InstanceTypes are all types of the pool, available or not. Nil means that the types are not known: then a missing type is not
	// noticed.
	InstanceTypes []*cloudprovider.InstanceType
	// Lookup is the provider's vocabulary, with aliases of labels. Nil means the common vocabulary.
	Lookup *requirements.Lookup
	// Provider is the answer of the provider's DriftDetector, or nil if it has not been asked.
	Provider *ProviderDrift
}

// ProviderDrift is the answer of a provider's DriftDetector.
type ProviderDrift struct {
	Reason cloudprovider.DriftReason
	Err    error
}

// DriftStep says what to do about a claim's drift.
type DriftStep struct {
	// Changed means that the claim's condition has changed and must be stored.
	Changed bool
	// Ask means that nothing else has drifted: ask the provider's DriftDetector and call MarkDrift again with its answer.
	Ask bool
	// Again is the time until the next check.
	Again time.Duration
}

// MarkDrift maintains the claim's condition Drifted. The first check that finds drift determines the reason; without drift the condition is
// removed. The condition's time is the time at which the claim became drifted, even if the reason changes later. claim is changed and must
// not be shared; s.Claim may be a different object for the same claim.
//
// If the provider can't answer, the condition stays as it is and MarkDrift returns the provider's error. If the node is gone, MarkDrift
// returns no error, because other code handles that.
func MarkDrift(claim *v1.NodeClaim, s DriftState, now time.Time) (DriftStep, error) {
	if s.Pool == nil || claim == nil || claim.DeletionTimestamp != nil {
		return DriftStep{}, nil
	}
	step := DriftStep{Again: DriftEvery}
	if _, launched := survey.TrueSince(claim, v1.ConditionLaunched); !launched {
		step.Changed = claim.Conditions().Clear(v1.ConditionDrifted, now)
		return step, nil
	}
	reason, err := ownDrift(s, now)
	if err != nil {
		return step, err
	}
	if reason == "" {
		switch {
		case s.Provider == nil:
			step.Ask = true
			return step, nil
		case cloudprovider.IsNodeClaimNotFound(s.Provider.Err):
			return step, nil
		case s.Provider.Err != nil:
			return step, fmt.Errorf("nodeclaim %s: asking the provider whether its instance has drifted: %w", claim.Name, s.Provider.Err)
		}
		reason = s.Provider.Reason
	}
	if reason == "" {
		step.Changed = claim.Conditions().Clear(v1.ConditionDrifted, now)
		return step, nil
	}
	step.Changed = claim.Conditions().Set(v1.ConditionDrifted, metav1.ConditionTrue, string(reason), string(reason), now)
	return step, nil
}

// ownDrift returns the first reason for drift that is found without the provider, or "".
func ownDrift(s DriftState, now time.Time) (cloudprovider.DriftReason, error) {
	if staticDrift(s.Claim, s.Pool) {
		return DriftNodePool, nil
	}
	lookup := s.Lookup
	if lookup == nil {
		lookup = requirements.CoreVocabulary().Compile()
	}
	met, err := meetsPool(s.Claim, s.Pool, lookup)
	switch {
	case err != nil:
		return "", err
	case !met:
		return DriftRequirements, nil
	case s.InstanceTypes != nil && now.Sub(s.Claim.CreationTimestamp.Time) >= goneFrom && typeGone(s.Claim, s.InstanceTypes):
		return DriftInstanceType, nil
	}
	return "", nil
}

// staticDrift reports whether the hashes of pool and claim differ, so that the claim was made from another template. It returns false if a
// hash is missing, or if the hashes have different versions.
func staticDrift(claim *v1.NodeClaim, pool *v1.NodePool) bool {
	const hash, version = v1.NodePoolHashAnnotationKey, v1.NodePoolHashVersionAnnotationKey
	for _, key := range []string{hash, version} {
		_, has := claim.Annotations[key]
		_, asked := pool.Annotations[key]
		if !has || !asked {
			return false
		}
	}
	return claim.Annotations[version] == pool.Annotations[version] && claim.Annotations[hash] != pool.Annotations[hash]
}

// meetsPool reports whether the claim's labels meet the pool's present requirements. It returns false if a required label is missing.
func meetsPool(claim *v1.NodeClaim, pool *v1.NodePool, lookup *requirements.Lookup) (bool, error) {
	want, err := lookup.ParseSet(pool.Spec.Template.Spec.Requirements)
	if err != nil {
		return false, fmt.Errorf("nodepool %s: spec.template.spec.requirements: %w", pool.Name, err)
	}
	return lookup.FromLabels(claim.Labels).Compatible(want, nil) == nil, nil
}

// typeGone reports whether the claim's instance type has no offering, available or not, that matches the claim. A reserved claim also
// matches an on-demand offering of its type, because its reservation may have ended. Labels of the reservation are not compared.
func typeGone(claim *v1.NodeClaim, types []*cloudprovider.InstanceType) bool {
	name := claim.Labels[corev1.LabelInstanceTypeStable]
	for _, t := range types {
		if t.Name != name {
			continue
		}
		for i := range t.Offerings {
			o := &t.Offerings[i]
			if sameOffering(claim, o) {
				return false
			}
		}
	}
	return true
}

func sameOffering(claim *v1.NodeClaim, o *cloudprovider.Offering) bool {
	reserved := claim.Labels[v1.CapacityTypeLabelKey] == v1.CapacityTypeReserved
	for r := range o.Requirements.All {
		value, labelled := claim.Labels[r.Key()]
		switch {
		case !labelled || r.Has(value):
		case !reserved:
			return false
		case r.Key() == v1.CapacityTypeLabelKey && o.CapacityType() != v1.CapacityTypeOnDemand:
			return false
		case r.Key() == corev1.LabelTopologyZone:
			return false
		}
	}
	return true
}

// HashStep contains the objects that must be stored so that hashes can be compared.
type HashStep struct {
	// Claims are changed copies, to be stored before the pool.
	Claims []*v1.NodeClaim
	// Pool is a changed copy, to be stored after all Claims. It is nil if the pool need not change.
	Pool *v1.NodePool
}

// UpdateHashes maintains the pool's drift hash. If the pool has a hash of another version, the pool's claims first get the new version.
// They also get the new hash unless they are drifted. So an upgrade alone neither causes nor ends drift. The arguments are not changed.
func UpdateHashes(pool *v1.NodePool, claims []*v1.NodeClaim) HashStep {
	if pool == nil {
		return HashStep{}
	}
	const hash, version = v1.NodePoolHashAnnotationKey, v1.NodePoolHashVersionAnnotationKey
	current := pool.Hash()
	var step HashStep
	if pool.Annotations[version] != v1.NodePoolHashVersion {
		for _, claim := range claims {
			if claim == nil || claim.Annotations[version] == v1.NodePoolHashVersion {
				continue
			}
			changed := claim.DeepCopy()
			annotate(&changed.Annotations, version, v1.NodePoolHashVersion)
			if !changed.Conditions().Has(v1.ConditionDrifted) {
				annotate(&changed.Annotations, hash, current)
			}
			step.Claims = append(step.Claims, changed)
		}
	}
	if pool.Annotations[version] != v1.NodePoolHashVersion || pool.Annotations[hash] != current {
		step.Pool = pool.DeepCopy()
		annotate(&step.Pool.Annotations, version, v1.NodePoolHashVersion)
		annotate(&step.Pool.Annotations, hash, current)
	}
	return step
}

func annotate(annotations *map[string]string, key, value string) {
	if *annotations == nil {
		*annotations = map[string]string{}
	}
	(*annotations)[key] = value
}

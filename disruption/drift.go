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

// Reasons of the condition Drifted that no provider gives.
const (
	// DriftNodePool: the claim was made from another template than the pool's present one.
	DriftNodePool cloudprovider.DriftReason = "NodePoolDrifted"
	// DriftRequirements: the claim's labels don't meet the pool's requirements.
	DriftRequirements cloudprovider.DriftReason = "RequirementsDrifted"
	// DriftInstanceType: the provider no longer has the instance type, or no offering of it like the node's.
	DriftInstanceType cloudprovider.DriftReason = "InstanceTypeNotFound"
)

// Times of drift checks.
const (
	// DriftEvery is how often to check claims.
	DriftEvery = 5 * time.Minute
	// goneFrom is the age from which an instance type may be reported missing: for younger nodes the catalog may still be incomplete.
	goneFrom = time.Hour
)

// DriftState is the observed state of a claim. Nothing in it is changed.
type DriftState struct {
	// Claim and the pool that owns it. Pool is nil if the pool does not exist.
	Claim *v1.NodeClaim
	Pool  *v1.NodePool
	// InstanceTypes are all types of the pool, available or not. Nil if unknown: then a missing type is not noticed.
	InstanceTypes []*cloudprovider.InstanceType
	// Lookup is the provider's vocabulary, with aliases of labels. Nil means the common vocabulary.
	Lookup *requirements.Lookup
	// Provider is the answer of its DriftDetector, or nil while the provider has not been asked.
	Provider *ProviderDrift
}

// ProviderDrift is the answer of a provider's DriftDetector.
type ProviderDrift struct {
	Reason cloudprovider.DriftReason
	Err    error
}

// DriftStep is what to do about a claim's drift.
type DriftStep struct {
	// Changed means that the claim's condition has changed and must be stored.
	Changed bool
	// Ask means: ask the provider's DriftDetector and call again with its answer, because nothing else has drifted.
	Ask bool
	// Again is when to check again.
	Again time.Duration
}

// MarkDrift maintains the claim's condition Drifted: the first check that finds drift gives the reason, and without drift the condition is
// removed. The condition's time is when the claim became drifted, even if the reason changes later. claim is changed and must not be
// shared; s.Claim may be another object.
//
// If the provider cannot answer, the condition stays as it is and its error is returned; that the node is gone is no error, because others
// handle that.
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
			return step, fmt.Errorf("nodeclaim %s: asking the provider for drift: %w", claim.Name, s.Provider.Err)
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

// ownDrift checks what can be seen without the provider.
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

// staticDrift compares the hashes of pool and claim. Hashes of different versions, and missing ones, are not compared.
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

// meetsPool reports whether the claim's labels meet the pool's present requirements. A required label that is missing does not.
func meetsPool(claim *v1.NodeClaim, pool *v1.NodePool, lookup *requirements.Lookup) (bool, error) {
	want, err := lookup.ParseSet(pool.Spec.Template.Spec.Requirements)
	if err != nil {
		return false, fmt.Errorf("nodepool %s: spec.template.spec.requirements: %w", pool.Name, err)
	}
	return lookup.FromLabels(claim.Labels).Compatible(want, nil) == nil, nil
}

// typeGone reports whether none of the listed types, available or not, could be the claim's node. A reserved node may have become
// on-demand since, and its reservation does not matter.
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

// HashStep contains the objects to store so that hashes can be compared.
type HashStep struct {
	// Claims are changed copies, to be stored before the pool.
	Claims []*v1.NodeClaim
	// Pool is a changed copy, to be stored after all Claims; nil if it need not change.
	Pool *v1.NodePool
}

// UpdateHashes maintains the pool's drift hash. If the version of the hash differs from the pool's, the pool's claims first get the new
// version, and the new hash unless they are drifted. So an upgrade alone causes no drift and ends no drift. The arguments are not changed.
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

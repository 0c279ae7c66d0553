package disruption

import (
	v1 "github.com/drawknife/drawknife/api/v1"
)

// HashStep is what is to be stored so that hashes can be compared.
type HashStep struct {
	// Claims are changed copies, to be stored before the pool.
	Claims []*v1.NodeClaim
	// Pool is a changed copy, to be stored when all Claims are; nil when it is right as it is.
	Pool *v1.NodePool
}

// UpdateHashes keeps the pool's drift hash. When hashes are made in another way than those that the pool bears, the claims
// of the pool get the new version first; its hash too, unless they are drifted, so that an upgrade drifts nothing by itself
// and ends no drift. Nothing handed in is changed.
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

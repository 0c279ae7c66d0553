package disruption

import (
	v1 "github.com/drawknife/drawknife/api/v1"
)

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

package v1

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/internal/drifthash"
)

// HashVersion is the version of Hash: what AnnotationHashVersion holds. It bears a name of its own because the numbers
// differ from those of other implementations: a claim with another version is not compared but brought up to date.
const HashVersion = "drawknife-v1"

// Hash is the static drift hash: a claim that bears another one of the same version was launched with settings that
// have changed since, and drifts. It is a decimal number and the same in every process.
//
// It covers the spec as it is written in JSON, defaults filled in, but for the selectors of subnets, security groups,
// images and capacity reservations (what they select is compared instead) and for ipPrefixCount; the family counts as
// it is in effect. An empty list is the same as none. clusterCA is the cluster's certificate bundle as it is rendered into user data: rotating it is drift.
// The order of lists does not matter; an optional member set to its zero value is not the same as one left out.
func (c *EC2NodeClass) Hash(clusterCA string) string {
	effective := &EC2NodeClass{Spec: *c.Spec.DeepCopy()}
	effective.Default()
	text, err := json.Marshal(effective.Spec)
	if err != nil {
		// Only a kubelet key with broken JSON, which decoding never lets in. No hash is no drift.
		return ""
	}
	var spec map[string]any
	if err := json.Unmarshal(text, &spec); err != nil {
		return ""
	}
	for _, unhashed := range []string{
		"subnetSelectorTerms", "securityGroupSelectorTerms", "amiSelectorTerms", "capacityReservationSelectorTerms",
		"ipPrefixCount", "amiFamily", "kubelet",
	} {
		delete(spec, unhashed)
	}
	for key, value := range spec {
		if list, ok := value.([]any); ok && len(list) == 0 {
			delete(spec, key)
			continue
		}
		spec[key] = sortLists(value)
	}
	return drifthash.Of(map[string]any{
		"spec":      spec,
		"amiFamily": string(c.Spec.EffectiveAMIFamily()),
		"clusterCA": clusterCA,
		"kubelet":   kubeletText(c.Spec.Kubelet),
	})
}

// kubeletText is the block as JSON sorted by key; an empty block is the same as none.
func kubeletText(k *KubeletConfiguration) string {
	if k == nil {
		return ""
	}
	text, err := json.Marshal(k)
	if err != nil || string(text) == "{}" {
		return ""
	}
	// Through a map, which is written sorted at every depth.
	var sorted map[string]any
	if err := json.Unmarshal(text, &sorted); err != nil {
		return ""
	}
	text, err = json.Marshal(sorted)
	if err != nil {
		return ""
	}
	return string(text)
}

// sortLists turns each list of a JSON value into the sorted texts of its elements. Hashing a list as a set would let two
// equal elements cancel each other out.
func sortLists(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = sortLists(inner)
		}
	case []any:
		texts := make([]string, 0, len(v))
		for _, inner := range v {
			text, err := json.Marshal(sortLists(inner))
			if err != nil {
				// Unreachable: what was decoded from JSON can be encoded again.
				continue
			}
			texts = append(texts, string(text))
		}
		slices.Sort(texts)
		return strings.Join(texts, "\n")
	}
	return value
}

package v1

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/internal/drifthash"
)

// HashVersion is the version of Hash: the value of AnnotationHashVersion. The value differs from that of other implementations, because
// their hashes differ. If a claim has another version, its hash is not compared: it gets the current hash.
const HashVersion = "drawknife-v1"

// Hash is the static drift hash: a claim with another hash of the same version was launched before the settings changed, and has
// drifted. It is a decimal number and the same in every process.
//
// The hash covers the spec in JSON with defaults, except for ipPrefixCount and the selectors of subnets, security groups, images and
// capacity reservations (the selected resources are compared instead). Of amiFamily, it covers the effective value (see
// EffectiveAMIFamily). An empty list is the same as a missing list. clusterCA is the cluster's certificate bundle in user data: rotating it
// causes drift. The order of lists does not matter; an optional member with its zero value differs from a missing member.
func (c *EC2NodeClass) Hash(clusterCA string) string {
	effective := &EC2NodeClass{Spec: *c.Spec.DeepCopy()}
	effective.Default()
	text, err := json.Marshal(effective.Spec)
	if err != nil {
		// Encoding fails only if the value of a kubelet key is broken JSON, which decoding refuses. Without a hash, no drift is detected by
		// comparing hashes.
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

// kubeletText is the block as JSON sorted by key; an empty block is the same as a missing block.
func kubeletText(k *KubeletConfiguration) string {
	if k == nil {
		return ""
	}
	text, err := json.Marshal(k)
	if err != nil || string(text) == "{}" {
		return ""
	}
	// Decode into a map, because encoding/json sorts the keys of maps at every depth.
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

// sortLists replaces each list in a JSON value, at any depth, by the sorted JSON texts of its elements. Hashing a list as a set would let
// two equal elements cancel each other out.
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
				// Unreachable: a value that was decoded from JSON can be encoded again.
				continue
			}
			texts = append(texts, string(text))
		}
		slices.Sort(texts)
		return strings.Join(texts, "\n")
	}
	return value
}

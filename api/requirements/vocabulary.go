package requirements

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Vocabulary is what a library user or cloud provider declares about label keys. It is plain data and part of a Snapshot. There are no
// package variables about labels. The zero value knows no keys.
//
// Its methods search the lists. Code that calls them often should use a [Lookup] (see [Vocabulary.Compile]).
type Vocabulary struct {
	// WellKnown are label keys for which instance types state values, so that a NodePool need not state them.
	WellKnown []string `json:"wellKnown,omitempty"`
	// RestrictedDomains are domains (with their sub-domains) whose keys users may not set, unless the key is
	// well-known. The domain of a key is the part before its first slash; a key without a slash has no domain.
	RestrictedDomains []string `json:"restrictedDomains,omitempty"`
	// RestrictedKeys are single keys that users may not set, well-known or not.
	RestrictedKeys []string `json:"restrictedKeys,omitempty"`
	// Aliases maps a deprecated or foreign key to its canonical one. The canonical key is not itself an alias.
	Aliases map[string]string `json:"aliases,omitempty"`
	// ValueAliases maps, for each canonical key, alias values to canonical values.
	ValueAliases map[string]map[string]string `json:"valueAliases,omitempty"`
}

// provisionerNameLabelKey names the pool of v1alpha5 nodes.
const provisionerNameLabelKey = "karpenter.sh/provisioner-name"

// CoreVocabulary returns the label keys for every cloud provider: those of the node autoscaling API itself, and those that Kubernetes
// defines. A provider adds its keys with [Vocabulary.Merge].
func CoreVocabulary() Vocabulary {
	return Vocabulary{
		WellKnown: []string{
			v1.NodePoolLabelKey,
			v1.CapacityTypeLabelKey,
			corev1.LabelTopologyZone,
			corev1.LabelTopologyRegion,
			corev1.LabelInstanceTypeStable,
			corev1.LabelWindowsBuild,
			corev1.LabelArchStable,
			corev1.LabelOSStable,
		},
		RestrictedDomains: []string{v1.Group},
		RestrictedKeys:    []string{corev1.LabelHostname},
		Aliases: map[string]string{
			corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
			corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
			"beta.kubernetes.io/arch":           corev1.LabelArchStable,
			"beta.kubernetes.io/os":             corev1.LabelOSStable,
			corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
		},
	}
}

// Merge returns the union of both vocabularies, with sorted lists. If both have an alias for a key or value, the alias of o is used.
// Neither argument is changed.
func (v Vocabulary) Merge(o Vocabulary) Vocabulary {
	values := make(map[string]map[string]string, len(v.ValueAliases)+len(o.ValueAliases))
	for _, byKey := range []map[string]map[string]string{v.ValueAliases, o.ValueAliases} {
		for key, aliases := range byKey {
			values[key] = mergeMaps(values[key], aliases)
		}
	}
	if len(values) == 0 {
		values = nil
	}
	return Vocabulary{
		WellKnown:         sortedSet(slices.Concat(v.WellKnown, o.WellKnown)),
		RestrictedDomains: sortedSet(slices.Concat(v.RestrictedDomains, o.RestrictedDomains)),
		RestrictedKeys:    sortedSet(slices.Concat(v.RestrictedKeys, o.RestrictedKeys)),
		Aliases:           mergeMaps(v.Aliases, o.Aliases),
		ValueAliases:      values,
	}
}

// IsZero reports whether the vocabulary is empty.
func (v Vocabulary) IsZero() bool {
	return len(v.WellKnown)+len(v.RestrictedDomains)+len(v.RestrictedKeys)+len(v.Aliases)+len(v.ValueAliases) == 0
}

// Canonical returns the key that the given key means: the key itself, unless it is an alias.
func (v Vocabulary) Canonical(key string) string {
	if canonical, ok := v.Aliases[key]; ok {
		return canonical
	}
	return key
}

// CanonicalValue returns the canonical value of a key's value. The key may be an alias.
func (v Vocabulary) CanonicalValue(key, value string) string {
	if canonical, ok := v.ValueAliases[v.Canonical(key)][value]; ok {
		return canonical
	}
	return value
}

// IsWellKnown reports whether instance types state values for the key. An alias counts as its canonical key.
func (v Vocabulary) IsWellKnown(key string) bool {
	return slices.Contains(v.WellKnown, v.Canonical(key))
}

// Restricted returns why users may not set the key, or "" if they may. An alias counts as its canonical key.
func (v Vocabulary) Restricted(key string) string {
	key = v.Canonical(key)
	if slices.Contains(v.RestrictedKeys, key) {
		return restrictedKey(key)
	}
	if domain := restrictingDomain(v.RestrictedDomains, key); domain != "" && !v.IsWellKnown(key) {
		return restrictedByDomain(key, domain)
	}
	return ""
}

func restrictedKey(key string) string {
	return fmt.Sprintf("label key %q is restricted: it is set on each node for it alone; choose another key", key)
}

func restrictedByDomain(key, domain string) string {
	return fmt.Sprintf("label key %q is restricted: domain %q is reserved and the key is not a well-known one; choose a key of another domain", key, domain)
}

// restrictingDomain returns the restricted domain that is the key's domain or a parent of it, or "" if none is.
func restrictingDomain(domains []string, key string) string {
	slash := strings.IndexByte(key, '/')
	if slash < 0 {
		return ""
	}
	domain := key[:slash]
	for _, restricted := range domains {
		if rest, ok := strings.CutSuffix(domain, restricted); ok && (rest == "" || strings.HasSuffix(rest, ".")) {
			return restricted
		}
	}
	return ""
}

func mergeMaps(a, b map[string]string) map[string]string {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := make(map[string]string, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

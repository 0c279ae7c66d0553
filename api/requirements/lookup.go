package requirements

import "slices"

// Lookup is an indexed [Vocabulary]. It is immutable and safe for concurrent use. Later changes of its vocabulary have no effect on it. A
// nil *Lookup knows no keys.
type Lookup struct {
	wellKnown      map[string]struct{}
	restrictedKeys map[string]struct{}
	domains        []string
	aliases        map[string]string
	valueAliases   map[string]map[string]string
	sorted         []string // the well-known keys
}

// Compile makes a Lookup of the vocabulary.
func (v Vocabulary) Compile() *Lookup {
	own := v.Merge(Vocabulary{})
	return &Lookup{
		wellKnown:      index(own.WellKnown),
		restrictedKeys: index(own.RestrictedKeys),
		domains:        own.RestrictedDomains,
		aliases:        own.Aliases,
		valueAliases:   own.ValueAliases,
		sorted:         own.WellKnown,
	}
}

// Canonical returns the key that the given key means: the key itself, unless it is an alias.
func (l *Lookup) Canonical(key string) string {
	if l != nil {
		if canonical, ok := l.aliases[key]; ok {
			return canonical
		}
	}
	return key
}

// CanonicalValue returns the canonical value of a key's value. The key may be an alias.
func (l *Lookup) CanonicalValue(key, value string) string {
	if l != nil {
		if canonical, ok := l.valueAliases[l.Canonical(key)][value]; ok {
			return canonical
		}
	}
	return value
}

// IsWellKnown reports whether instance types state values for the key. An alias counts as its canonical key.
func (l *Lookup) IsWellKnown(key string) bool {
	if l == nil {
		return false
	}
	_, ok := l.wellKnown[l.Canonical(key)]
	return ok
}

// Restricted returns why users may not set the key, or "" if they may. An alias counts as its canonical key.
func (l *Lookup) Restricted(key string) string {
	if l == nil {
		return ""
	}
	key = l.Canonical(key)
	if _, ok := l.restrictedKeys[key]; ok {
		return restrictedKey(key)
	}
	// Pods may require or exclude the key of the Provisioner's name; refuseNodePoolKey refuses it in pools.
	if key == provisionerNameLabelKey {
		return ""
	}
	if domain := restrictingDomain(l.domains, key); domain != "" && !l.IsWellKnown(key) {
		return restrictedByDomain(key, domain)
	}
	return ""
}

// Rewrite returns r with canonical names in place of an alias key and alias values.
func (l *Lookup) Rewrite(r Requirement) Requirement {
	if l == nil {
		return r
	}
	r.key = l.Canonical(r.key)
	aliases := l.valueAliases[r.key]
	for i, v := range r.values {
		if _, ok := aliases[v]; !ok {
			continue
		}
		values := slices.Clone(r.values)
		for j, v := range values[i:] {
			if canonical, ok := aliases[v]; ok {
				values[i+j] = canonical
			}
		}
		r.values = r.bounds.filter(sortedSet(values))
		break
	}
	return r
}

// RewriteSet rewrites every requirement of s, and intersects requirements that then have the same key.
func (l *Lookup) RewriteSet(s Set) Set {
	for i, r := range s.reqs {
		if l.Rewrite(r).Equal(r) {
			continue
		}
		reqs := slices.Clone(s.reqs)
		for j := i; j < len(reqs); j++ {
			reqs[j] = l.Rewrite(reqs[j])
		}
		return NewSet(reqs...)
	}
	return s
}

// Compatible is [Set.Compatible] for a node that does not exist yet: well-known keys may be undefined, because an instance type will
// state them. Spelling hints also consider well-known keys.
func (l *Lookup) Compatible(have, want Set) error {
	if e := have.incompatible(want, l.IsWellKnown); e != nil {
		e.lookup = l
		return e
	}
	return nil
}

func (l *Lookup) wellKnownKeys() []string {
	if l == nil {
		return nil
	}
	return l.sorted
}

func index(keys []string) map[string]struct{} {
	out := make(map[string]struct{}, len(keys))
	for _, k := range keys {
		out[k] = struct{}{}
	}
	return out
}

package requirements

import "slices"

// Lookup is a [Vocabulary] made ready for many questions. It is immutable and safe for concurrent use; later changes
// to the vocabulary it was made of don't reach it. A nil *Lookup knows no key at all.
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

// Canonical is the key that key stands for: itself, unless it is an alias.
func (l *Lookup) Canonical(key string) string {
	if l != nil {
		if canonical, ok := l.aliases[key]; ok {
			return canonical
		}
	}
	return key
}

// CanonicalValue is the value that value stands for under key, which may itself be an alias.
func (l *Lookup) CanonicalValue(key, value string) string {
	if l != nil {
		if canonical, ok := l.valueAliases[l.Canonical(key)][value]; ok {
			return canonical
		}
	}
	return value
}

// IsWellKnown reports whether instance types state values for key or the key it is an alias of.
func (l *Lookup) IsWellKnown(key string) bool {
	if l == nil {
		return false
	}
	_, ok := l.wellKnown[l.Canonical(key)]
	return ok
}

// Restricted is why users may not set key or the key it is an alias of; empty when they may.
func (l *Lookup) Restricted(key string) string {
	if l == nil {
		return ""
	}
	key = l.Canonical(key)
	if _, ok := l.restrictedKeys[key]; ok {
		return restrictedKey(key)
	}
	// Pods ask for it by name, or that it be absent, and pools are refused it on grounds of their own.
	if key == provisionerNameLabelKey {
		return ""
	}
	if domain := restrictingDomain(l.domains, key); domain != "" && !l.IsWellKnown(key) {
		return restrictedByDomain(key, domain)
	}
	return ""
}

// Rewrite is r with an alias key, and values that stand for others, replaced by the canonical ones.
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

// RewriteSet rewrites every requirement of s and intersects those that come to share a key.
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

// Compatible is [Set.Compatible] for a node that is not made yet: well-known keys may be undefined, since an instance
// type will state them. Spelling hints look among the well-known keys too.
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

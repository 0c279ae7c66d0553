package conformance

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func describeClauses() []clause {
	return []clause{
		{"CP-DESCRIBE-01", Core, "Describe always gives the same answer, without the cloud", (*lab).describeIsConstant},
		{"CP-DESCRIBE-02", Core, "the declaration is valid", (*lab).describeIsValid},
		{"CP-DESCRIBE-03", Core, "other names of well-known labels are declared", (*lab).describeAliases},
		{"CP-DESCRIBE-04", Core, "values known beforehand are listed", (*lab).describeValues},
		{"CP-DESCRIBE-05", Core, "providers in one process share nothing", (*lab).describeAlone},
		{"CP-DESCRIBE-06", Core, "the name is constant, not empty and in lower case", (*lab).describeName},
	}
}

func (l *lab) describeIsConstant() {
	first := l.Provider.Describe().DeepCopy()
	l.types()
	l.create(l.claim())
	if l.Inject != nil {
		if heal, err := l.Inject(Fault{Method: MethodList, Kind: cloudprovider.Transient}); err == nil {
			defer heal()
		}
	}
	for range 3 {
		if again := l.Provider.Describe(); !reflect.DeepEqual(first, again.DeepCopy()) {
			l.Fatalf("Describe has changed\nfrom %+v\nto   %+v", first, again)
		}
	}
}

func (l *lab) describeIsValid() {
	if err := l.caps.Validate(); err != nil {
		l.Error(err)
	}
}

// csiZoneLabels are zone labels that Kubernetes no longer uses, but that volumes may still have.
func csiZoneLabels() []string { return []string{corev1.LabelFailureDomainBetaZone} }

func (l *lab) describeAliases() {
	for _, key := range slices.Concat(csiZoneLabels(), l.VolumeTopologyKeys) {
		if canonical := l.caps.Vocabulary.Canonical(key); canonical != corev1.LabelTopologyZone {
			l.Errorf("volumes bear label %q, which is not declared an alias of %s: add it to vocabulary.aliases", key, corev1.LabelTopologyZone)
		}
	}
	for _, alias := range sortedKeys(l.caps.Vocabulary.Aliases) {
		canonical := l.caps.Vocabulary.Aliases[alias]
		if strings.Contains(alias, "zone") && !slices.Contains(l.caps.Vocabulary.WellKnown, canonical) {
			l.Errorf("label %q is an alias of %q, which is not well-known", alias, canonical)
		}
	}
}

func (l *lab) describeValues() {
	for _, key := range []string{v1.CapacityTypeLabelKey, corev1.LabelArchStable, corev1.LabelOSStable} {
		if len(l.caps.LabelValues[key]) == 0 {
			l.Errorf("the values of %q are known beforehand: list them in labelValues", key)
		}
	}
}

func (l *lab) describeAlone() {
	first := l.Provider
	closed := l.closeOne()
	before := first.Describe().DeepCopy()
	l.renew()
	if l.Provider == first {
		l.Skip("the factory gives the same provider each time")
	}
	if !reflect.DeepEqual(before, first.Describe().DeepCopy()) {
		l.Error("making a second provider changes the description of the first")
	}
	for _, t := range l.types() {
		for i := range t.Offerings {
			if key := cloudprovider.KeyOf(t, &t.Offerings[i]); key == closed && !t.Offerings[i].Available {
				l.Errorf("offering %s was found out of stock by another provider, on another cloud, and is closed in this one", key)
			}
		}
	}
}

// closeOne makes the provider find one offering out of stock, if the cloud has the hook SellOut.
func (l *lab) closeOne() cloudprovider.OfferingKey {
	if l.SellOut == nil {
		return cloudprovider.OfferingKey{}
	}
	candidate := l.withRoom(1)[0]
	restock := l.SellOut(only(candidate.Key()))
	defer restock()
	l.tryCreate(l.ofOffering(candidate))
	return candidate.Key()
}

func only(keys ...cloudprovider.OfferingKey) func(cloudprovider.OfferingKey) bool {
	return func(k cloudprovider.OfferingKey) bool { return slices.Contains(keys, k) }
}

func (l *lab) describeName() {
	name := l.Provider.Name()
	if name == "" || name != strings.ToLower(name) || strings.ContainsAny(name, " \t\n") {
		l.Errorf("the name is %q: it must be one word in lower case", name)
	}
	l.create(l.claim())
	if again := l.Provider.Name(); again != name {
		l.Errorf("the name was %q and is %q now", name, again)
	}
}

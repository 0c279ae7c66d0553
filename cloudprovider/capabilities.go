package cloudprovider

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// DefaultLaunchTimeout is how long a NodeClaim may stay without an instance if the provider sets no LaunchTimeout.
const DefaultLaunchTimeout = 5 * time.Minute

// Capabilities declare the properties of a provider as plain data. Neither callers nor the provider may change them.
type Capabilities struct {
	// NodeClasses are the kinds of node class that the provider launches instances from; the first is the default. At least one.
	NodeClasses []metav1.GroupKind `json:"nodeClasses"`
	// Vocabulary has all label keys of the provider: requirements.CoreVocabulary() merged with its own.
	Vocabulary requirements.Vocabulary `json:"vocabulary"`
	// LabelValues lists all values that instance types may state, for well-known keys whose values are known beforehand, such as zones,
	// capacity types and architectures. A key that is not listed may have any value.
	LabelValues map[string][]string `json:"labelValues,omitempty"`
	// ReservationIDLabel is the label key that identifies a reservation; empty if the provider has none.
	ReservationIDLabel string `json:"reservationIDLabel,omitempty"`
	// ReservationLabels are all label keys that only instances from a reservation have, including ReservationIDLabel.
	ReservationLabels []string `json:"reservationLabels,omitempty"`
	// HardwareLabels has well-known label keys whose values stand for different kinds of hardware, for example
	// {"karpenter.k8s.aws/instance-tenancy": "default"}. The map's value is the label value of ordinary instances, or empty if they lack
	// the label. Only offerings on other hardware state the key. A stock-out of one kind does not affect other kinds. Nil means that all
	// hardware is of one kind.
	HardwareLabels map[string]string `json:"hardwareLabels,omitempty"`
	// UnsupportedVolumeTopologyKeys are label keys of a StorageClass's allowed topologies that no instance of the provider can meet: a pod
	// with such a volume can't be scheduled, and its reason names the key.
	UnsupportedVolumeTopologyKeys []string `json:"unsupportedVolumeTopologyKeys,omitempty"`
	// UnsupportedVolumeDrivers are CSI drivers whose volumes no instance of the provider can attach.
	UnsupportedVolumeDrivers []string `json:"unsupportedVolumeDrivers,omitempty"`
	// LaunchTimeout is how long a NodeClaim may stay without an instance before it is deleted; zero means DefaultLaunchTimeout.
	LaunchTimeout metav1.Duration `json:"launchTimeout,omitzero"`
	// TerminationGracePeriod is the default for NodeClaims whose NodePool sets none; nil for no default.
	TerminationGracePeriod *metav1.Duration `json:"terminationGracePeriod,omitempty"`
	// ConsistencyWindow is how long List may be out of date (CP-LIST-02); zero means never.
	ConsistencyWindow metav1.Duration `json:"consistencyWindow,omitzero"`
}

// DefaultNodeClass is the kind of node class of a NodePool that names none. It is the zero value if the provider declares no kinds.
func (c Capabilities) DefaultNodeClass() metav1.GroupKind {
	if len(c.NodeClasses) == 0 {
		return metav1.GroupKind{}
	}
	return c.NodeClasses[0]
}

// SupportsNodeClass reports whether the provider launches instances from the kind that ref names.
func (c Capabilities) SupportsNodeClass(ref v1.NodeClassReference) bool {
	return slices.Contains(c.NodeClasses, metav1.GroupKind{Group: ref.Group, Kind: ref.Kind})
}

// LaunchTimeoutOrDefault returns LaunchTimeout, or DefaultLaunchTimeout if LaunchTimeout is zero.
func (c Capabilities) LaunchTimeoutOrDefault() time.Duration {
	if c.LaunchTimeout.Duration == 0 {
		return DefaultLaunchTimeout
	}
	return c.LaunchTimeout.Duration
}

// DeepCopy returns a copy that shares nothing with c.
func (c Capabilities) DeepCopy() Capabilities {
	c.NodeClasses = slices.Clone(c.NodeClasses)
	c.Vocabulary = requirements.Vocabulary{
		WellKnown:         slices.Clone(c.Vocabulary.WellKnown),
		RestrictedDomains: slices.Clone(c.Vocabulary.RestrictedDomains),
		RestrictedKeys:    slices.Clone(c.Vocabulary.RestrictedKeys),
		Aliases:           maps.Clone(c.Vocabulary.Aliases),
		ValueAliases:      maps.Clone(c.Vocabulary.ValueAliases),
	}
	for key, aliases := range c.Vocabulary.ValueAliases {
		c.Vocabulary.ValueAliases[key] = maps.Clone(aliases)
	}
	c.LabelValues = maps.Clone(c.LabelValues)
	for key, values := range c.LabelValues {
		c.LabelValues[key] = slices.Clone(values)
	}
	c.ReservationLabels = slices.Clone(c.ReservationLabels)
	c.HardwareLabels = maps.Clone(c.HardwareLabels)
	c.UnsupportedVolumeTopologyKeys = slices.Clone(c.UnsupportedVolumeTopologyKeys)
	c.UnsupportedVolumeDrivers = slices.Clone(c.UnsupportedVolumeDrivers)
	if c.TerminationGracePeriod != nil {
		grace := *c.TerminationGracePeriod
		c.TerminationGracePeriod = &grace
	}
	return c
}

// Validate checks the capabilities (CP-DESCRIBE). The error joins one *field.Error for each fault, in a fixed order. It returns nil if
// there are no faults.
func (c Capabilities) Validate() error {
	var faults field.ErrorList
	faults = append(faults, c.validateNodeClasses(field.NewPath("nodeClasses"))...)
	faults = append(faults, c.validateVocabulary(field.NewPath("vocabulary"))...)
	faults = append(faults, c.validateLabelValues(field.NewPath("labelValues"))...)
	faults = append(faults, c.validateReservationLabels()...)
	faults = append(faults, c.validateHardwareLabels()...)
	faults = append(faults, validateKeys(field.NewPath("unsupportedVolumeTopologyKeys"), c.UnsupportedVolumeTopologyKeys)...)
	for i, driver := range c.UnsupportedVolumeDrivers {
		if driver == "" {
			faults = append(faults, field.Required(field.NewPath("unsupportedVolumeDrivers").Index(i), "name the CSI driver"))
		}
	}
	faults = append(faults, validateDuration(field.NewPath("launchTimeout"), &c.LaunchTimeout)...)
	faults = append(faults, validateDuration(field.NewPath("terminationGracePeriod"), c.TerminationGracePeriod)...)
	faults = append(faults, validateDuration(field.NewPath("consistencyWindow"), &c.ConsistencyWindow)...)
	return joined(faults)
}

func (c Capabilities) validateNodeClasses(path *field.Path) field.ErrorList {
	if len(c.NodeClasses) == 0 {
		return field.ErrorList{field.Required(path, "a provider launches instances from at least one kind of node class")}
	}
	var faults field.ErrorList
	for i, kind := range c.NodeClasses {
		if kind.Kind == "" {
			faults = append(faults, field.Required(path.Index(i).Child("kind"), "name the kind"))
		}
		if problems := validation.IsDNS1123Subdomain(kind.Group); len(problems) > 0 {
			faults = append(faults, field.Invalid(path.Index(i).Child("group"), kind.Group, strings.Join(problems, "; ")))
		}
		if slices.Contains(c.NodeClasses[:i], kind) {
			faults = append(faults, field.Duplicate(path.Index(i), kind.Kind+"."+kind.Group))
		}
	}
	return faults
}

// coreLabels returns the keys that every instance of every provider states with a value.
func coreLabels() []string {
	return []string{
		corev1.LabelInstanceTypeStable, corev1.LabelArchStable, corev1.LabelOSStable,
		corev1.LabelTopologyZone, v1.CapacityTypeLabelKey,
	}
}

func (c Capabilities) validateVocabulary(path *field.Path) field.ErrorList {
	wellKnown := path.Child("wellKnown")
	faults := validateKeys(wellKnown, c.Vocabulary.WellKnown)
	for _, key := range coreLabels() {
		if !slices.Contains(c.Vocabulary.WellKnown, key) {
			faults = append(faults, field.Required(wellKnown, fmt.Sprintf("%q is missing: merge requirements.CoreVocabulary()", key)))
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(c.Vocabulary.Aliases)) {
		canonical := c.Vocabulary.Aliases[alias]
		at := path.Child("aliases").Key(alias)
		faults = append(faults, validateKey(at, alias)...)
		faults = append(faults, validateKey(at, canonical)...)
		if _, again := c.Vocabulary.Aliases[canonical]; again {
			faults = append(faults, field.Invalid(at, canonical, "is itself an alias: name the canonical key"))
		}
		if slices.Contains(c.Vocabulary.WellKnown, alias) {
			faults = append(faults, field.Invalid(at, alias, "is well-known as well: leave the alias out of wellKnown"))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Vocabulary.ValueAliases)) {
		if canonical, ok := c.Vocabulary.Aliases[key]; ok {
			faults = append(faults, field.Invalid(path.Child("valueAliases").Key(key), key, fmt.Sprintf("is an alias: list it under %q", canonical)))
		}
	}
	return faults
}

func (c Capabilities) validateLabelValues(path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(c.LabelValues)) {
		at := path.Key(key)
		if !slices.Contains(c.Vocabulary.WellKnown, key) {
			faults = append(faults, field.Invalid(at, key, "is not well-known: add it to vocabulary.wellKnown"))
		}
		values := c.LabelValues[key]
		if len(values) == 0 {
			faults = append(faults, field.Required(at, "list the values, or leave the key out when any value may occur"))
		}
		for i, value := range values {
			if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
				faults = append(faults, field.Invalid(at.Index(i), value, strings.Join(problems, "; ")))
			}
			if slices.Contains(values[:i], value) {
				faults = append(faults, field.Duplicate(at.Index(i), value))
			}
		}
	}
	return faults
}

func (c Capabilities) validateReservationLabels() field.ErrorList {
	path := field.NewPath("reservationLabels")
	faults := validateKeys(path, c.ReservationLabels)
	for i, key := range c.ReservationLabels {
		if !slices.Contains(c.Vocabulary.WellKnown, key) {
			faults = append(faults, field.Invalid(path.Index(i), key, "is not well-known: add it to vocabulary.wellKnown"))
		}
	}
	switch {
	case c.ReservationIDLabel != "" && !slices.Contains(c.ReservationLabels, c.ReservationIDLabel):
		faults = append(faults, field.Invalid(field.NewPath("reservationIDLabel"), c.ReservationIDLabel, "must be one of reservationLabels"))
	case c.ReservationIDLabel == "" && len(c.ReservationLabels) > 0:
		faults = append(faults, field.Required(field.NewPath("reservationIDLabel"), "name the one of reservationLabels that distinguishes reservations"))
	}
	return faults
}

func validateKeys(path *field.Path, keys []string) field.ErrorList {
	var faults field.ErrorList
	for i, key := range keys {
		faults = append(faults, validateKey(path.Index(i), key)...)
		if slices.Contains(keys[:i], key) {
			faults = append(faults, field.Duplicate(path.Index(i), key))
		}
	}
	return faults
}

func validateKey(path *field.Path, key string) field.ErrorList {
	if problems := validation.IsQualifiedName(key); len(problems) > 0 {
		return field.ErrorList{field.Invalid(path, key, strings.Join(problems, "; "))}
	}
	return nil
}

func validateDuration(path *field.Path, d *metav1.Duration) field.ErrorList {
	if d != nil && d.Duration < 0 {
		return field.ErrorList{field.Invalid(path, d.Duration.String(), "must not be negative")}
	}
	return nil
}

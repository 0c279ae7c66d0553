package manifests

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Settings say which ConfigMaps of the input are settings. Planning does not read other ConfigMaps.
type Settings struct {
	// Names of the ConfigMaps, in any namespace. Without names, all ConfigMaps are skipped like objects of an unknown kind.
	Names []string
	// Apply is called with each of these ConfigMaps, by namespace and name, after all objects are read. Options.Conversion is called later
	// and may use their values. If Apply returns an error, the input is refused; each of several errors (Unwrap() []error) is a problem.
	// Nil means that the ConfigMaps are skipped.
	Apply func(ConfigMap) error
}

// ConfigMap is a ConfigMap that Settings names.
type ConfigMap struct {
	// Position is where the ConfigMap was found.
	Position Position
	// Namespace and Name identify the ConfigMap; Namespace is Options.Namespace if the ConfigMap has none.
	Namespace, Name string
	// Labels and Data belong to the function Apply, which may change them.
	Labels, Data map[string]string
}

// kindConfigMap says how ConfigMaps are read. A ConfigMap whose name is not in the list names is skipped, like an object of an unknown
// kind.
func kindConfigMap(names []string) kind {
	keep := decodeInto(func(o *objects) *[]entry[*corev1.ConfigMap] { return &o.configMaps })
	return kind{version: "v1", namespaced: true, decode: func(l *loader, d document) {
		var head struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		// If the ConfigMap can't be decoded, it is not skipped here, and the decoder reports the error later.
		if err := json.Unmarshal(d.text, &head); err == nil && !slices.Contains(names, head.Metadata.Name) {
			l.skip(d)
			return
		}
		keep(l, d)
	}}
}

// applySettings calls Settings.Apply with each ConfigMap that is a setting.
func (l *loader) applySettings() {
	if l.opts.Settings.Apply == nil {
		return
	}
	slices.SortStableFunc(l.objects.configMaps, func(a, b entry[*corev1.ConfigMap]) int {
		return compareNames(a.object, b.object)
	})
	for _, e := range l.objects.configMaps {
		c := ConfigMap{
			Position: l.position(e.origin, ""), Namespace: e.object.Namespace, Name: e.object.Name,
			Labels: maps.Clone(e.object.Labels), Data: maps.Clone(e.object.Data),
		}
		for _, err := range each(l.opts.Settings.Apply(c)) {
			l.problem(e.origin, ProblemInvalid, "ConfigMap "+qualifiedName(e.object), "data", err.Error())
		}
	}
}

// each returns the errors that a joined error contains. For any other error, it returns this error alone.
func each(err error) []error {
	if err == nil {
		return nil
	}
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) && len(several.Unwrap()) > 0 {
		return several.Unwrap()
	}
	return []error{err}
}

package settings

import (
	"maps"

	"github.com/drawknife/drawknife/aws/convert"
)

// These are the names of the ConfigMaps with the settings of Karpenter up to 0.32, and with the logging settings of Karpenter up to 0.37.
const (
	GlobalSettingsName = "karpenter-global-settings"
	LoggingConfigName  = "config-logging"
)

// FirstGeneration says whether there are objects of v1alpha5. Without them, settings that apply only to such objects have no effect.
type FirstGeneration string

const (
	// FirstGenerationUnknown means that this is not known: settings that apply only to such objects cause no warnings.
	FirstGenerationUnknown FirstGeneration = ""
	// FirstGenerationAbsent means that there are none: each such setting causes a warning (W704).
	FirstGenerationAbsent FirstGeneration = "Absent"
)

// FromConfigMap reads only the ConfigMap karpenter-global-settings, for programs that plan or convert. Settings that only a controller
// needs, such as the cluster's name, may be missing. AWS.Legacy is never nil: for missing keys it has the defaults of the old releases. If
// the settings have problems, the error is an *Error with all of them.
func FromConfigMap(data map[string]string, alpha FirstGeneration) (*Loaded, error) {
	defaults := Default()
	defaults.Process.Provider, defaults.Process.AllowSimulatedNodes = ProviderFake, true // nothing is launched
	defaults.Planning.ServeAlpha = alpha != FirstGenerationAbsent
	defaults.legacy()
	loaded, err := combine(defaults, []Layer{ParseLegacyConfigMap(data)})
	if err != nil {
		return nil, err
	}
	// These settings can't be set in a ConfigMap, so they get their defaults.
	loaded.Settings.Process, loaded.Settings.Planning.ServeAlpha = defaultProcess(), true
	return loaded, nil
}

// ForConversion returns the settings for the conversion of node templates and Provisioners. It returns nil if l is nil.
func (l *Legacy) ForConversion() *convert.LegacySettings {
	if l == nil {
		return nil
	}
	density := l.EnableENILimitedPodDensity
	return &convert.LegacySettings{
		DefaultInstanceProfile: l.DefaultInstanceProfile, Tags: maps.Clone(l.Tags),
		EnablePodENI: l.EnablePodENI, ENILimitedPodDensity: &density,
	}
}

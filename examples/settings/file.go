package settings

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// maxFile bounds settings files: the API server takes no larger ConfigMap.
const maxFile = 1 << 20

// ParseFile reads a settings file: chart values, or a ConfigMap as kubectl prints it. Of a ConfigMap the name tells whether
// it is about logging (config-logging) or about the rest.
func ParseFile(data []byte) Layer {
	l := newLayer(SourceFile)
	if len(data) > maxFile {
		l.report(invalid(SourceFile, "settings file", "", "settings file", fmt.Sprintf("it has %d bytes, and at most %d are read", len(data), maxFile)))
		return l.finish()
	}
	var object struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Data map[string]string `json:"data"`
	}
	// Values files have other types under these names; what is wrong with one, ParseChartValues says.
	if err := yaml.Unmarshal(data, &object); err != nil || object.Kind != "ConfigMap" {
		return ParseChartValues(data)
	}
	if strings.HasSuffix(object.Metadata.Name, "config-logging") {
		return ParseLoggingConfigMap(object.Data)
	}
	return ParseLegacyConfigMap(object.Data)
}

package settings

import (
	"fmt"
	"io"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// maxFile is the maximum size of settings files: the API server accepts no larger ConfigMap.
const maxFile = 1 << 20

// ReadFile is os.ReadFile with a limit: it returns an error for files that are larger than a settings file may be.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // errors of Close don't matter, because the file was only read
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s: has more than %d bytes, the maximum", path, maxFile)
	}
	return data, err
}

// ParseFile reads a settings file: chart values, or a ConfigMap as kubectl prints it. The name of a ConfigMap decides whether its settings
// are about logging (config-logging) or other settings.
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
	// A values file may have the keys kind and metadata with values of other types; ParseChartValues reports errors in them.
	if err := yaml.Unmarshal(data, &object); err != nil || object.Kind != "ConfigMap" {
		return ParseChartValues(data)
	}
	if strings.HasSuffix(object.Metadata.Name, "config-logging") {
		return ParseLoggingConfigMap(object.Data)
	}
	return ParseLegacyConfigMap(object.Data)
}

package charts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

// Controller and CRDs are the folders of the charts, relative to this package.
const (
	Controller = "../../../examples/controller/charts/drawknife"
	CRDs       = "../../../examples/controller/charts/drawknife-crd"
)

// Render returns the output of helm template for a chart in the namespace "autoscaling", with the release name: its manifests in the order
// of their files. values are YAML. If the chart's schema refuses the values, Render returns an error.
func Render(chart, release string, values []byte) (string, error) {
	c, err := loader.Load(chart)
	if err != nil {
		return "", err
	}
	var given chartutil.Values
	if err := yaml.Unmarshal(values, &given); err != nil {
		return "", err
	}
	options := chartutil.ReleaseOptions{Name: release, Namespace: "autoscaling", Revision: 1, IsInstall: true}
	rendering, err := chartutil.ToRenderValues(c, given, options, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(c, rendering)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if text := strings.TrimSpace(files[name]); text != "" && strings.HasSuffix(name, ".yaml") {
			fmt.Fprintf(&out, "---\n# %s\n%s\n", name, strings.TrimPrefix(text, "---\n"))
		}
	}
	return out.String(), nil
}

// Objects returns the objects of rendered manifests, in their order.
func Objects(manifests string) ([]map[string]any, error) {
	var out []map[string]any
	for document := range strings.SplitSeq("\n"+manifests, "\n---\n") {
		var object map[string]any
		if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
			return nil, fmt.Errorf("%w in\n%s", err, document)
		}
		if len(object) > 0 {
			out = append(out, object)
		}
	}
	return out, nil
}

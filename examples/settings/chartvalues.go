package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// ParseChartValues reads a values file of Karpenter's chart, in the layout of any generation, or of this controller's chart. The layouts
// are the settings of 0.18, settings.aws.* and settings.*. Values about the controller's pods are listed in Ignored. If two layouts give a
// setting different values, this is an error.
func ParseChartValues(data []byte) Layer {
	l := newLayer(SourceFile)
	var values map[string]any
	if err := yaml.UnmarshalStrict(data, &values); err != nil {
		l.report(invalid(SourceFile, "chart values", "", "YAML mapping", firstLine(err)))
		return l.finish()
	}
	r := newValuesReader(l)
	r.walk("", values)
	if len(r.gateTexts) > 0 {
		gates := slices.Sorted(maps.Keys(r.gateTexts))
		var text, written []string
		for _, gate := range gates {
			text = append(text, gate+"="+r.gateTexts[gate])
			written = append(written, r.gatePaths[gate])
		}
		l.set(r.gatesSetting, entry{written: strings.Join(written, ","), text: strings.Join(text, ",")})
	}
	return l.finish()
}

// valuesReader walks through chart values.
type valuesReader struct {
	layer        *Layer
	settings     map[string]*setting
	paths        map[string]chartPath
	byEnv        map[string]*setting
	gatesSetting *setting
	// gateTexts and gatePaths contain, by the name of the gate, the values and paths of the feature gates that were found.
	gateTexts, gatePaths map[string]string
}

func newValuesReader(l *Layer) *valuesReader {
	r := &valuesReader{
		layer: l, settings: make(map[string]*setting), paths: make(map[string]chartPath), byEnv: make(map[string]*setting),
		gateTexts: make(map[string]string), gatePaths: make(map[string]string),
	}
	for _, s := range definitions() {
		if s.name == "feature-gates" {
			r.gatesSetting = s
		}
		for _, p := range s.chart {
			r.settings[p.path], r.paths[p.path] = s, p
		}
		r.byEnv[environmentName(s.name)] = s
	}
	return r
}

// deployment returns the paths of chart values that concern only the deployment of the controller. Such values are ignored, with everything
// below them.
func deployment() []string {
	return []string{
		"additionalAnnotations", "additionalClusterRoleRules", "additionalLabels", "affinity", "dnsConfig", "dnsPolicy", "extraObjects",
		"extraVolumes", "fullnameOverride", "global", "hostNetwork", "imagePullPolicy", "imagePullSecrets", "initContainers", "logConfig.enabled",
		"logConfig.logLevel.webhook", "nameOverride", "nodeSelector", "podAnnotations", "podDisruptionBudget", "podLabels",
		"podSecurityContext", "priorityClassName", "replicas", "revisionHistoryLimit", "schedulerName", "service", "serviceAccount",
		"serviceMonitor", "strategy", "terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints",
		"controller.containerName", "controller.envFrom", "controller.extraVolumeMounts", "controller.image", "controller.resources",
		"controller.securityContext", "controller.sidecarContainer", "controller.sidecarVolumeMounts",
		"webhook.logLevel", "webhook.metrics", "webhook.serviceName", "webhook.serviceNamespace",
	}
}

// isSection reports whether the path is a mapping that contains settings. If the mapping is empty, it causes no warning.
func (r *valuesReader) isSection(path string) bool {
	for p := range r.paths {
		if strings.HasPrefix(p, path+".") {
			return true
		}
	}
	return slices.ContainsFunc(deployment(), func(d string) bool { return strings.HasPrefix(d, path+".") })
}

func (r *valuesReader) walk(prefix string, values map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		path, value := key, values[key]
		if prefix != "" {
			path = prefix + "." + key
		}
		below, isMap := value.(map[string]any)
		switch {
		case slices.Contains(deployment(), path):
			r.layer.Ignored = append(r.layer.Ignored, path)
		case path == "controller.env":
			r.environment(path, value)
		case path == "settings.awsFeatureGates":
			r.awsGates(path, value)
		case r.settings[path] != nil:
			r.setting(path, value)
		case r.isSection(path) && (isMap || value == nil):
			r.walk(path, below)
		default:
			r.layer.report(unknown(SourceFile, path))
		}
	}
}

func (r *valuesReader) setting(path string, value any) {
	s, p := r.settings[path], r.paths[path]
	if values, isMap := value.(map[string]any); isMap && s.name == "aws-tags" {
		r.tags(s, path, values)
		return
	}
	text, err := leaf(value)
	if values, isMap := value.(map[string]any); isMap && s.kind == pairsKind().name {
		text, err = pairs(values)
	}
	switch {
	case err != nil:
		r.layer.report(invalid(SourceFile, path, fmt.Sprint(value), s.kind, err.Error()))
	case text == "":
	case p.gate != "":
		r.moved(s, p)
		if on, err := parseBool(text); err != nil {
			r.layer.report(invalid(SourceFile, path, text, "boolean", err.Error()))
		} else if before, there := r.gateTexts[p.gate]; there && before != bools().format(on) {
			r.layer.report(conflict(SourceFile, "feature gate "+p.gate, r.gatePaths[p.gate], path))
		} else {
			r.gateTexts[p.gate], r.gatePaths[p.gate] = text, path
		}
	default:
		r.moved(s, p)
		r.layer.setAs(s, entry{written: path, text: text, over: p.over}, p.opposite)
	}
}

// moved warns about a path that has moved in later layouts. Paths that were removed are reported when layers are combined.
func (r *valuesReader) moved(s *setting, p chartPath) {
	if p.over || s.successor != "" || s.droppedSince != "" {
		return
	}
	for _, today := range s.chart {
		if today.gate == p.gate {
			if today.path != p.path {
				r.layer.report(deprecated(SourceFile, p.path, today.path))
			}
			return
		}
	}
}

// awsGates warns about enabled gates of the AWS provider, which have no effect here.
func (r *valuesReader) awsGates(path string, value any) {
	gates, _ := value.(map[string]any)
	for _, gate := range slices.Sorted(maps.Keys(gates)) {
		text, err := leaf(gates[gate])
		if on, bad := parseBool(text); err != nil || text != "" && (bad != nil || on) {
			r.layer.report(unknown(SourceFile, path+"."+gate))
		}
	}
}

func (r *valuesReader) tags(s *setting, path string, values map[string]any) {
	var tags []tag
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text, err := leaf(values[key])
		if _, isList := values[key].([]any); err != nil || isList {
			r.layer.report(invalid(SourceFile, path+"."+key, fmt.Sprint(values[key]), "tag", "write a text"))
			continue
		}
		tags = append(tags, tag{path, key, text})
	}
	if len(tags) > 0 {
		r.layer.setTags(s, tags, false)
	}
}

// environment reads the environment variables in the chart values.
func (r *valuesReader) environment(path string, value any) {
	list, isList := value.([]any)
	if !isList && value != nil {
		r.layer.report(invalid(SourceFile, path, fmt.Sprint(value), "list of variables", "write entries with name and value"))
		return
	}
	variables := make(map[string]string)
	for _, item := range list {
		variable, _ := item.(map[string]any)
		name, _ := variable["name"].(string)
		// A variable without a value refers to another object. Its value is only known in the environment of the process.
		if text, err := leaf(variable["value"]); err == nil && name != "" {
			variables[name] = text
		}
	}
	read := ParseEnv(func(name string) (string, bool) { text, there := variables[name]; return text, there })
	in := func(name string) string { return path + "[" + name + "]" }
	for _, p := range read.Problems {
		r.layer.report(&Problem{p.Code, SourceFile, in(p.Name), strings.Replace(p.Message, p.Name, in(p.Name), 1)})
	}
	for _, s := range definitions() {
		if e, there := read.entries[s.name]; there {
			r.layer.set(s, entry{written: in(e.written), text: e.text})
		}
	}
	r.layer.Ignored = append(r.layer.Ignored, path)
}

// leaf converts a YAML value to the text of a setting. It joins lists of texts by commas, and returns "" for null.
func leaf(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case []any:
		var pieces []string
		for _, item := range v {
			piece, err := leaf(item)
			if _, nested := item.([]any); err != nil || nested {
				return "", fmt.Errorf("write a list of single values, such as [a, b]")
			}
			pieces = append(pieces, piece)
		}
		return strings.Join(pieces, ","), nil
	}
	return "", fmt.Errorf("write a single value")
}

// pairs converts a mapping to the text of a list of pairs.
func pairs(values map[string]any) (string, error) {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text, err := leaf(values[key])
		if _, isList := values[key].([]any); err != nil || isList {
			return "", fmt.Errorf("write a single value for %s", key)
		}
		list = append(list, key+"="+text)
	}
	return strings.Join(list, ","), nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

package settings

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// tagsKey is the key for all global tags as JSON. Up to Karpenter 0.23, each tag had its own key with this prefix.
const tagsKey = "aws.tags"

// ParseLegacyConfigMap reads the data of the ConfigMap karpenter-global-settings of any release. Unknown keys cause warnings; empty values
// count as unset.
func ParseLegacyConfigMap(data map[string]string) Layer {
	l := newLayer(SourceFile)
	keys := make(map[string]*setting)
	for _, s := range definitions() {
		for _, key := range s.configMap {
			keys[key] = s
		}
	}
	var tags []tag
	for _, key := range slices.Sorted(maps.Keys(data)) {
		text := data[key]
		s := keys[key]
		switch name, isTag := strings.CutPrefix(key, tagsKey+"."); {
		case isTag && name != "":
			tags = append(tags, tag{key, name, text})
		case s == nil:
			l.report(unknown(SourceFile, key))
		case text == "":
		case key == tagsKey:
			all, err := parseTags(text)
			if err != nil {
				l.report(invalid(SourceFile, key, text, s.kind, err.Error()))
				continue
			}
			for name, value := range all {
				tags = append(tags, tag{key, name, value})
			}
		case s.name == "feature-gates":
			l.set(s, entry{written: key, text: "Drift=" + text, old: true})
		default:
			l.set(s, entry{written: key, text: text, old: true})
		}
	}
	l.setTags(keys[tagsKey], tags, true)
	return l.finish()
}

// tag is a global tag, together with the key or path at which it was found.
type tag struct{ written, key, value string }

// setTags combines all tags into one value. old becomes the field old of the value's entry.
func (l *Layer) setTags(s *setting, tags []tag, old bool) {
	if len(tags) == 0 {
		return
	}
	all, from := make(map[string]string), make(map[string]string)
	for _, t := range tags {
		if before, there := all[t.key]; there && before != t.value {
			l.report(conflict(l.Source, "tag "+t.key, from[t.key], t.written))
		}
		all[t.key], from[t.key] = t.value, t.written
	}
	written := tags[0].written
	if slices.ContainsFunc(tags, func(t tag) bool { return t.written != written }) {
		written = tagsKey
	}
	l.set(s, entry{written: written, text: formatTags(all), old: old})
}

// ParseLoggingConfigMap reads the data of the ConfigMap config-logging, which configured logging up to release 0.37. The format of log
// records in the ConfigMap is ignored.
func ParseLoggingConfigMap(data map[string]string) Layer {
	l := newLayer(SourceFile)
	byName := make(map[string]*setting)
	for _, s := range definitions() {
		byName[s.name] = s
	}
	const zap = "zap-logger-config"
	for _, key := range slices.Sorted(maps.Keys(data)) {
		text := data[key]
		switch {
		case key == "loglevel.controller" && text != "":
			l.set(byName["log-level"], entry{written: key, text: text, over: true})
		case key == "loglevel.webhook" || key == "loglevel.controller":
			l.Ignored = append(l.Ignored, key)
		case key == zap:
			var config struct {
				Level            string   `json:"level"`
				Encoding         string   `json:"encoding"`
				OutputPaths      []string `json:"outputPaths"`
				ErrorOutputPaths []string `json:"errorOutputPaths"`
			}
			if err := json.Unmarshal([]byte(text), &config); err != nil {
				l.report(invalid(SourceFile, key, text, "logger configuration", "write a JSON object with level, encoding, outputPaths and errorOutputPaths"))
				continue
			}
			for _, v := range []struct{ field, setting, text string }{
				{"level", "log-level", config.Level}, {"encoding", "log-encoding", config.Encoding},
				{"outputPaths", "log-output-paths", strings.Join(config.OutputPaths, ",")},
				{"errorOutputPaths", "log-error-output-paths", strings.Join(config.ErrorOutputPaths, ",")},
			} {
				if v.text != "" {
					l.set(byName[v.setting], entry{written: zap + "." + v.field, text: v.text})
				}
			}
		default:
			l.report(unknown(SourceFile, key))
		}
	}
	return l.finish()
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/aws/convert"
)

// Keys of the ConfigMap karpenter-global-settings that node classes and pools say themselves later.
const (
	keyProfile = "aws.defaultInstanceProfile"
	keyPodENI  = "aws.enablePodENI"
	keyDensity = "aws.enableENILimitedPodDensity"
	keyTags    = "aws.tags"
)

// configMap is what is read of a ConfigMap.
type configMap struct {
	Kind string            `json:"kind"`
	Data map[string]string `json:"data"`
}

// readSettings reads the global settings from a ConfigMap.
func readSettings(name string) (*convert.LegacySettings, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	settings, err := parseSettings(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return settings, nil
}

// parseSettings reads a ConfigMap. Tags may be one key each, as releases up to 0.23 took them, or a JSON object. Settings
// that manifests have no place for are passed over.
func parseSettings(text []byte) (*convert.LegacySettings, error) {
	var in configMap
	if err := yaml.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	if in.Kind != "ConfigMap" {
		return nil, fmt.Errorf("kind is %q: --settings takes the ConfigMap karpenter-global-settings", in.Kind)
	}
	out := &convert.LegacySettings{DefaultInstanceProfile: in.Data[keyProfile], Tags: map[string]string{}}
	if text := in.Data[keyTags]; text != "" {
		if err := json.Unmarshal([]byte(text), &out.Tags); err != nil {
			return nil, fmt.Errorf("data[%s]: must be a JSON object of strings: %w", keyTags, err)
		}
	}
	for key, value := range in.Data {
		if tag, ok := strings.CutPrefix(key, keyTags+"."); ok {
			if out.Tags == nil {
				out.Tags = map[string]string{}
			}
			out.Tags[tag] = value
		}
	}
	for key, set := range map[string]func(bool){
		keyPodENI:  func(on bool) { out.EnablePodENI = on },
		keyDensity: func(on bool) { out.ENILimitedPodDensity = &on },
	} {
		text, ok := in.Data[key]
		if !ok {
			continue
		}
		on, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("data[%s]: %q is neither true nor false", key, text)
		}
		set(on)
	}
	return out, nil
}

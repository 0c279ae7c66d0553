package convert

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/examples/settings"
)

// configMap contains the fields that are read from a ConfigMap.
type configMap struct {
	Kind string            `json:"kind"`
	Data map[string]string `json:"data"`
}

// settingsFile reads the global settings from the ConfigMap in the named file.
func settingsFile(name string) (*settings.Loaded, error) {
	text, err := settings.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var in configMap
	if err := yaml.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if in.Kind != "ConfigMap" {
		return nil, fmt.Errorf("%s: kind is %q: --settings takes the ConfigMap %s", name, in.Kind, settings.GlobalSettingsName)
	}
	loaded, err := settings.FromConfigMap(in.Data, settings.FirstGenerationUnknown)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return loaded, nil
}

// takeSettings returns the documents without the ConfigMap karpenter-global-settings, and the settings in it, or nil if there is no such
// ConfigMap.
func takeSettings(documents []convert.Document) ([]convert.Document, *settings.Loaded, error) {
	var found *settings.Loaded
	var first convert.Position
	rest := slices.Clone(documents[:0])
	for _, d := range documents {
		object, ok := d.Object.(*unstructured.Unstructured)
		if !ok || object.GetAPIVersion() != "v1" || object.GetKind() != "ConfigMap" || object.GetName() != settings.GlobalSettingsName {
			rest = append(rest, d)
			continue
		}
		if found != nil {
			return nil, nil, fmt.Errorf("%s: ConfigMap %s is given twice, first in %s; remove one of them", d.Position, settings.GlobalSettingsName, first)
		}
		data, _, err := unstructured.NestedStringMap(object.Object, "data")
		if err != nil {
			return nil, nil, fmt.Errorf("%s: ConfigMap %s: values of data must be text: %w", d.Position, settings.GlobalSettingsName, err)
		}
		if found, err = settings.FromConfigMap(data, settings.FirstGenerationUnknown); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", d.Position, err)
		}
		first = d.Position
	}
	return rest, found, nil
}

// settle decides which settings apply: the settings of --settings take precedence over the settings in the inputs. It prints problems of
// the settings. With --strict, unknown settings are an error.
func (o *options) settle(documents []convert.Document, stderr io.Writer) ([]convert.Document, error) {
	documents, found, err := takeSettings(documents)
	if err != nil {
		return nil, err
	}
	if o.settings != "" {
		if found, err = settingsFile(o.settings); err != nil {
			return nil, err
		}
	}
	if found == nil {
		return documents, nil
	}
	unknown := false
	for _, p := range found.Warnings {
		severity := conversion.SeverityWarn
		if p.Code == settings.CodeLimited {
			severity = conversion.SeverityInfo
		}
		unknown = unknown || p.Code == settings.CodeUnknown
		fmt.Fprintln(stderr, conversion.Warning{
			Code: conversion.Code(p.Code), Severity: severity, Object: "ConfigMap/" + settings.GlobalSettingsName, Path: "data[" + p.Name + "]", Message: p.Message,
		})
	}
	if unknown && o.strict {
		return nil, errors.New("--strict: the settings have unknown keys: nothing is printed or written")
	}
	o.convert.Legacy = found.Settings.AWS.Legacy.ForConversion()
	return documents, nil
}

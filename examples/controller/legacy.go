package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/examples/settings"
)

// loggingConfigMap is the name of the ConfigMap that configured logging in Karpenter up to 0.37.
const loggingConfigMap = "config-logging"

// load reads the settings. If the settings name a ConfigMap of old Karpenter releases, it also reads the settings there. All other sources
// override the ConfigMaps.
func load(ctx context.Context, from settings.Sources) (*settings.Loaded, error) {
	from.ReadConfigMaps = func(p settings.Process) (behaviour, logging map[string]string, err error) {
		config, err := restConfig(p)
		if err != nil {
			return nil, nil, err
		}
		c, err := client.New(config, client.Options{})
		if err != nil {
			return nil, nil, err
		}
		if behaviour, err = configMap(ctx, c, p.SystemNamespace, p.LegacyConfigMap); err != nil {
			return nil, nil, err
		}
		logging, err = configMap(ctx, c, p.SystemNamespace, loggingConfigMap)
		return behaviour, logging, err
	}
	return settings.Load(from)
}

// legacyOf returns the global settings that apply to v1alpha5 objects, or nil if none are set.
func legacyOf(l *settings.Legacy) *convert.LegacySettings {
	if l == nil {
		return nil
	}
	return &convert.LegacySettings{
		DefaultInstanceProfile: l.DefaultInstanceProfile, Tags: l.Tags, EnablePodENI: l.EnablePodENI, ENILimitedPodDensity: &l.EnableENILimitedPodDensity,
	}
}

// configMap returns the data of a ConfigMap, or nil if it does not exist. A logging ConfigMap that the controller may not read counts as
// missing.
func configMap(ctx context.Context, c client.Reader, namespace, name string) (map[string]string, error) {
	object := &corev1.ConfigMap{}
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err) && name == loggingConfigMap:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the ConfigMap %s/%s: %w", namespace, name, err)
	}
	return object.Data, nil
}

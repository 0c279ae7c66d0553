package userdata

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

const (
	nodeConfigAPIVersion  = "node.eks.aws/v1alpha1"
	nodeConfigKind        = "NodeConfig"
	mediaTypeNodeConfig   = "application/node.eks.aws"
	nodeConfigComment     = "# generated node configuration\n"
	nodeConfigGroupPrefix = "node.eks.aws/"
)

// al2023 returns the user's parts followed by a NodeConfig. nodeadm merges NodeConfigs in order, and later documents override earlier ones.
// So generated values override the user's values.
func al2023(c *Config, warn func(string, ...any)) (string, error) {
	if c.ServiceCIDR == "" {
		return "", badConfig("serviceCIDR", "is not known, but family %s needs it: give the range of the cluster's service addresses", c.Family)
	}
	parts, err := userParts(c, warn, nodeConfigOrScript)
	if err != nil {
		return "", err
	}
	for i := range parts {
		if parts[i].mediaType() != mediaTypeNodeConfig {
			continue
		}
		text, readable := parts[i].decoded()
		if !readable {
			warn("userData, line %d: the NodeConfig that begins here is coded in a way that can't be read before a node does", parts[i].line)
			continue
		}
		if err := checkNodeConfig(c, text, parts[i].line); err != nil {
			return "", err
		}
	}
	document, err := nodeConfig(c)
	if err != nil {
		return "", err
	}
	return writeArchive(append(parts, newPart(mediaTypeNodeConfig, document))), nil
}

// nodeConfig returns the generated document. Its keys are sorted.
func nodeConfig(c *Config) (string, error) {
	cluster := map[string]any{"name": c.ClusterName, "apiServerEndpoint": c.Endpoint, "cidr": c.ServiceCIDR}
	if c.CABundle != "" {
		cluster["certificateAuthority"] = c.CABundle
	}
	config, err := kubeletConfig(c)
	if err != nil {
		return "", err
	}
	kubelet := map[string]any{"config": config}
	if labels := pairs(nodeLabels(c.Labels), "="); labels != "" {
		// The quotes are part of the value of the flag.
		kubelet["flags"] = []string{fmt.Sprintf("--node-labels=%q", labels)}
	}
	spec := map[string]any{"cluster": cluster, "kubelet": kubelet}
	if c.InstanceStorePolicy == awsv1.InstanceStorePolicyRAID0 {
		spec["instance"] = map[string]any{"localStorage": map[string]any{"strategy": string(c.InstanceStorePolicy)}}
	}
	text, err := yaml.Marshal(map[string]any{"apiVersion": nodeConfigAPIVersion, "kind": nodeConfigKind, "spec": spec})
	if err != nil {
		return "", fmt.Errorf("writing the NodeConfig: %w", err)
	}
	return nodeConfigComment + string(text), nil
}

// kubeletConfig returns the class's kubelet block with generated values added. It keeps the block as it was written, so that durations keep
// their spelling.
func kubeletConfig(c *Config) (map[string]any, error) {
	text, err := json.Marshal(c.Kubelet)
	if err != nil {
		return nil, badConfig("kubelet", "can't be written as JSON: %v", err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, badConfig("kubelet", "can't be written as JSON: %v", err)
	}
	config := make(map[string]any, len(raw)+2)
	for key, value := range raw {
		config[key] = value
	}
	if dns := c.dns(); len(c.Kubelet.ClusterDNS) == 0 && dns != "" {
		config["clusterDNS"] = []string{dns}
	}
	// Without taints, write an empty list instead of null.
	taints := make([]map[string]string, 0, len(c.Taints))
	for _, taint := range c.Taints {
		taints = append(taints, taintItem(taint))
	}
	config["registerWithTaints"] = taints
	return config, nil
}

func taintItem(taint corev1.Taint) map[string]string {
	item := map[string]string{"key": taint.Key, "effect": string(taint.Effect)}
	if taint.Value != "" {
		item["value"] = taint.Value
	}
	return item
}

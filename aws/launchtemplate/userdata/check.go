package userdata

import (
	"encoding/base64"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// check refuses values that would have another meaning in a script, an argument list or a configuration file. Labels, taints and similar
// values come from validated objects. But user data runs as root, so check validates them again.
func (c *Config) check() error {
	if c.ClusterName == "" {
		return badConfig("clusterName", "is empty, and a node can't join a cluster without a name: give it")
	}
	if hasControl(c.ClusterName) {
		return badConfig("clusterName", "holds a control character: write the name alone")
	}
	if err := c.checkAddresses(); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		if problems := validation.IsQualifiedName(key); len(problems) > 0 {
			return badConfig("labels", "%q is not a label key: %s", key, strings.Join(problems, "; "))
		}
		if problems := validation.IsValidLabelValue(c.Labels[key]); len(problems) > 0 {
			return badConfig("labels["+key+"]", "%q is not a label value: %s", c.Labels[key], strings.Join(problems, "; "))
		}
	}
	for _, taint := range c.Taints {
		if problems := validation.IsQualifiedName(taint.Key); len(problems) > 0 {
			return badConfig("taints", "%q is not a taint key: %s", taint.Key, strings.Join(problems, "; "))
		}
		if problems := validation.IsValidLabelValue(taint.Value); len(problems) > 0 {
			return badConfig("taints["+taint.Key+"]", "%q is not a taint value: %s", taint.Value, strings.Join(problems, "; "))
		}
		switch taint.Effect {
		case "NoSchedule", "PreferNoSchedule", "NoExecute":
		default:
			return badConfig("taints["+taint.Key+"]", "effect %q is none of NoSchedule, PreferNoSchedule, NoExecute", taint.Effect)
		}
	}
	return checkKubelet(&c.Kubelet)
}

func (c *Config) checkAddresses() error {
	endpoint, err := url.Parse(c.Endpoint)
	if err != nil || endpoint.Scheme == "" || endpoint.Host == "" || hasControl(c.Endpoint) {
		return badConfig("endpoint", "%q is not an absolute URL: write it like https://api.demo.example", c.Endpoint)
	}
	if _, err := base64.StdEncoding.DecodeString(c.CABundle); err != nil || hasControl(c.CABundle) {
		return badConfig("caBundle", "is not base64 on one line: encode the PEM text")
	}
	if c.ServiceCIDR != "" {
		if _, err := netip.ParsePrefix(c.ServiceCIDR); err != nil {
			return badConfig("serviceCIDR", "%q is not a range of addresses: write it like 172.20.0.0/16", c.ServiceCIDR)
		}
	}
	if c.DiscoveredDNS != "" && !isAddress(c.DiscoveredDNS) {
		return badConfig("discoveredDNS", "%q is not an IP address", c.DiscoveredDNS)
	}
	return nil
}

// checkKubelet refuses values that would end the quotes around them, and expressions that were not evaluated.
func checkKubelet(k *awsv1.KubeletConfiguration) error {
	for _, address := range k.ClusterDNS {
		if !isAddress(address) {
			return badConfig("kubelet.clusterDNS", "%q is not an IP address", address)
		}
	}
	if k.MaxPods != nil && k.MaxPods.Type != intstr.Int {
		return badConfig("kubelet.maxPods", "is an expression, not a number: evaluate it for the instance type first")
	}
	for _, block := range []struct {
		name   string
		values map[string]string
	}{
		{"systemReserved", k.SystemReserved}, {"kubeReserved", k.KubeReserved}, {"evictionHard", k.EvictionHard},
		{"evictionSoft", k.EvictionSoft}, {"evictionSoftGracePeriod", k.EvictionSoftGracePeriod},
	} {
		for _, key := range slices.Sorted(maps.Keys(block.values)) {
			if !isPlain(key) || !isPlain(block.values[key]) {
				return badConfig("kubelet."+block.name+"["+key+"]", "%q is not a plain quantity, percentage or duration", block.values[key])
			}
		}
	}
	return nil
}

// isAddress reports whether text is an IP address without a zone: zones have no meaning on another instance.
func isAddress(text string) bool {
	address, err := netip.ParseAddr(text)
	return err == nil && address.Zone() == ""
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// isPlain reports whether a string needs no quotes in any of the formats.
func isPlain(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.%+-_") == ""
}

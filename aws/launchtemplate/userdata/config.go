package userdata

import (
	"encoding/base64"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// Config contains everything that goes into an instance's user data.
type Config struct {
	// Family of the image. Empty means AL2023.
	Family awsv1.AMIFamily
	// ClusterName is the cluster's name. Required except for Custom.
	ClusterName string
	// Endpoint is the URL of the cluster's API server. Required except for Custom.
	Endpoint string
	// CABundle is the certificate authority of the API server, PEM in base64. Empty if unknown: the image must then find it.
	CABundle string
	// ServiceCIDR is the range of the cluster's service addresses. Required for AL2023; used for Windows if it is known.
	ServiceCIDR string
	// IPv6 is true when the cluster's pods have IPv6 addresses.
	IPv6 bool
	// DiscoveredDNS is the address of the cluster's DNS service; it is used if Kubelet.ClusterDNS is empty. Empty if unknown.
	DiscoveredDNS string
	// Kubelet is the class's kubelet block with evaluated expressions. MaxPods is the pod limit of the instance as a number; nil means the
	// image's own limit.
	Kubelet awsv1.KubeletConfiguration
	// Labels with which the node joins. Labels that a kubelet may not set on itself are left out.
	Labels map[string]string
	// Taints with which the node joins, in this order.
	Taints []corev1.Taint
	// InstanceStorePolicy says how local disks are used; empty leaves them unused.
	InstanceStorePolicy awsv1.InstanceStorePolicy
	// OSVersion is the version of Bottlerocket, "1.46.0", "v1.46.0" or "latest"; empty if unknown. Other families ignore it.
	OSVersion string
	// UserData is the user data of the node class, in the format of the family. Empty means none.
	UserData string
}

// Rendered is the finished user data of an instance. It may contain secrets: printing or logging it shows only its size.
type Rendered struct {
	// Text is the user data, not encoded.
	Text string
	// Warnings are sentences about parts that were left out or may be unexpected; usually there are none.
	Warnings []string
}

// Base64 returns the text in the encoding that EC2 expects.
func (r Rendered) Base64() string { return base64.StdEncoding.EncodeToString([]byte(r.Text)) }

// String returns the size.
func (r Rendered) String() string { return fmt.Sprintf("user data of %d bytes", len(r.Text)) }

// GoString is String.
func (r Rendered) GoString() string { return r.String() }

// LogValue returns the size.
func (r Rendered) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("bytes", len(r.Text)), slog.Any("warnings", r.Warnings))
}

// renderer makes the user data of one family from a checked configuration; it may add warnings.
type renderer func(c *Config, warn func(format string, args ...any)) (string, error)

// Render makes the user data of an instance. The error is a *MalformedError if the user's own text is wrong, a *TooLargeError if the result
// is longer than EC2 allows, and a *ConfigError otherwise.
func Render(c Config) (Rendered, error) {
	if c.Family == "" {
		c.Family = awsv1.AMIFamilyAL2023
	}
	if len(c.UserData) > maxInput {
		return Rendered{}, &TooLargeError{Bytes: len(c.UserData), Limit: maxInput}
	}
	if c.Family != awsv1.AMIFamilyCustom {
		if err := c.check(); err != nil {
			return Rendered{}, err
		}
	}
	var r Rendered
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	var err error
	if r.Text, err = rendererOf(c.Family)(&c, warn); err != nil {
		return Rendered{}, err
	}
	switch size := len(r.Text); {
	case size > Limit:
		return Rendered{}, &TooLargeError{Bytes: size, Limit: Limit}
	case size >= NoticeAt:
		warn("the user data has %d of the %d bytes that EC2 accepts", size, Limit)
	}
	return r, nil
}

func rendererOf(family awsv1.AMIFamily) renderer {
	switch {
	case family == awsv1.AMIFamilyCustom:
		return custom
	case family == awsv1.AMIFamilyAL2023:
		return al2023
	case family == awsv1.AMIFamilyBottlerocket:
		return bottlerocket
	case family.IsWindows():
		return windows
	default:
		return al2
	}
}

// custom returns the user's bytes unchanged.
func custom(c *Config, _ func(string, ...any)) (string, error) { return c.UserData, nil }

// dns returns the address of the cluster's DNS service for the node, or "" if unknown.
func (c *Config) dns() string {
	if len(c.Kubelet.ClusterDNS) > 0 {
		return c.Kubelet.ClusterDNS[0]
	}
	return c.DiscoveredDNS
}

func (c *Config) malformed(line, column int, format string, args ...any) error {
	return &MalformedError{Family: string(c.Family), Line: line, Column: column, Problem: fmt.Sprintf(format, args...)}
}

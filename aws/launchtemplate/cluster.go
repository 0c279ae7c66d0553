package launchtemplate

import (
	"fmt"
	"net/netip"
)

// IPFamily is the IP family of a cluster's pods.
type IPFamily string

const (
	// IPv4 clusters give pods IPv4 addresses.
	IPv4 IPFamily = "IPv4"
	// IPv6 clusters give pods IPv6 addresses.
	IPv6 IPFamily = "IPv6"
)

// Cluster contains the details of the cluster that nodes need to join it.
type Cluster struct {
	// Name of the cluster; it is part of every tag. Required.
	Name string `json:"name"`
	// Endpoint is the URL of the API server. Required except for images of family Custom.
	Endpoint string `json:"endpoint,omitempty"`
	// CABundle is the certificate authority of the API server, PEM in base64. Empty if unknown.
	CABundle string `json:"caBundle,omitempty"`
	// ServiceCIDR is the range of the cluster's service addresses. AL2023 requires it.
	ServiceCIDR string `json:"serviceCIDR,omitempty"`
	// DNS is the address of the cluster's DNS service, for classes that set none. Empty if unknown.
	DNS string `json:"dns,omitempty"`
	// IPFamily of the cluster. If it is empty, the family is that of the first known address: DNS, ServiceCIDR, then the class's own
	// clusterDNS. If none is known, it is IPv4.
	IPFamily IPFamily `json:"ipFamily,omitempty"`
	// Region of the templates, "us-east-1". In some regions the EC2 API lacks some request fields. Empty means a region whose API has all
	// fields.
	Region string `json:"region,omitempty"`
	// Tags are set on all created AWS resources. If the class has a tag with the same key, the class's tag is used. Nil means none.
	Tags map[string]string `json:"tags,omitempty"`
	// IgnoreReservations leaves the use of capacity reservations to EC2. Otherwise reserved launches use their reservation, and other
	// launches use none.
	IgnoreReservations bool `json:"ignoreReservations,omitempty"`
}

// ipv6 reports whether the cluster is an IPv6 cluster. clusterDNS is the setting of the class.
func (c *Cluster) ipv6(clusterDNS []string) (bool, error) {
	switch c.IPFamily {
	case IPv4, IPv6:
		return c.IPFamily == IPv6, nil
	case "":
	default:
		return false, fmt.Errorf("cluster %q: ipFamily %q is neither %s nor %s", c.Name, c.IPFamily, IPv4, IPv6)
	}
	if address, err := netip.ParseAddr(c.DNS); err == nil {
		return address.Is6(), nil
	}
	if prefix, err := netip.ParsePrefix(c.ServiceCIDR); err == nil {
		return prefix.Addr().Is6(), nil
	}
	if len(clusterDNS) > 0 {
		if address, err := netip.ParseAddr(clusterDNS[0]); err == nil {
			return address.Is6(), nil
		}
	}
	return false, nil
}

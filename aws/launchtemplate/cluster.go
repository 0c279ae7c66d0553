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

// Cluster is what nodes must know about the cluster that they join.
type Cluster struct {
	// Name of the cluster; it is part of every tag. Required.
	Name string `json:"name"`
	// Endpoint is the URL of the API server. Required except for images of family Custom.
	Endpoint string `json:"endpoint,omitempty"`
	// CABundle is the certificate authority of the API server, PEM in base64. Empty when it is not known.
	CABundle string `json:"caBundle,omitempty"`
	// ServiceCIDR is the range of the cluster's service addresses. AL2023 can't do without.
	ServiceCIDR string `json:"serviceCIDR,omitempty"`
	// DNS is the address of the cluster's DNS service, for classes that give none. Empty when it is not known.
	DNS string `json:"dns,omitempty"`
	// IPFamily of the cluster. Empty reads as that of DNS, else of ServiceCIDR, else of the class's own clusterDNS, else
	// IPv4.
	IPFamily IPFamily `json:"ipFamily,omitempty"`
	// Region the templates are for, "us-east-1". Some regions lack members of the API. Empty: none of these.
	Region string `json:"region,omitempty"`
	// Tags are put on everything that is made, unless the class has the same key. Nil: none.
	Tags map[string]string `json:"tags,omitempty"`
	// IgnoreReservations leaves it to EC2 how capacity reservations are used. Otherwise reserved launches use the
	// reservation they are for, and no other launch uses any.
	IgnoreReservations bool `json:"ignoreReservations,omitempty"`
}

// ipv6 says whether the cluster is an IPv6 cluster. clusterDNS is what the class says itself.
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

package v1alpha1

import (
	v1 "github.com/drawknife/drawknife/aws/api/v1"
)

// DefaultMetadataOptions returns the metadata options of a node template without such a block: the service is on, tokens are required, two
// hops are allowed, and the service also answers over IPv6 if the cluster's DNS service has an IPv6 address. The caller owns what it points
// to.
func DefaultMetadataOptions(ipv6DNS IPFamily) *MetadataOptions {
	endpoint, ipv6, hops, tokens := v1.Enabled, v1.Disabled, int64(2), v1.HTTPTokensRequired
	if ipv6DNS == IPv6 {
		ipv6 = v1.Enabled
	}
	return &MetadataOptions{HTTPEndpoint: &endpoint, HTTPProtocolIPv6: &ipv6, HTTPPutResponseHopLimit: &hops, HTTPTokens: &tokens}
}

// IPFamily is the family of an address.
//
// +kubebuilder:object:generate=false
type IPFamily string

const (
	// IPv4 is the family of most clusters.
	IPv4 IPFamily = "IPv4"
	// IPv6 is the family of clusters whose services have IPv6 addresses.
	IPv6 IPFamily = "IPv6"
)

package v1beta1

import (
	v1 "github.com/drawknife/drawknife/aws/api/v1"
)

// DefaultHopLimit is the default number of hops that an answer of the metadata service may travel in this generation. v1's default is 1.
const DefaultHopLimit int64 = 2

// DefaultMetadataOptions returns the metadata options of a node class that states none: the service is on, only over IPv4, tokens are
// required, and answers travel DefaultHopLimit hops. The caller owns what it points to.
func DefaultMetadataOptions() *MetadataOptions {
	endpoint, ipv6, hops, tokens := v1.Enabled, v1.Disabled, DefaultHopLimit, v1.HTTPTokensRequired
	return &MetadataOptions{
		HTTPEndpoint:            &endpoint,
		HTTPProtocolIPv6:        &ipv6,
		HTTPPutResponseHopLimit: &hops,
		HTTPTokens:              &tokens,
	}
}

// Default sets unset fields: each member of the metadata options. Values that are set stay unchanged; applying it twice has no further
// effect.
func (c *EC2NodeClass) Default() {
	if c.Spec.MetadataOptions == nil {
		c.Spec.MetadataOptions = &MetadataOptions{}
	}
	options, defaults := c.Spec.MetadataOptions, DefaultMetadataOptions()
	if options.HTTPEndpoint == nil {
		options.HTTPEndpoint = defaults.HTTPEndpoint
	}
	if options.HTTPProtocolIPv6 == nil {
		options.HTTPProtocolIPv6 = defaults.HTTPProtocolIPv6
	}
	if options.HTTPPutResponseHopLimit == nil {
		options.HTTPPutResponseHopLimit = defaults.HTTPPutResponseHopLimit
	}
	if options.HTTPTokens == nil {
		options.HTTPTokens = defaults.HTTPTokens
	}
}

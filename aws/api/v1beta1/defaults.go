package v1beta1

import (
	v1 "github.com/drawknife/drawknife/aws/api/v1"
)

// DefaultHopLimit is how many hops an answer of the metadata service may travel when a node class of this generation does
// not say. v1's default is 1.
const DefaultHopLimit int64 = 2

// DefaultMetadataOptions returns the metadata options of a node class that gives none: the service on, over IPv4 alone,
// tokens required, answers that travel DefaultHopLimit hops. What it points to is the caller's.
func DefaultMetadataOptions() *MetadataOptions {
	endpoint, ipv6, hops, tokens := v1.Enabled, v1.Disabled, DefaultHopLimit, v1.HTTPTokensRequired
	return &MetadataOptions{
		HTTPEndpoint:            &endpoint,
		HTTPProtocolIPv6:        &ipv6,
		HTTPPutResponseHopLimit: &hops,
		HTTPTokens:              &tokens,
	}
}

// Default fills in what the node class leaves out: each member of the metadata options. Nothing that is set is changed;
// applying it twice is applying it once.
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

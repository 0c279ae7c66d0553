package v1

// DefaultMetadataOptions returns the default metadata options: the service is on, only over IPv4, tokens are required, and the hop
// limit of 1 keeps answers in the instance's own network. The caller owns what it points to.
func DefaultMetadataOptions() *MetadataOptions {
	endpoint, ipv6, hops, tokens := Enabled, Disabled, int64(1), HTTPTokensRequired
	return &MetadataOptions{
		HTTPEndpoint:            &endpoint,
		HTTPProtocolIPv6:        &ipv6,
		HTTPPutResponseHopLimit: &hops,
		HTTPTokens:              &tokens,
	}
}

// Default sets unset fields: each member of the metadata options, and in the status the kind and state of each capacity
// reservation. Values that are set stay unchanged; applying it twice has no further effect. The AMI family and the volumes are not set,
// because they are derived: see EffectiveAMIFamily and DefaultBlockDeviceMappings.
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
	for i := range c.Status.CapacityReservations {
		reservation := &c.Status.CapacityReservations[i]
		if reservation.ReservationType == "" {
			reservation.ReservationType = CapacityReservationTypeDefault
		}
		if reservation.State == "" {
			reservation.State = CapacityReservationStateActive
		}
	}
}

// Package transport limits the quantities in responses of the API server before a client decodes them. A quantity such as "1e-999999999"
// takes minutes to decode, and CustomResourceDefinitions of earlier releases allow it. A single NodePool with such a quantity would prevent
// an informer from ever listing other NodePools. This package replaces such a quantity by 0 before it is decoded, and logs the name of its
// object:
//
//	config.Wrap(transport.Bounded(logger))
//
// A NodePool with a limit of 0 launches nothing, and a volume of size 0 is refused. So no component acts on a quantity that could not be
// read. Stored objects stay unchanged, because the reconcilers write only patches of their own changes.
package transport

// Package transport bounds the quantities in responses of the API server before a client decodes them. A quantity such as
// "1e-999999999" takes minutes to decode, and CustomResourceDefinitions of earlier releases let it in: a single NodePool with one
// would keep an informer from ever listing the others. Here it is replaced by 0 on its way to the decoder, and its object is
// named in the log:
//
//	config.Wrap(transport.Bounded(logger))
//
// A NodePool whose limit reads 0 launches nothing, and a volume of size 0 is refused: so no component acts on an unreadable value. Stored
// objects stay unchanged, because the reconcilers write only patches of their own changes.
package transport

// Package conversion is the webhook by which an API server turns NodePools, NodeClaims and EC2NodeClasses of v1beta1 into those of
// v1 and back, so that a cluster can serve both while its manifests, tools and stored objects are moved to v1.
//
// Converter turns one object; Handler is the webhook around it, which speaks ConversionReview v1; Keeper makes the certificate
// that it is served with, keeps it in a Secret, renews it in time and tells the API server whom to trust; Files reads one that
// somebody else keeps. With controller-runtime:
//
//	keeper := &conversion.Keeper{Client: c, Namespace: "kube-system", Secret: "drawknife-webhook", DNSNames: conversion.ServiceNames("drawknife", "kube-system")}
//	if err := keeper.Ensure(ctx); err != nil {
//		return err
//	}
//	server := webhook.NewServer(webhook.Options{Port: 8443, TLSOpts: []func(*tls.Config){conversion.TLS(keeper)}})
//	server.Register(conversion.Path, &conversion.Handler{Converter: conversion.Converter{OwnerExpireAfter: conversion.FromPools(reader)}})
//
// # Nothing is lost
//
// Neither generation can say everything that the other can. What an object says and the other generation has no place for
// travels in an annotation, field by field: what the field is, and what it would be if the object were converted without it.
// On the way back the field is put in place again if the object still says what it said then; if somebody has changed that
// in the meantime, the change counts. An object that is read, written or stored in either generation is therefore the same
// afterwards, except for what was changed.
//
// What the generations' own annotations hold already (the kubelet block of a pool, the version of an image alias, that a class was
// Ubuntu's) is held by those. A converted object is not validated: a stored object must stay readable, and the code that uses it
// reports errors.
package conversion

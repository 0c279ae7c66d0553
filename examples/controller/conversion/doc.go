// Package conversion is the conversion webhook between v1beta1 and v1 of NodePools, NodeClaims and EC2NodeClasses. With this webhook, a
// cluster can serve both versions while its manifests, tools and stored objects are moved to v1.
//
// Converter converts one object. Handler is the webhook, for ConversionReview v1. Keeper creates the serving certificate, stores it in a
// Secret, renews it in time and writes the CA bundle to the CRDs. Files reads a certificate that another program manages. With
// controller-runtime:
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
// Each version has fields that the other version lacks. A conversion stores two values of each such field in an annotation: the field's
// value, and the value that the field would have after a conversion to the other version and back if there were no annotation. When the
// object is converted back, the field is restored if the object still has the second value. If the field was changed in the meantime, the
// changed value is used. So an object can be read, written or stored in either version, and nothing is lost.
//
// Karpenter's API itself has annotations for some values: the kubelet block of a pool, the version of an image alias, and the fact that a
// class was for Ubuntu. A converted object is not validated: a stored object must stay readable, and the code that uses it reports errors.
package conversion

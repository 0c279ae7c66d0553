package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/drawknife/drawknife/examples/controller/conversion"
	"github.com/drawknife/drawknife/examples/settings"
)

// servesBeta reports whether v1beta1 is served in addition to v1, which requires the conversion webhook.
func servesBeta(s settings.Settings) bool { return s.Planning.ServeBeta && !s.Process.DisableWebhook }

// webhookClient returns how the API server reaches the webhook, or nil without a webhook.
func webhookClient(s settings.Settings) *apiextensionsv1.WebhookClientConfig {
	if !servesBeta(s) {
		return nil
	}
	path, port := conversion.Path, int32(s.Process.WebhookPort)
	return &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{
		Namespace: s.Process.SystemNamespace, Name: s.Process.WebhookService, Path: &path, Port: &port,
	}}
}

// addWebhook makes the manager serve the webhook, with a certificate that the API server trusts. The returned Keeper is nil without a
// webhook, or if another program manages the certificate.
func addWebhook(ctx context.Context, config *rest.Config, options *ctrl.Options, s settings.Settings, log *slog.Logger) (*conversion.Keeper, error) {
	if !servesBeta(s) {
		return nil, nil
	}
	c, err := definitionsClient(config)
	if err != nil {
		return nil, err
	}
	server := webhook.Options{Port: s.Process.WebhookPort}
	if dir := s.Process.WebhookCertDir; dir != "" {
		server.CertDir = dir
		server.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.MinVersion = tls.VersionTLS12 }}
		options.WebhookServer = webhook.NewServer(server)
		bundle, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // the program that manages the certificate makes the API server trust it
		}
		if err != nil {
			return nil, fmt.Errorf("webhook-cert-dir: %w", err)
		}
		return nil, conversion.Trust(ctx, c, bundle, log)
	}
	keeper := &conversion.Keeper{
		Client: c, Namespace: s.Process.SystemNamespace, Secret: s.Process.WebhookService + "-webhook",
		DNSNames: conversion.ServiceNames(s.Process.WebhookService, s.Process.SystemNamespace), Logger: log,
	}
	if err := keeper.Ensure(ctx); err != nil {
		return nil, err
	}
	server.TLSOpts = []func(*tls.Config){conversion.TLS(keeper)}
	options.WebhookServer = webhook.NewServer(server)
	return keeper, nil
}

// registerWebhook registers the conversion handler with the server, and manages the certificate.
func registerWebhook(mgr ctrl.Manager, keeper *conversion.Keeper, s settings.Settings, log *slog.Logger) error {
	if !servesBeta(s) {
		return nil
	}
	server := mgr.GetWebhookServer()
	server.Register(conversion.Path, &conversion.Handler{
		// This reader has no cache, because the cache itself waits for the webhook if objects are stored as v1beta1.
		Converter: conversion.Converter{OwnerExpireAfter: conversion.FromPools(mgr.GetAPIReader())}, Logger: log,
	})
	if err := mgr.AddReadyzCheck("webhook", server.StartedChecker()); err != nil {
		return err
	}
	c, err := definitionsClient(mgr.GetConfig())
	if err != nil {
		return err
	}
	if err := mgr.Add(&conversion.Migrator{Client: c, Logger: log}); err != nil {
		return err
	}
	if keeper == nil {
		return nil
	}
	return mgr.Add(keeper)
}

// definitionsClient returns a client that reads and writes CustomResourceDefinitions and Secrets without a cache.
func definitionsClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(apiextensionsv1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

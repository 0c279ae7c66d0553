package conversion_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/examples/controller/conversion"
)

// shop is an API server with three definitions, of which the last goes through no webhook, and a clock.
type shop struct {
	t      *testing.T
	client client.WithWatch
	now    time.Time
}

func newShop(t *testing.T, funcs interceptor.Funcs) *shop {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(funcs)
	for i, name := range conversion.DefinitionNames() {
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if i < 2 {
			crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{}},
			}
		}
		builder = builder.WithObjects(crd)
	}
	return &shop{t: t, client: builder.Build(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (s *shop) keeper() *conversion.Keeper {
	return &conversion.Keeper{
		Client: s.client, Namespace: "kube-system", Secret: "webhook", DNSNames: append(conversion.ServiceNames("drawknife", "kube-system"), "127.0.0.1"),
		Clock: option.ClockFunc(func() time.Time { return s.now }),
	}
}

func (s *shop) secret() *corev1.Secret {
	s.t.Helper()
	secret := &corev1.Secret{}
	if err := s.client.Get(s.t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "webhook"}, secret); err != nil {
		s.t.Fatal(err)
	}
	return secret
}

// trusted are the certificates of the definition's bundle.
func (s *shop) trusted(i int) *x509.CertPool {
	s.t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := s.client.Get(s.t.Context(), client.ObjectKey{Name: conversion.DefinitionNames()[i]}, crd); err != nil {
		s.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if crd.Spec.Conversion != nil {
		pool.AppendCertsFromPEM(crd.Spec.Conversion.Webhook.ClientConfig.CABundle)
	}
	return pool
}

// shown is the certificate that is served, which the API server must trust now.
func (s *shop) shown(k *conversion.Keeper) *x509.Certificate {
	s.t.Helper()
	c, err := k.GetCertificate(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(c.Certificate[0])
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range []string{"drawknife.kube-system.svc", "127.0.0.1"} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: s.trusted(0), CurrentTime: s.now, DNSName: name}); err != nil {
			s.t.Errorf("the API server would not trust it as %s: %v", name, err)
		}
	}
	return leaf
}

func (s *shop) ensure(k *conversion.Keeper) {
	s.t.Helper()
	if err := k.Ensure(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// A certificate is made once, shared by replicas through the Secret, renewed before its end, and trusted at every moment: also one
// that another replica still shows after its authority was renewed.
func TestKeeperRenews(t *testing.T) {
	s := newShop(t, interceptor.Funcs{})
	first, second := s.keeper(), s.keeper()
	if _, err := first.GetCertificate(nil); !errors.Is(err, conversion.ErrNoCertificate) {
		t.Errorf("before the first call: %v", err)
	}
	s.ensure(first)
	s.ensure(second)
	made := s.shown(first)
	if !made.Equal(s.shown(second)) {
		t.Error("two replicas show two certificates")
	}
	if s.trusted(2).Equal(s.trusted(1)) || !s.trusted(0).Equal(s.trusted(1)) {
		t.Error("the bundle is not in those definitions alone that go through the webhook")
	}
	version := s.secret().ResourceVersion

	s.now = s.now.Add(59 * 24 * time.Hour)
	s.ensure(first)
	if s.secret().ResourceVersion != version || !s.shown(first).Equal(made) {
		t.Error("renewed while it was good for more than a month")
	}
	s.now = s.now.Add(2 * 24 * time.Hour)
	s.ensure(first)
	renewed := s.shown(first)
	if renewed.Equal(made) || !s.shown(second).Equal(made) {
		t.Error("not renewed a month before its end, or the other replica's is gone")
	}
	s.ensure(second)
	if !s.shown(second).Equal(renewed) {
		t.Error("the other replica renewed it again")
	}

	// The authority ends in less than a year: another one, and both are trusted while certificates of the old one are shown.
	for s.now.Before(time.Date(2029, 12, 1, 0, 0, 0, 0, time.UTC)) {
		s.now = s.now.Add(20 * 24 * time.Hour)
		s.ensure(first)
		s.ensure(second)
	}
	authority := s.secret().Data["ca.crt"]
	for string(s.secret().Data["ca.crt"]) == string(authority) {
		s.now = s.now.Add(24 * time.Hour)
		s.ensure(first)
	}
	s.shown(first)
	s.shown(second) // that of the old authority
	block, rest := pem.Decode(s.secret().Data["ca.crt"])
	if old, none := pem.Decode(rest); block == nil || old == nil || len(none) > 0 {
		t.Error("not two authorities are trusted")
	}
	if s.now.Before(time.Date(2029, 12, 20, 0, 0, 0, 0, time.UTC)) || s.now.After(time.Date(2030, 1, 5, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("renewed at %s", s.now)
	}
}

// What is in the Secret and can't be used is made again; a bundle that somebody took away is put back; other names get another
// certificate.
func TestKeeperRepairs(t *testing.T) {
	s := newShop(t, interceptor.Funcs{})
	if err := s.client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "webhook"}, Data: map[string][]byte{"ca.crt": []byte("x"), "tls.crt": []byte("y")},
	}); err != nil {
		t.Fatal(err)
	}
	k := s.keeper()
	s.ensure(k)
	was := s.shown(k)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := s.client.Get(t.Context(), client.ObjectKey{Name: conversion.DefinitionNames()[0]}, crd); err != nil {
		t.Fatal(err)
	}
	crd.Spec.Conversion.Webhook.ClientConfig.CABundle = nil
	if err := s.client.Update(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	s.ensure(k)
	if !s.shown(k).Equal(was) {
		t.Error("another certificate for no reason")
	}
	k.DNSNames = append(k.DNSNames, "other.kube-system.svc")
	s.ensure(k)
	if s.shown(k).Equal(was) {
		t.Error("other names, and the same certificate")
	}
	config := &tls.Config{}
	conversion.TLS(k)(config)
	if shown, err := config.GetCertificate(nil); err != nil || shown == nil || config.MinVersion != tls.VersionTLS12 {
		t.Errorf("TLS shows %v, %v", shown, err)
	}
}

// Another replica that writes first wins; an API server that fails is told of.
func TestKeeperGivesWay(t *testing.T) {
	var s *shop
	raced := false
	var broken error
	s = newShop(t, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
		if broken != nil {
			return broken
		}
		if _, isSecret := o.(*corev1.Secret); isSecret && !raced {
			raced = true
			other := s.keeper()
			if err := other.Ensure(ctx); err != nil {
				return err
			}
			return apierrors.NewAlreadyExists(corev1.Resource("secrets"), o.GetName())
		}
		return c.Create(ctx, o, options...)
	}})
	k := s.keeper()
	broken = apierrors.NewForbidden(corev1.Resource("secrets"), "webhook", errors.New("no"))
	if err := k.Ensure(t.Context()); !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
	broken = nil
	s.ensure(k)
	pair, err := tls.X509KeyPair(s.secret().Data["tls.crt"], s.secret().Data["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	if !raced || !s.shown(k).Equal(pair.Leaf) {
		t.Error("it shows what the Secret does not hold")
	}
}

package conversion

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/option"
)

// These are the keys of the Secret. The keys of the serving certificate are Kubernetes' standard keys.
const (
	authoritiesKey  = "ca.crt"
	authorityKeyKey = "ca.key"
)

// Keeper manages the webhook's certificate. It signs the certificate with its own authority, stores it in a Secret that all replicas share,
// renews it a month before it expires, and writes the authority to the CRDs as CA bundle. Its methods are safe for concurrent use once
// Ensure was called; several Keepers may share one Secret.
type Keeper struct {
	// Client reads and writes Secrets and CustomResourceDefinitions without a cache.
	Client client.Client
	// Namespace and Secret name the Secret with the certificate, which is created if it does not exist.
	Namespace, Secret string
	// DNSNames are the names and addresses of the webhook: see ServiceNames.
	DNSNames []string
	// Definitions are the names of the CustomResourceDefinitions that use the webhook; nil means DefinitionNames.
	Definitions []string
	// Clock is the clock. Nil means the real clock.
	Clock option.Clock
	// Logger receives log records of all actions; nil discards them.
	Logger *slog.Logger

	shown atomic.Pointer[tls.Certificate]
}

// ServiceNames returns the DNS names by which an API server calls a service.
func ServiceNames(service, namespace string) []string {
	return []string{service + "." + namespace + ".svc"}
}

// attempts is how often a write is tried when other replicas write at the same time.
const attempts = 5

// Ensure creates or renews the certificate if necessary, makes the API server trust it, and serves it from then on. Call it before serving,
// and then every few minutes; Start calls it regularly.
func (k *Keeper) Ensure(ctx context.Context) error {
	for range attempts {
		again, err := k.ensure(ctx)
		if err != nil {
			return fmt.Errorf("keeping the webhook's certificate in the Secret %s/%s: %w", k.Namespace, k.Secret, err)
		}
		if !again {
			return nil
		}
	}
	return fmt.Errorf("keeping the webhook's certificate in the Secret %s/%s: other clients keep changing it", k.Namespace, k.Secret)
}

func (k *Keeper) ensure(ctx context.Context) (again bool, err error) {
	secret := &corev1.Secret{}
	err = k.Client.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: k.Secret}, secret)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return false, err
	}
	kept, changed, err := keptCertificate{
		authorities: secret.Data[authoritiesKey], authorityKey: secret.Data[authorityKeyKey],
		serving: secret.Data[corev1.TLSCertKey], servingKey: secret.Data[corev1.TLSPrivateKeyKey],
	}.renewed(k.DNSNames, k.now())
	if err != nil {
		return false, err
	}
	// Publish the certificate of the authority before a certificate that the authority has signed is used.
	if err := putBundle(ctx, k.Client, k.definitions(), kept.authorities, k.log()); err != nil {
		return false, err
	}
	if changed {
		again, err := k.store(ctx, secret, kept, missing)
		if err != nil || again {
			return again, err
		}
		k.log().Info("stored new certificates of conversion webhook", "secret", k.Namespace+"/"+k.Secret)
	}
	pair, err := tls.X509KeyPair(kept.serving, kept.servingKey)
	if err != nil {
		return false, err
	}
	k.shown.Store(&pair)
	return false, nil
}

// store writes the Secret. If the Secret has changed since it was read, store writes nothing and its first result is true.
func (k *Keeper) store(ctx context.Context, secret *corev1.Secret, kept keptCertificate, missing bool) (again bool, err error) {
	next := secret.DeepCopy()
	next.Data = map[string][]byte{
		authoritiesKey: kept.authorities, authorityKeyKey: kept.authorityKey, corev1.TLSCertKey: kept.serving, corev1.TLSPrivateKeyKey: kept.servingKey,
	}
	if missing {
		next.ObjectMeta = metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Secret}
		err = k.Client.Create(ctx, next)
	} else {
		err = k.Client.Update(ctx, next)
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return true, nil
	}
	return false, err
}

// ErrNoCertificate is the error of a TLS handshake before Ensure succeeded.
var ErrNoCertificate = errors.New("there is no certificate yet")

// GetCertificate returns the serving certificate, for use in tls.Config.
func (k *Keeper) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c := k.shown.Load(); c != nil {
		return c, nil
	}
	return nil, ErrNoCertificate
}

// renewEvery is how often Start calls Ensure. The interval is short for three reasons. A certificate renewed by another replica must be
// served long before the old one expires. CRDs that are installed or replaced after the start need the CA bundle soon. And a replica may
// have stored its authority in a CRD, and stopped before it saw that the Secret has another authority.
const renewEvery = 5 * time.Minute

// Start calls Ensure every five minutes until ctx ends. Errors are logged and the call is repeated.
func (k *Keeper) Start(ctx context.Context) error {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := k.Ensure(ctx); err != nil && ctx.Err() == nil {
				k.log().Error("cannot check or renew certificate of conversion webhook, retrying", "error", err)
			}
		}
	}
}

// NeedLeaderElection is false: every replica serves.
func (k *Keeper) NeedLeaderElection() bool { return false }

func (k *Keeper) now() time.Time { return option.Time(k.Clock, time.Now) }

func (k *Keeper) log() *slog.Logger {
	if k.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return k.Logger
}

func (k *Keeper) definitions() []string {
	if k.Definitions == nil {
		return DefinitionNames()
	}
	return k.Definitions
}

// certified is a source of certificates, such as Keeper.
type certified interface {
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
}

// TLS returns a function that changes the TLS configuration of a server, so that it uses the certificates of the given source, such as a
// Keeper.
func TLS(from certified) func(*tls.Config) {
	return func(c *tls.Config) {
		c.MinVersion = tls.VersionTLS12
		c.GetCertificate = from.GetCertificate
	}
}

// sameBundle reports whether two bundles of certificates are equal except for surrounding white space.
func sameBundle(a, b []byte) bool { return bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b)) }

package conversion

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// These are the validity periods of certificates, and the times before expiry at which they are renewed. An authority outlives several
// certificates, so that the trust bundle does not change with each certificate.
const (
	authorityFor     = 5 * 365 * 24 * time.Hour
	authorityRenewed = 365 * 24 * time.Hour
	servingFor       = 90 * 24 * time.Hour
	servingRenewed   = 30 * 24 * time.Hour
	// skew is the assumed maximum clock difference.
	skew = time.Hour
)

// keptCertificate is the content of the Secret; all fields are PEM.
type keptCertificate struct {
	// authorities are the trusted authorities: the present one first, then the previous one while it is valid.
	authorities []byte
	// authorityKey signs certificates.
	authorityKey []byte
	// serving and servingKey are the webhook's serving certificate and key.
	serving, servingKey []byte
}

// renewed returns the certificates to store from now on, and whether they changed. Unreadable certificates are created again.
func (k keptCertificate) renewed(names []string, now time.Time) (keptCertificate, bool, error) {
	authority, key, err := parsePair(k.authorities, k.authorityKey)
	if err != nil || !goodFor(authority, now, authorityRenewed) {
		next, err := newAuthority(k.authorities, now)
		if err != nil {
			return k, false, err
		}
		k = next
		if authority, key, err = parsePair(k.authorities, k.authorityKey); err != nil {
			return k, false, err
		}
	} else if serving, _, err := parsePair(k.serving, k.servingKey); err == nil && goodFor(serving, now, servingRenewed) &&
		serving.CheckSignatureFrom(authority) == nil && slices.Equal(namesOf(serving), names) {
		return k, false, nil
	}
	k.serving, k.servingKey, err = newServing(authority, key, names, now)
	return k, true, err
}

// goodFor reports whether the certificate is valid now and stays valid for span.
func goodFor(c *x509.Certificate, now time.Time, span time.Duration) bool {
	return !now.Before(c.NotBefore) && now.Add(span).Before(c.NotAfter)
}

func namesOf(c *x509.Certificate) []string {
	out := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		out = append(out, ip.String())
	}
	return out
}

// parsePair reads the first certificate and its key.
func parsePair(certificates, key []byte) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	pair, err := tls.X509KeyPair(certificates, key)
	if err != nil {
		return nil, nil, err
	}
	private, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, errors.New("not an ECDSA key")
	}
	return pair.Leaf, private, nil
}

// newAuthority creates an authority. The previous authority stays trusted while it is valid, because other replicas may still serve its
// certificates.
func newAuthority(before []byte, now time.Time) (keptCertificate, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "drawknife conversion webhook authority"}, NotBefore: now.Add(-skew), NotAfter: now.Add(authorityFor),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	certificate, key, err := issue(template, nil, nil)
	if err != nil {
		return keptCertificate{}, err
	}
	out := keptCertificate{authorities: certificate, authorityKey: key}
	if block, _ := pem.Decode(before); block != nil {
		if old, err := x509.ParseCertificate(block.Bytes); err == nil && goodFor(old, now, 0) {
			out.authorities = append(bytes.Clone(certificate), pem.EncodeToMemory(block)...)
		}
	}
	return out, nil
}

func newServing(authority *x509.Certificate, key *ecdsa.PrivateKey, names []string, now time.Time) (certificate, servingKey []byte, err error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "drawknife conversion webhook"}, NotBefore: now.Add(-skew), NotAfter: now.Add(servingFor),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return issue(template, authority, key)
}

// issue makes a new key, and signs a certificate for it with parentKey; without a parent, the certificate is self-signed.
func issue(template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, nil, err
	}
	if parent == nil {
		parent, parentKey = template, private
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &private.PublicKey, parentKey)
	if err != nil {
		return nil, nil, fmt.Errorf("making a certificate: %w", err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), nil
}

package plane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authorityLifetime is the lifetime of all certificates. A control plane for tests runs for a shorter time.
const authorityLifetime = 30 * 24 * time.Hour

// authority signs the certificates of one control plane, for servers and for clients.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

// identity is a certificate and its key in PEM format.
type identity struct{ certificate, key []byte }

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "control plane for tests"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(authorityLifetime),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{certificate: certificate, key: key, pem: encode("CERTIFICATE", der)}, nil
}

// server returns the API server's identity, which is valid for all names of the server.
func (a *authority) server() (identity, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)},
	})
}

// client returns the identity of a user in groups.
func (a *authority) client(user string, groups ...string) (identity, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) issue(template *x509.Certificate) (identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return identity{}, err
	}
	template.NotBefore, template.NotAfter = a.certificate.NotBefore, a.certificate.NotAfter
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return identity{}, err
	}
	keyPEM, err := encodeKey(key)
	return identity{certificate: encode("CERTIFICATE", der), key: keyPEM}, err
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return encode("EC PRIVATE KEY", der), err
}

// credentials are the credentials that the test process itself uses.
type credentials struct {
	ca    []byte
	admin identity
}

// writeCredentials writes into a folder the keys, certificates and kubeconfigs that are named in the components' flags.
func writeCredentials(dir, server string) (credentials, error) {
	a, err := newAuthority()
	if err != nil {
		return credentials{}, err
	}
	serving, err := a.server()
	if err != nil {
		return credentials{}, err
	}
	signing, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return credentials{}, err
	}
	signingKey, err := encodeKey(signing)
	if err != nil {
		return credentials{}, err
	}
	signingPublic, err := x509.MarshalPKIXPublicKey(signing.Public())
	if err != nil {
		return credentials{}, err
	}
	files := map[string][]byte{
		"ca.crt":      a.pem,
		"serving.crt": serving.certificate,
		"serving.key": serving.key,
		"sa.key":      signingKey,
		"sa.pub":      encode("PUBLIC KEY", signingPublic),
	}
	c := credentials{ca: a.pem}
	for _, user := range []struct {
		file, name string
		groups     []string
	}{
		{file: adminKubeconfig, name: "admin", groups: []string{"system:masters"}}, // beyond RBAC
		// The API server's own bootstrap roles apply to these two users.
		{file: schedulerKubeconfig, name: "system:kube-scheduler"},
		{file: controllerManagerKubeconfig, name: "system:kube-controller-manager"},
	} {
		client, err := a.client(user.name, user.groups...)
		if err != nil {
			return credentials{}, err
		}
		if user.file == adminKubeconfig {
			c.admin = client
		}
		files[user.file] = kubeconfig(server, a.pem, client)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return credentials{}, err
		}
	}
	return c, nil
}

func kubeconfig(server string, ca []byte, client identity) []byte {
	base64 := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster: {server: %q, certificate-authority-data: %s}
users:
- name: test
  user: {client-certificate-data: %s, client-key-data: %s}
contexts:
- name: test
  context: {cluster: test, user: test}
`, server, base64(ca), base64(client.certificate), base64(client.key))
}

package plane

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// TestCredentials checks that each kubeconfig names the server and a client that the authority vouches for, that the server's
// certificate is good for its address, and that nobody else can read the keys.
func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	const server = "https://127.0.0.1:12345"
	c, err := writeCredentials(dir, server)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.ca) {
		t.Fatal("the authority has no certificate")
	}
	for file, want := range map[string]struct{ user, group string }{
		adminKubeconfig:             {"admin", "system:masters"},
		schedulerKubeconfig:         {user: "system:kube-scheduler"},
		controllerManagerKubeconfig: {user: "system:kube-controller-manager"},
	} {
		config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if config.Host != server {
			t.Errorf("%s names server %s, want %s", file, config.Host, server)
		}
		pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		client, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if got := client.Subject; got.CommonName != want.user || strings.Join(got.Organization, " ") != want.group {
			t.Errorf("%s is of %v, want user %q in group %q", file, got, want.user, want.group)
		}
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "serving.crt"), filepath.Join(dir, "serving.key"))
	if err != nil {
		t.Fatal(err)
	}
	serving, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := serving.Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.0.0.1"}); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v (%v)", entry.Name(), info.Mode(), err)
		}
	}
}

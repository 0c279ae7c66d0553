package sdk_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/drawknife/drawknife/aws/sdk"
)

// Behind a proxy that inspects TLS its authority is known from AWS_CA_BUNDLE, as the AWS command line has it.
func TestCertificateAuthorities(t *testing.T) {
	asked := false
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		w.WriteHeader(http.StatusPreconditionFailed)
		_, _ = w.Write([]byte(`<Response><Errors><Error><Code>DryRunOperation</Code><Message>fine</Message></Error></Errors><RequestID>r</RequestID></Response>`))
	}))
	defer server.Close()
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_CA_BUNDLE": bundle, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	clients, err := sdk.Load(t.Context(), sdk.Config{Region: "us-east-1", Endpoint: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := sdk.Probe(t.Context(), clients.EC2(sdk.Normal)); err != nil || !asked {
		t.Errorf("asked %t: %v", asked, err)
	}
}

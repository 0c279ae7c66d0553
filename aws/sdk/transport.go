package sdk

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// transport sends requests with its own copy of the body. The SDK closes its own body as soon as the answer arrives. Later reads of that
// body fail. But net/http may still read the rest of the body, and would close the connection in the middle of the answer if the read
// failed. Only servers that answer before they have read the whole body, such as test servers, cause this.
type transport struct{ next http.RoundTripper }

// newTransport returns the default transport with enough open connections for a burst of calls, and with the certificate authorities of
// the configured client (AWS_CA_BUNDLE).
func newTransport(loaded aws.HTTPClient) http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return transport{http.DefaultTransport}
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = 100
	if b, ok := loaded.(*awshttp.BuildableClient); ok {
		t.TLSClientConfig = b.GetTransport().TLSClientConfig.Clone()
	}
	return transport{t}
}

// RoundTrip implements http.RoundTripper. Requests to these services are small, so their bodies can be copied.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return t.next.RoundTrip(r)
	}
	content, err := io.ReadAll(r.Body)
	if closeErr := r.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("reading the request to be sent: %w", err)
	}
	own := r.Clone(r.Context())
	own.Body, own.ContentLength = io.NopCloser(bytes.NewReader(content)), int64(len(content))
	own.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	return t.next.RoundTrip(own)
}

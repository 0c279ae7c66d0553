package sdk

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// transport sends requests with a body of its own. The SDK closes the one it made as soon as there is an answer, and its
// reader then ends with an error where net/http, which may still be looking for the end of it, expects none: the connection
// is closed in the middle of the answer. That takes a server which answers at once, as those of tests do.
type transport struct{ next http.RoundTripper }

// newTransport is the default one with room for as many open connections as there are calls at once in a burst, and with
// the certificate authorities of the client that the configuration gave (AWS_CA_BUNDLE).
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

// RoundTrip implements http.RoundTripper. Requests of these services are small.
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

package top

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/drawknife/drawknife/commands/top/clusterreport"
)

const (
	// maxAnswer is the largest answer of the controller, in bytes.
	maxAnswer = 64 << 20
	// answerTimeout is how long an answer may take.
	answerTimeout = 15 * time.Second
)

// client reads the controller's report.
type client struct {
	url  string
	http *http.Client
	// lost returns an error if the way to the controller was lost for good; nil if it can't be lost.
	lost func() error
}

func newClient(url string) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = 1 << 20
	return &client{url: strings.TrimSuffix(url, "/") + clusterreport.Path, http: &http.Client{
		Transport: transport, Timeout: answerTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the status is then an error
	}}
}

// report reads the report.
func (c *client) report(ctx context.Context) (*clusterreport.Report, error) {
	if c.lost != nil {
		if err := c.lost(); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the controller: %w; forward its metrics port with \"kubectl -n NAMESPACE port-forward deploy/drawknife 8080\", or use --forward", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %q, not with a report: does a controller of this version listen there?", c.url, response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer of %s: %w", c.url, err)
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("the answer of %s has more than %d MiB", c.url, maxAnswer>>20)
	}
	out := &clusterreport.Report{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("the answer of %s is not a report: %w", c.url, err)
	}
	if out.APIVersion != clusterreport.APIVersion || out.Kind != clusterreport.Kind {
		return nil, fmt.Errorf("%s answers with apiVersion %q and kind %q, want %q and %q", c.url, clipped(out.APIVersion), clipped(out.Kind), clusterreport.APIVersion, clusterreport.Kind)
	}
	return out, nil
}

// clipped returns the beginning of a text of any length.
func clipped(text string) string { return text[:min(len(text), 80)] }

package transport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	buffersv1beta1 "github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/api/v1alpha1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
	"github.com/drawknife/drawknife/internal/quantities"
)

// Bounded returns a wrapper for rest.Config.Wrap. Each quantity out of bounds is logged once; a nil logger discards the records. The
// wrapper may be used for any number of transports at the same time.
func Bounded(logger *slog.Logger) func(http.RoundTripper) http.RoundTripper {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	r := &reporter{logger: logger, told: make(map[string]bool)}
	return func(next http.RoundTripper) http.RoundTripper { return &bounded{next: next, reporter: r} }
}

// A response is an object, a list or an event.
type (
	list[T any] struct {
		Items []T `json:"items"`
	}
	event[T any] struct {
		Object T `json:"object"`
	}
)

// forms are the types of a response: an object, a list of objects, or a watch event.
type forms [3]reflect.Type

func formsOf[T any]() forms {
	return forms{reflect.TypeFor[T](), reflect.TypeFor[list[T]](), reflect.TypeFor[event[T]]()}
}

// kinds returns the kinds whose CRDs may allow unbounded quantities, by group, version and resource.
func kinds() map[string]forms {
	return map[string]forms{
		v1.Group + "/v1/nodepools":                        formsOf[v1.NodePool](),
		v1.Group + "/v1/nodeclaims":                       formsOf[v1.NodeClaim](),
		v1.Group + "/v1alpha1/nodeoverlays":               formsOf[v1.NodeOverlay](),
		v1.Group + "/v1beta1/nodepools":                   formsOf[v1beta1.NodePool](),
		v1.Group + "/v1beta1/nodeclaims":                  formsOf[v1beta1.NodeClaim](),
		v1.Group + "/v1alpha5/provisioners":               formsOf[v1alpha5.Provisioner](),
		v1.Group + "/v1alpha5/machines":                   formsOf[v1alpha5.Machine](),
		awsv1.Group + "/v1/ec2nodeclasses":                formsOf[awsv1.EC2NodeClass](),
		awsv1.Group + "/v1beta1/ec2nodeclasses":           formsOf[awsv1beta1.EC2NodeClass](),
		awsv1.Group + "/v1alpha1/awsnodetemplates":        formsOf[v1alpha1.AWSNodeTemplate](),
		buffersv1beta1.Group + "/v1beta1/capacitybuffers": formsOf[buffersv1beta1.CapacityBuffer](),
	}
}

// resourceOf returns "group/version/resource" of a request's path, or "" if the path is not the path of an object in a group.
func resourceOf(path string) string {
	_, path, found := strings.Cut(path, "/apis/")
	parts := strings.Split(path, "/")
	if !found || len(parts) < 3 {
		return ""
	}
	if parts[2] == "namespaces" && len(parts) > 4 {
		parts[2] = parts[4]
	}
	return strings.Join(parts[:3], "/")
}

type bounded struct {
	next     http.RoundTripper
	reporter *reporter
}

// WrappedRoundTripper returns the wrapped transport, for callers that check its features.
func (b *bounded) WrappedRoundTripper() http.RoundTripper { return b.next }

// RoundTrip sends the request and bounds the quantities in the response.
func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(request)
	if err != nil || response.StatusCode >= http.StatusMultipleChoices {
		return response, err
	}
	of, known := kinds()[resourceOf(request.URL.Path)]
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if !known || err != nil || kind != "application/json" {
		return response, nil
	}
	resource := resourceOf(request.URL.Path)
	if watch, _ := strconv.ParseBool(request.URL.Query().Get("watch")); watch {
		response.Body = &stream{body: response.Body, lines: bufio.NewReader(response.Body), bound: func(text []byte) []byte { return b.bound(resource, text, of) }}
		return response, nil
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading the answer of the API server: %w", err)
	}
	text = b.bound(resource, text, of)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return response, nil
}

// bound replaces quantities out of bounds in a response.
func (b *bounded) bound(resource string, text []byte, of forms) []byte {
	for _, form := range of {
		replaced, found := quantities.Bound(text, form)
		if len(found) > 0 {
			b.reporter.report(resource, text, found)
		}
		text = replaced
	}
	return text
}

// stream passes on the events of a watch one after another: each event is one line.
type stream struct {
	body  io.Closer
	lines *bufio.Reader
	bound func([]byte) []byte
	rest  []byte
	err   error
}

// Read returns the rest of the current event, or waits for the next event.
func (s *stream) Read(into []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		var line []byte
		line, s.err = s.lines.ReadBytes('\n')
		s.rest = s.bound(line)
	}
	n := copy(into, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close ends the watch.
func (s *stream) Close() error { return s.body.Close() }

// reporter logs each quantity once.
type reporter struct {
	logger *slog.Logger

	mu   sync.Mutex
	told map[string]bool
}

// mostTold is how many logged quantities are remembered.
const mostTold = 10_000

func (r *reporter) report(resource string, text []byte, found []quantities.Found) {
	type named struct {
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	var answer struct {
		named
		Items  []named `json:"items"`
		Object named   `json:"object"`
	}
	_ = json.Unmarshal(text, &answer) // an unreadable object has no name
	for _, f := range found {
		object, path := answer.named, f.Path
		if rest, ok := strings.CutPrefix(path, "object."); ok {
			object, path = answer.Object, rest
		} else if index, rest, ok := strings.Cut(strings.TrimPrefix(path, "items["), "]."); ok && strings.HasPrefix(path, "items[") {
			if i, err := strconv.Atoi(index); err == nil && i < len(answer.Items) {
				object, path = answer.Items[i], rest
			}
		}
		name := strings.TrimPrefix(object.Metadata.Namespace+"/"+object.Metadata.Name, "/")
		if !r.first(resource + " " + name + " " + path + " " + f.Text) {
			continue
		}
		r.logger.Error("cannot read quantity, using 0", "resource", resource, "object", name, "field", path, "value", f.Text,
			"cure", fmt.Sprintf("write at most %d characters and an exponent from -%d to %d", quantities.MaxLength, quantities.MaxExponent, quantities.MaxExponent))
	}
}

func (r *reporter) first(what string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told[what] {
		return false
	}
	if len(r.told) >= mostTold {
		clear(r.told)
	}
	r.told[what] = true
	return true
}

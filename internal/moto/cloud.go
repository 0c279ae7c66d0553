package moto

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Call is one request to the cloud.
type Call struct {
	// Action is AWS's name of the call: "CreateFleet".
	Action string
	// Form are the parameters, for services such as EC2 whose requests are forms; empty for others.
	Form url.Values
	// Body is the body of the request.
	Body []byte

	handled bool // used up by a handler of HandleNext
}

// Answer is the answer to a request.
type Answer struct {
	// Status of the HTTP answer.
	Status int
	// Body of it.
	Body []byte
	// Cut ends the connection: before the answer if Body is empty, otherwise in the middle of the answer.
	Cut bool
	// Header of the answer; nil means the header of an XML answer.
	Header http.Header
}

// Handler answers a call itself, or passes it on by calling next: first to the handlers that were added before it, finally to moto.
type Handler func(call Call, next func(Call) Answer) Answer

// Cloud is moto behind a proxy. It differs from moto in these points:
//
//   - CreateFleet with a client token that was used gives the answer of the first call, or IdempotentParameterMismatch when
//     the request is another, as EC2 does; moto launches again.
//   - GetProducts and DescribeCapacityReservations, which moto lacks, have empty answers until Handle sets others.
//   - DescribeInstanceTypes as a dry run is refused with DryRunOperation, which says that it would succeed; moto gives all
//     types.
//   - What moto knows of instance types is the same after a reset, and takes it seconds to tell, so it is asked once for all
//     tests of a Server.
type Cloud struct {
	proxy  *httptest.Server
	target *url.URL
	facts  *facts

	mu       sync.Mutex
	handlers []entry
	calls    []Call
	fleets   map[string]fleet
}

// entry is a handler for an action.
type entry struct {
	action  string
	handler Handler
}

type fleet struct {
	request string
	answer  Answer
}

// facts are answers that don't change, by the form of the request.
type facts struct {
	mu      sync.Mutex
	answers map[string]Answer
}

// remember returns a stored answer, or gets the answer and stores it.
func (f *facts) remember(call Call, next func(Call) Answer) Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := call.Form.Encode()
	answer, known := f.answers[key]
	if !known {
		if answer = next(call); answer.Status == http.StatusOK {
			f.answers[key] = answer
		}
	}
	return answer
}

func newCloud(t testing.TB, target *url.URL, f *facts) *Cloud {
	c := &Cloud{target: target, facts: f, fleets: map[string]fleet{}}
	c.Handle("DescribeInstanceTypes", f.remember)
	c.Handle("DescribeInstanceTypes", func(call Call, next func(Call) Answer) Answer {
		if call.Form.Get("DryRun") == "true" {
			return Refusal(http.StatusPreconditionFailed, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
		}
		return next(call)
	})
	c.Handle("DescribeInstanceTypeOfferings", f.remember)
	c.Handle("DescribeSpotPriceHistory", func(call Call, next func(Call) Answer) Answer {
		asked := call
		asked.Form = maps.Clone(call.Form)
		asked.Form.Del("StartTime") // is now
		return f.remember(asked, func(Call) Answer { return next(call) })
	})
	c.proxy = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.proxy.Close)
	c.Handle("CreateFleet", c.onceForEachToken)
	c.Handle("DescribeCapacityReservations", func(Call, func(Call) Answer) Answer {
		return XML(`<DescribeCapacityReservationsResponse><capacityReservationSet/></DescribeCapacityReservationsResponse>`)
	})
	c.Handle("GetProducts", func(Call, func(Call) Answer) Answer { return JSON(`{"FormatVersion":"aws_v1","PriceList":[]}`) })
	return c
}

// URL returns the endpoint of all services.
func (c *Cloud) URL() string { return c.proxy.URL }

// XML returns a successful answer of a service that uses XML.
func XML(body string) Answer { return Answer{Status: http.StatusOK, Body: []byte(body)} }

// JSON returns a successful answer of a service that uses JSON.
func JSON(body string) Answer {
	return Answer{Status: http.StatusOK, Body: []byte(body), Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}}
}

// Refusal returns an answer with an EC2 error.
func Refusal(status int, code, message string) Answer {
	return Answer{Status: status, Body: fmt.Appendf(nil,
		`<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>injected</RequestID></Response>`, code, message)}
}

// Handle adds a handler for all calls of an action. Handlers are called in reverse order, the last one first.
func (c *Cloud) Handle(action string, h Handler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handlers = append(c.handlers, entry{action, h})
}

// HandleNext is Handle for a number of calls; after these, the handler passes all calls on. A call uses at most one such handler, so
// faults occur in the order in which they were added.
func (c *Cloud) HandleNext(action string, times int, h Handler) {
	left := times
	c.Handle(action, func(call Call, next func(Call) Answer) Answer {
		c.mu.Lock()
		use := left > 0 && !call.handled
		if use {
			left--
		}
		c.mu.Unlock()
		if !use {
			return next(call)
		}
		call.handled = true
		return h(call, next)
	})
}

// Fail refuses the next calls of an action with an EC2 error.
func (c *Cloud) Fail(action string, times, status int, code, message string) {
	c.HandleNext(action, times, func(Call, func(Call) Answer) Answer { return Refusal(status, code, message) })
}

// Lose makes the next calls of an action succeed without an answer: the connection ends before it.
func (c *Cloud) Lose(action string, times int) {
	c.HandleNext(action, times, func(call Call, next func(Call) Answer) Answer {
		next(call)
		return Answer{Cut: true}
	})
}

// CutOff ends the answers to the next calls of an action in the middle.
func (c *Cloud) CutOff(action string, times int) {
	c.HandleNext(action, times, func(call Call, next func(Call) Answer) Answer {
		answer := next(call)
		answer.Cut = true
		return answer
	})
}

// Calls returns how often an action was called, including retries. An empty action means all actions.
func (c *Cloud) Calls(action string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, call := range c.calls {
		if action == "" || call.Action == action {
			n++
		}
	}
	return n
}

// Count returns how often each action was called since the last Count, including retries.
func (c *Cloud) Count() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	count := map[string]int{}
	for _, call := range c.calls {
		count[call.Action]++
	}
	c.calls = nil
	return count
}

func (c *Cloud) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has closed the connection
	}
	call := Call{Body: body}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		call.Form, _ = url.ParseQuery(string(body))
		call.Action = call.Form.Get("Action")
	}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		call.Action = target[strings.LastIndexByte(target, '.')+1:]
	}
	c.mu.Lock()
	c.calls = append(c.calls, call)
	var chain []Handler
	for _, e := range c.handlers {
		if e.action == call.Action {
			chain = append(chain, e.handler)
		}
	}
	c.mu.Unlock()
	answer := c.through(r, chain, call)
	c.write(w, answer)
}

// through calls the handlers, the last one first, and then moto.
func (c *Cloud) through(r *http.Request, chain []Handler, call Call) Answer {
	if len(chain) == 0 {
		return c.forward(r, call)
	}
	last := len(chain) - 1
	return chain[last](call, func(call Call) Answer { return c.through(r, chain[:last], call) })
}

// forward asks moto. If a handler has changed the form, the changed form is sent; moto checks no signatures. It does not use the
// request's context, because a cloud carries out a request even if the caller no longer waits.
func (c *Cloud) forward(r *http.Request, call Call) Answer {
	body := call.Body
	if call.Form != nil {
		body = []byte(call.Form.Encode())
	}
	to := *c.target
	to.Path, to.RawQuery = r.URL.Path, r.URL.RawQuery
	request, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, to.String(), bytes.NewReader(body))
	if err != nil {
		return Refusal(http.StatusBadGateway, "Proxy", err.Error())
	}
	request.Header = r.Header.Clone()
	request.Header.Del("Accept-Encoding") // uncompressed, because handlers read the answer
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Refusal(http.StatusBadGateway, "Proxy", err.Error())
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return Refusal(http.StatusBadGateway, "Proxy", err.Error())
	}
	return Answer{Status: response.StatusCode, Body: content, Header: response.Header}
}

func (c *Cloud) write(w http.ResponseWriter, a Answer) {
	if a.Cut && len(a.Body) == 0 {
		hangUp(w)
		return
	}
	if kind := a.Header.Get("Content-Type"); kind != "" {
		w.Header().Set("Content-Type", kind)
	} else {
		w.Header().Set("Content-Type", "text/xml")
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(a.Body)))
	w.WriteHeader(a.Status)
	if a.Cut {
		_, _ = w.Write(a.Body[:len(a.Body)/2])
		_ = http.NewResponseController(w).Flush()
		hangUp(w)
		return
	}
	_, _ = w.Write(a.Body)
}

// hangUp ends the connection without an answer.
func hangUp(w http.ResponseWriter) {
	if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = connection.Close()
	}
}

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

// Call is one request to the simulated cloud.
type Call struct {
	// Action is AWS's name of the call: "CreateFleet".
	Action string
	// Form has the parameters if the service's requests are forms, as for EC2. It is empty for other services.
	Form url.Values
	// Body is the body of the request.
	Body []byte

	handled bool // true if a handler of HandleNext has used the call
}

// Answer is the HTTP answer to a Call.
type Answer struct {
	// Status is the status code of the HTTP answer.
	Status int
	// Body is the body of the answer.
	Body []byte
	// Cut means that the connection ends before the answer is complete: before the answer if Body is empty, or else in the middle of Body.
	Cut bool
	// Header is the header of the answer. Nil means the usual header of an XML answer.
	Header http.Header
}

// Handler answers a call itself, or passes the call on by calling next. In this case, the call goes to the handlers that were added before
// this handler, and finally to moto.
type Handler func(call Call, next func(Call) Answer) Answer

// Cloud is a moto server behind a proxy. It differs from moto in these points:
//
//   - As in EC2, CreateFleet with a client token that was used before returns the answer of the first call, or IdempotentParameterMismatch
//     if the request is different. moto alone would launch instances again.
//   - GetProducts and DescribeCapacityReservations, which moto lacks, have empty answers until a handler for them is added.
//   - DescribeInstanceTypes as a dry run is refused with DryRunOperation, which means that the call would succeed. moto alone would return
//     all types.
//   - moto needs seconds to describe its instance types, which are the same after a reset. Therefore they are requested only once for all
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

// entry is a handler with the action whose calls it handles.
type entry struct {
	action  string
	handler Handler
}

type fleet struct {
	request string
	answer  Answer
}

// facts caches answers that never change, by the form of the request.
type facts struct {
	mu      sync.Mutex
	answers map[string]Answer
}

// remember returns the cached answer to the call. If no answer is cached, it gets the answer from next and caches it.
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
		asked.Form.Del("StartTime") // this parameter is always the current time, so that it must not be part of the key
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

// URL returns the endpoint, which is the same for all services.
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

// Handle adds a handler for all calls of an action. Handlers are called in the reverse order in which they were added: the handler that was
// added last is called first.
func (c *Cloud) Handle(action string, h Handler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handlers = append(c.handlers, entry{action, h})
}

// HandleNext is like Handle, but only for the next calls of the action; times is the number of these calls. After these calls, the handler
// passes all calls on. Each call is used by at most one handler of HandleNext, so faults occur in the order in which they were added.
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

// Fail refuses the next calls of an action with an EC2 error; times is the number of these calls.
func (c *Cloud) Fail(action string, times, status int, code, message string) {
	c.HandleNext(action, times, func(Call, func(Call) Answer) Answer { return Refusal(status, code, message) })
}

// Lose ends the connections of the next calls of an action before the answer, although the calls succeed. times is the number of these
// calls.
func (c *Cloud) Lose(action string, times int) {
	c.HandleNext(action, times, func(call Call, next func(Call) Answer) Answer {
		next(call)
		return Answer{Cut: true}
	})
}

// CutOff ends the connections of the next calls of an action in the middle of the answer. times is the number of these calls.
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

// through passes the call through the handlers of the chain, beginning with the last handler, and finally to moto.
func (c *Cloud) through(r *http.Request, chain []Handler, call Call) Answer {
	if len(chain) == 0 {
		return c.forward(r, call)
	}
	last := len(chain) - 1
	return chain[last](call, func(call Call) Answer { return c.through(r, chain[:last], call) })
}

// forward sends the call to moto. If a handler has changed the form, it sends the changed form. This is possible because moto checks no
// signatures. It does not use the request's context, because a cloud carries out a request even if the caller has stopped waiting.
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
	request.Header.Del("Accept-Encoding") // the answer must not be compressed, because handlers read it
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

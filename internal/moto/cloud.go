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
	// Action is AWS's name of it: "CreateFleet".
	Action string
	// Form are the parameters of services that take a form, EC2 among them; empty for others.
	Form url.Values
	// Body as it was sent.
	Body []byte

	handled bool // by a handler of HandleNext
}

// Answer is what a request gets.
type Answer struct {
	// Status of the HTTP answer.
	Status int
	// Body of it.
	Body []byte
	// Cut ends the connection: before the answer when Body is empty, in the middle of it otherwise.
	Cut bool
	// Header of it; nil: of an XML answer.
	Header http.Header
}

// Handler answers a call itself, or passes it on with next: to the handlers that were added before it and at last to moto.
type Handler func(call Call, next func(Call) Answer) Answer

// Cloud is moto with a proxy before it. It differs from moto alone in this:
//
//   - CreateFleet with a client token that was used gives the answer of the first call, or IdempotentParameterMismatch when
//     the request is another, as EC2 does; moto launches again.
//   - GetProducts and DescribeCapacityReservations, which moto lacks, have answers without content until Handle gives others.
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

// facts are answers that don't change, by the form that asked for them.
type facts struct {
	mu      sync.Mutex
	answers map[string]Answer
}

// remember answers from what is known, or asks.
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

// URL is the endpoint of all services.
func (c *Cloud) URL() string { return c.proxy.URL }

// XML is a successful answer of services that speak it.
func XML(body string) Answer { return Answer{Status: http.StatusOK, Body: []byte(body)} }

// JSON is a successful answer of services that speak it.
func JSON(body string) Answer {
	return Answer{Status: http.StatusOK, Body: []byte(body), Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}}
}

// Refusal is an EC2 error.
func Refusal(status int, code, message string) Answer {
	return Answer{Status: status, Body: fmt.Appendf(nil,
		`<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>injected</RequestID></Response>`, code, message)}
}

// Handle has all calls of an action answered by a handler. The last one added is asked first.
func (c *Cloud) Handle(action string, h Handler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handlers = append(c.handlers, entry{action, h})
}

// HandleNext is Handle for so many calls only; after these the handler passes on what comes. A call uses up one such
// handler at most, so that faults added one after the other come one after the other.
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

// Lose has the next calls of an action succeed, without the caller learning of it: the connection is cut before the
// answer.
func (c *Cloud) Lose(action string, times int) {
	c.HandleNext(action, times, func(call Call, next func(Call) Answer) Answer {
		next(call)
		return Answer{Cut: true}
	})
}

// CutOff has the answers to the next calls of an action end in the middle.
func (c *Cloud) CutOff(action string, times int) {
	c.HandleNext(action, times, func(call Call, next func(Call) Answer) Answer {
		answer := next(call)
		answer.Cut = true
		return answer
	})
}

// Calls is how often an action was called, retries included; all actions when it is empty.
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

// Count is how often each action was called since the last time, retries included.
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
		return // the caller has gone
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

// through asks the handlers, the last first, and then moto.
func (c *Cloud) through(r *http.Request, chain []Handler, call Call) Answer {
	if len(chain) == 0 {
		return c.forward(r, call)
	}
	last := len(chain) - 1
	return chain[last](call, func(call Call) Answer { return c.through(r, chain[:last], call) })
}

// forward asks moto. A form that a handler has changed is sent as it is now; moto checks no signatures. The request's own
// context is not used: what was sent to a cloud is done, whether the caller waits or not.
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
	request.Header.Del("Accept-Encoding") // handlers want to read the answer
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

// hangUp ends the connection as it is.
func hangUp(w http.ResponseWriter) {
	if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = connection.Close()
	}
}

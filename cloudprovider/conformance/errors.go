package conformance

import (
	"context"
	"errors"
	"reflect"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func errorClauses() []clause {
	return []clause{
		{"CP-ERROR-01", Core, "trouble has its kind", (*lab).errorKinds},
		{"CP-ERROR-02", Core, "kinds carry their data, through any wrapping", (*lab).errorData},
		{"CP-ERROR-03", Core, "what is not understood is transient", (*lab).errorUnexplained},
		{"CP-ERROR-04", Core, "throttling says how long to wait", (*lab).errorRetryAfter},
		{"CP-ERROR-05", Core, "a refused permission is named", (*lab).errorPermission},
		{"CP-ERROR-06", Core, "of several causes all are kept", (*lab).errorCauses},
		{"CP-ERROR-07", Core, "an ended context is told from trouble", (*lab).errorContext},
	}
}

// call is one method of the provider, called with suitable arguments.
type call struct {
	method Method
	make   func(context.Context) error
}

// calls returns one call for each method of the provider, for an instance that exists.
func (l *lab) calls(instance *v1.NodeClaim) []call {
	all := []call{
		{MethodInstanceTypes, func(ctx context.Context) error { _, err := l.Provider.InstanceTypes(ctx, l.NodePool); return err }},
		{MethodCreate, func(ctx context.Context) error {
			created, err := l.Provider.Create(ctx, l.claim())
			if err == nil {
				l.own(created)
			}
			return err
		}},
		{MethodGet, func(ctx context.Context) error { _, err := l.Provider.Get(ctx, instance.Status.ProviderID); return err }},
		{MethodList, func(ctx context.Context) error { _, err := l.Provider.List(ctx); return err }},
	}
	if detector, ok := cloudprovider.As[cloudprovider.DriftDetector](l.Provider); ok {
		all = append(all, call{MethodIsDrifted, func(ctx context.Context) error { _, err := detector.IsDrifted(ctx, l.specOf(instance)); return err }})
	}
	if classes, ok := cloudprovider.As[cloudprovider.NodeClassStatus](l.Provider); ok {
		all = append(all, call{MethodNodeClassStatus, func(ctx context.Context) error { _, err := classes.NodeClassStatus(ctx, l.NodeClass); return err }})
	}
	// Delete comes last, because it terminates the instance.
	return append(all, call{MethodDelete, func(ctx context.Context) error { return l.Provider.Delete(ctx, instance) }})
}

// specOf returns the claim as a caller holds it: the result of Create, with the node class in its spec.
func (l *lab) specOf(instance *v1.NodeClaim) *v1.NodeClaim {
	claim := instance.DeepCopy()
	claim.Spec.NodeClassRef = l.NodeClass
	return claim
}

// struck makes each call while the fault is injected, and calls look(call, err) with the call and its error. It skips calls for which the
// cloud can't produce the fault, and calls that succeed because they don't use the cloud. If it skips all calls, it skips the clause.
func (l *lab) struck(fault Fault, look func(call, error)) {
	instance := l.create(l.claim())
	met, skipped := 0, error(nil)
	for _, c := range l.calls(instance) {
		fault.Method = c.method
		heal, err := l.inject(fault)
		if err != nil {
			skipped = err
			continue
		}
		err = c.make(l.Context())
		heal()
		if err == nil {
			continue
		}
		met++
		look(c, err)
	}
	if met == 0 {
		if skipped == nil {
			skipped = errors.New("no method of the provider asks the cloud")
		}
		l.Skip(skipped)
	}
}

// kindsOfAnyMethod returns the kinds of errors that the cloud can return for any call.
func kindsOfAnyMethod() []cloudprovider.ErrorKind {
	return []cloudprovider.ErrorKind{cloudprovider.Throttled, cloudprovider.Unauthorized, cloudprovider.Transient, cloudprovider.Permanent}
}

func (l *lab) errorKinds() {
	if l.Inject == nil {
		l.Skip("needs the hook Inject")
	}
	for _, kind := range kindsOfAnyMethod() {
		examined := examine(l.TB, l.Name(), l.options.Deadline, func(p *probe) {
			sub := l.session.newLab(p)
			sub.struck(Fault{Kind: kind}, func(c call, err error) {
				if got := cloudprovider.KindOf(err); got != kind && !keeps(c.method, err, kind) {
					p.Errorf("%s meets %s, and its error has kind %s: %v", c.method, kind, got, err)
				}
			})
		})
		for _, fault := range examined.faults {
			l.Error(fault)
		}
	}
	for _, kind := range []cloudprovider.ErrorKind{cloudprovider.QuotaExceeded, cloudprovider.CreateFailed} {
		heal, err := l.inject(Fault{Method: MethodCreate, Kind: kind})
		if err != nil {
			continue
		}
		if _, err := l.tryCreate(l.claim()); err != nil && cloudprovider.KindOf(err) != kind {
			l.Errorf("Create meets %s, and its error has kind %s: %v", kind, cloudprovider.KindOf(err), err)
		}
		heal()
	}
}

// keeps reports whether err is an error of Create with two kinds: CreateFailed, which a condition of a NodeClaim can show, and the given
// kind. An error without a kind is transient.
func keeps(method Method, err error, kind cloudprovider.ErrorKind) bool {
	if method != MethodCreate || cloudprovider.KindOf(err) != cloudprovider.CreateFailed {
		return false
	}
	return errors.Is(err, kind) || kind == cloudprovider.Transient && !cloudprovider.IsPermanent(err)
}

func (l *lab) errorData() {
	if l.Inject == nil {
		l.Skip("needs the hook Inject")
	}
	for _, kind := range kindsOfAnyMethod() {
		heal, err := l.inject(Fault{Method: MethodList, Kind: kind})
		if err != nil {
			continue
		}
		_, err = l.Provider.List(l.Context())
		heal()
		if err == nil || cloudprovider.KindOf(err) != kind {
			continue // CP-ERROR-01 covers this
		}
		wrapped := errors.Join(errors.New("one more"), err)
		if !errors.Is(wrapped, kind) || !errors.As(wrapped, dataOf(kind)) {
			l.Errorf("the error of kind %s is no %s for errors.As: %v", kind, reflect.TypeOf(dataOf(kind)).Elem(), err)
		}
	}
	gone := l.claim()
	err := l.Provider.Delete(l.Context(), gone)
	var notFound *cloudprovider.NodeClaimNotFoundError
	if cloudprovider.IsNodeClaimNotFound(err) && !errors.As(err, &notFound) {
		l.Errorf("the error of kind %s is no *NodeClaimNotFoundError for errors.As: %v", cloudprovider.NodeClaimNotFound, err)
	}
}

// dataOf returns a target for errors.As: a pointer to a variable of the error type of a kind.
func dataOf(kind cloudprovider.ErrorKind) any {
	switch kind {
	case cloudprovider.Throttled:
		return new(*cloudprovider.ThrottledError)
	case cloudprovider.Unauthorized:
		return new(*cloudprovider.UnauthorizedError)
	case cloudprovider.Permanent:
		return new(*cloudprovider.PermanentError)
	}
	return new(*cloudprovider.TransientError)
}

func (l *lab) errorUnexplained() {
	l.struck(Fault{}, func(c call, err error) {
		if !cloudprovider.IsTransient(err) && !keeps(c.method, err, cloudprovider.Transient) {
			l.Errorf("%s met an error that nobody explains, and gives kind %s: %v", c.method, cloudprovider.KindOf(err), err)
		}
	})
}

// retryAfter is an unusual duration, so that it can't occur by chance.
const retryAfter = 17 * time.Second

func (l *lab) errorRetryAfter() {
	l.struck(Fault{Kind: cloudprovider.Throttled, RetryAfter: retryAfter}, func(c call, err error) {
		if wait, told := cloudprovider.RetryAfter(err); cloudprovider.IsThrottled(err) && (!told || wait < retryAfter) {
			l.Errorf("%s was throttled for %s, and its error says %s: %v", c.method, retryAfter, wait, err)
		}
	})
}

func (l *lab) errorPermission() {
	l.struck(Fault{Kind: cloudprovider.Unauthorized}, func(c call, err error) {
		var refused *cloudprovider.UnauthorizedError
		if errors.As(err, &refused) && refused.Action == "" {
			l.Errorf("%s was refused, and its error does not name the permission: %v", c.method, err)
		}
	})
}

func (l *lab) errorCauses() {
	l.struck(Fault{Kind: cloudprovider.Throttled, Also: cloudprovider.Unauthorized}, func(c call, err error) {
		if errors.Is(err, cloudprovider.Throttled) != errors.Is(err, cloudprovider.Unauthorized) {
			l.Errorf("%s failed because it was throttled and because it was refused, and its error states one of them: %v", c.method, err)
		}
	})
}

func (l *lab) errorContext() {
	instance := l.create(l.claim())
	ended, cancel := context.WithCancel(l.Context())
	cancel()
	late, cancelLate := context.WithTimeout(l.Context(), 0)
	defer cancelLate()
	for _, ctx := range []context.Context{ended, late} {
		for _, c := range l.calls(instance) {
			if err := c.make(ctx); err != nil && !errors.Is(err, ctx.Err()) {
				l.Errorf("%s with a context that has ended (%v): %v", c.method, ctx.Err(), err)
			}
		}
	}
}

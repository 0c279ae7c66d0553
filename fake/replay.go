package fake

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Replay makes a cloud from the types and options. Then it repeats the calls and changes of a log at the times of their events. It returns
// the resulting cloud and its log. If the types and options are those of the first cloud, including the seed of the fault model, both logs
// are equal, even if several goroutines have called the first cloud. The new cloud has its own clock. Options.OnEvent is also called. If
// the log is incomplete, it returns an error.
func Replay(types []*cloudprovider.InstanceType, options Options, log []Event) (*Cloud, []Event, error) {
	if len(log) == 0 || log[0].Name != "Open" {
		return nil, nil, errors.New(`replaying a log: its first event is not "Open": pass OnEvent to New, and store all events`)
	}
	clock := NewSimClock(log[0].At)
	var replayed []Event
	told := options.OnEvent
	options.Clock = clock
	options.OnEvent = func(e Event) {
		replayed = append(replayed, e)
		if told != nil {
			told(e)
		}
	}
	cloud, err := New(types, options)
	if err != nil {
		return nil, nil, fmt.Errorf("replaying a log: %w", err)
	}
	for i, e := range log[1:] {
		if e.Seq != i+2 {
			return nil, nil, fmt.Errorf("replaying a log: event %d follows event %d: some are missing", e.Seq, i+1)
		}
		clock.AdvanceTo(e.At)
		if err := cloud.ForCluster(e.Cluster).again(e); err != nil {
			return nil, nil, fmt.Errorf("replaying a log: event %d: %w", e.Seq, err)
		}
	}
	return cloud, replayed, nil
}

// again repeats the call or change of an event; it ignores happenings, which follow from calls and changes. The new log contains the result
// of the repeated call or change.
func (c *Cloud) again(e Event) error {
	switch e.Kind {
	case EventCall:
		return c.callAgain(e)
	case EventLever:
		return c.leverAgain(e)
	case EventHappening:
		return nil
	}
	return fmt.Errorf("there is no kind %q of events", e.Kind)
}

func (c *Cloud) callAgain(e Event) error {
	ctx, claim := context.Background(), (*v1.NodeClaim)(nil)
	if !e.On {
		claim = &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: e.Text}, Status: v1.NodeClaimStatus{ProviderID: e.ProviderID}}
	}
	switch Method(e.Name) {
	case MethodInstanceTypes:
		var pool *v1.NodePool
		if e.NodeClass != nil {
			pool = &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: e.Text}}
			pool.Spec.Template.Spec.NodeClassRef = *e.NodeClass
		}
		_, _ = c.InstanceTypes(ctx, pool)
	case MethodCreate:
		claim = nil
		if len(e.Claims) > 0 {
			claim = e.Claims[0]
		}
		_, _ = c.Create(ctx, claim)
	case MethodCreateGroup:
		_, _ = c.CreateGroup(ctx, e.Claims)
	case MethodDelete:
		_ = c.Delete(ctx, claim)
	case MethodGet:
		_, _ = c.Get(ctx, e.ProviderID)
	case MethodList:
		_, _ = c.List(ctx)
	case MethodIsDrifted:
		_, _ = c.IsDrifted(ctx, claim)
	case MethodRegistered:
		_, _ = c.Registered(ctx, claim)
	case MethodNodeClassStatus:
		if e.NodeClass == nil {
			return errors.New("the event has no node class")
		}
		_, _ = c.NodeClassStatus(ctx, *e.NodeClass)
	case MethodAckInterruptions:
		_ = c.AckInterruptions(ctx, e.IDs...)
	case MethodReceiveInterruptions:
		// If the reader found no message, it waited for one. Messages that it got later are in a separate event.
		_, _, _ = c.receive(ctx)
	case lookAgain:
		c.look()
	default:
		return fmt.Errorf("there is no method %q", e.Name)
	}
	return nil
}

func (c *Cloud) leverAgain(e Event) error {
	switch e.Name {
	case "Settle":
		c.Settle()
	case "SetStock":
		c.setStock(e.Number, e.Offerings)
	case "SetAvailable":
		c.setAvailable(e.On, e.Offerings)
	case "SetQuota":
		c.setQuota(e.Text, e.Number, e.Offerings)
	case "SetPrices":
		prices := map[cloudprovider.OfferingKey]float64{}
		for i, key := range e.Offerings {
			if i < len(e.Prices) {
				prices[key] = e.Prices[i]
			}
		}
		return c.setPrices(prices)
	case "SetCredentials":
		c.setCredentials(e.On)
	case "BrownOut":
		c.BrownOut(e.Duration)
	case "FailInstance":
		_ = c.FailInstance(e.ProviderID)
	case "Interrupt":
		_ = c.Interrupt(e.ProviderID, cloudprovider.InterruptionKind(e.Text), e.Duration)
	case "Noise":
		c.Noise()
	case "SetNodeClassStatus":
		if e.NodeClass == nil || e.Readiness == nil {
			return errors.New("the event has no node class or no readiness")
		}
		c.SetNodeClassStatus(*e.NodeClass, *e.Readiness)
	case "SetImageID":
		c.SetImageID(e.Text)
	case "SetKubeletVersion":
		c.SetKubeletVersion(e.Text)
	case "SetDrift":
		_ = c.SetDrift(e.ProviderID, cloudprovider.DriftReason(e.Text))
	case "HoldRegistration":
		_ = c.HoldRegistration(e.ProviderID, e.Text)
	case "Restore":
		_ = c.Restore(e.Claims...)
	case "Inject":
		if e.Fault == nil {
			return errors.New("the event has no fault")
		}
		return c.Inject(e.Fault.fault())
	case "Heal":
		methods := make([]Method, len(e.IDs))
		for i, id := range e.IDs {
			methods[i] = Method(id)
		}
		c.Heal(methods...)
	default:
		return fmt.Errorf("unknown change by a test: %q", e.Name)
	}
	return nil
}

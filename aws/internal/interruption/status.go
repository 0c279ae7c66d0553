package interruption

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// statusRetry is the pause after EC2 refused a call: the permission may be granted while the controller runs.
const statusRetry = 10 * time.Minute

// completed is the prefix of the description of maintenance that is over and still listed.
const completed = "[Completed]"

// statusMemory contains what the source knows from polls of EC2. The source's lock guards it.
type statusMemory struct {
	next time.Time
	// dealtWith are findings that were acknowledged and have not ended. Such a finding is reported again only after it has ended and begun
	// again.
	dealtWith map[string]bool
	// told are findings that were reported to OnUnhealthy and have not ended.
	told map[string]bool
}

func newStatusMemory() statusMemory {
	return statusMemory{dealtWith: map[string]bool{}, told: map[string]bool{}}
}

func (m *statusMemory) ack(finding string) { m.dealtWith[finding] = true }

// wait returns the time until EC2 is called again.
func (m *statusMemory) wait(now time.Time, every time.Duration) time.Duration {
	if m.next.IsZero() {
		return every
	}
	return min(max(m.next.Sub(now), time.Millisecond), every)
}

// poll asks EC2 for the status of instances if a poll is due. Only one goroutine polls at a time; the other goroutines continue without
// waiting. If EC2 does not answer, the failure is logged and the poll is retried later, because it must not prevent reading the queue.
func (s *Source) poll(ctx context.Context) ([]cloudprovider.Interruption, error) {
	if s.options.EC2 == nil || !s.pollDue() {
		return nil, nil
	}
	statuses, err := s.describe(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		s.options.Logger.Warn("cannot read status of instances, retrying later", "error", err)
		if cloudprovider.IsUnauthorized(err) {
			s.mu.Lock()
			s.status.next = s.options.Now().Add(statusRetry)
			s.mu.Unlock()
		}
		return nil, nil
	}
	return s.findings(ctx, statuses), nil
}

// pollDue reports whether a poll is due. If it returns true, the caller must poll. All calls before the next poll is due then return false.
func (s *Source) pollDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Now()
	if now.Before(s.status.next) {
		return false
	}
	s.status.next = now.Add(s.options.StatusEvery)
	return true
}

// describe reads the three kinds of problems, by instance. It makes one call for each kind, because EC2 combines filters of different names
// by AND. If an instance has several problems, the first is used.
func (s *Source) describe(ctx context.Context) (map[string]ec2types.InstanceStatus, error) {
	found := map[string]ec2types.InstanceStatus{}
	for _, filter := range []ec2types.Filter{
		{Name: aws.String("instance-status.status"), Values: []string{"impaired"}},
		{Name: aws.String("system-status.status"), Values: []string{"impaired"}},
		{Name: aws.String("event.code"), Values: []string{"instance-reboot", "system-reboot", "system-maintenance", "instance-retirement", "instance-stop"}},
	} {
		in := &ec2.DescribeInstanceStatusInput{Filters: []ec2types.Filter{filter}}
		for {
			out, err := s.options.EC2.DescribeInstanceStatus(ctx, in)
			if err != nil {
				return nil, sdk.Wrap("describing the state of instances", err)
			}
			for i := range out.InstanceStatuses {
				id := aws.ToString(out.InstanceStatuses[i].InstanceId)
				if _, known := found[id]; !known {
					found[id] = out.InstanceStatuses[i]
				}
			}
			if aws.ToString(out.NextToken) == "" {
				break
			}
			in.NextToken = out.NextToken
		}
	}
	return found, nil
}

// findings reports new findings to OnUnhealthy, and returns the findings that were not handled yet, by instance and kind. With ReportOnly
// it returns none.
func (s *Source) findings(ctx context.Context, statuses map[string]ec2types.InstanceStatus) []cloudprovider.Interruption {
	now := s.options.Now()
	lasting := map[string]bool{}
	var list []cloudprovider.Interruption
	for _, id := range slices.Sorted(maps.Keys(statuses)) {
		instance, ok := s.options.Find(id)
		if !ok {
			continue
		}
		status := statuses[id]
		for _, f := range troubles(&status, now.Add(-s.options.ImpairedFor)) {
			finding := id + "/" + string(f.kind)
			lasting[finding] = true
			isNew, isDealtWith := s.look(finding)
			if isNew && s.options.OnUnhealthy != nil {
				s.options.OnUnhealthy(f.kind, instance)
			}
			if isDealtWith {
				continue
			}
			if s.options.OnEvent != nil {
				s.options.OnEvent(ctx, f.kind, instance)
			}
			if s.options.ReportOnly {
				continue
			}
			list = append(list, cloudprovider.Interruption{
				ID: statusPrefix + finding, Kind: f.kind.InterruptionKind(), ProviderID: instance.ProviderID,
				Time: f.since, Deadline: f.deadline, Message: f.message,
			})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	over := func(finding string, _ bool) bool { return !lasting[finding] }
	maps.DeleteFunc(s.status.dealtWith, over)
	maps.DeleteFunc(s.status.told, over)
	return list
}

// look reports whether a finding is new, and records it. It also reports whether the finding was handled. If findings are only reported, a
// reported finding counts as handled.
func (s *Source) look(finding string) (isNew, isDealtWith bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isNew, isDealtWith = !s.status.told[finding], s.status.dealtWith[finding]
	s.status.told[finding] = true
	if s.options.ReportOnly {
		s.status.dealtWith[finding] = true
	}
	return isNew, isDealtWith
}

// trouble is one thing that is wrong with an instance.
type trouble struct {
	kind            Kind
	since, deadline time.Time
	message         string
}

// troubles returns the problems in a status: the impairments that did not begin after the parameter then, and the first maintenance that is
// not over.
func troubles(status *ec2types.InstanceStatus, then time.Time) []trouble {
	var list []trouble
	add := func(kind Kind, summary *ec2types.InstanceStatusSummary) {
		if summary == nil {
			return
		}
		for _, d := range summary.Details {
			since := aws.ToTime(d.ImpairedSince)
			if d.Status == ec2types.StatusTypeFailed && !since.IsZero() && !since.After(then) {
				list = append(list, trouble{kind: kind, since: since, message: "check " + string(d.Name) + " has failed"})
				return
			}
		}
	}
	add(InstanceStatus, status.InstanceStatus)
	add(SystemStatus, status.SystemStatus)
	events := slices.DeleteFunc(slices.Clone(status.Events), func(e ec2types.InstanceStatusEvent) bool {
		return strings.HasPrefix(aws.ToString(e.Description), completed)
	})
	if len(events) > 0 {
		slices.SortStableFunc(events, func(a, b ec2types.InstanceStatusEvent) int {
			return cmp.Or(aws.ToTime(a.NotBefore).Compare(aws.ToTime(b.NotBefore)), cmp.Compare(a.Code, b.Code))
		})
		first := events[0]
		list = append(list, trouble{kind: EventStatus, deadline: aws.ToTime(first.NotBefore), message: string(first.Code) + ": " + aws.ToString(first.Description)})
	}
	return list
}

package hosts_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/internal/hosts"
)

// cloud has hosts, and answers one of them a page.
type cloud struct {
	hosts []ec2types.Host
	err   error
	asked int
}

func (c *cloud) DescribeHosts(_ context.Context, in *ec2.DescribeHostsInput, _ ...func(*ec2.Options)) (*ec2.DescribeHostsOutput, error) {
	c.asked++
	if c.err != nil {
		return nil, c.err
	}
	wants := func(h ec2types.Host) bool {
		for _, f := range in.Filter {
			value := map[string]string{"state": string(h.State)}[aws.ToString(f.Name)]
			if !slices.Contains(f.Values, value) {
				return false
			}
		}
		return len(in.HostIds) == 0 || slices.Contains(in.HostIds, aws.ToString(h.HostId))
	}
	page := 0
	if in.NextToken != nil {
		page = int((*in.NextToken)[0] - '0')
	}
	out := &ec2.DescribeHostsOutput{}
	if page < len(c.hosts) && wants(c.hosts[page]) {
		out.Hosts = c.hosts[page : page+1]
	}
	if page+1 < len(c.hosts) {
		out.NextToken = aws.String(string(rune('1' + page)))
	}
	return out, nil
}

func host(id, zone string, free map[string]int32, change ...func(*ec2types.Host)) ec2types.Host {
	h := ec2types.Host{
		HostId: aws.String(id), AvailabilityZone: aws.String(zone), State: ec2types.AllocationStateAvailable, AutoPlacement: ec2types.AutoPlacementOn,
		AvailableCapacity: &ec2types.AvailableCapacity{},
	}
	for name, n := range free {
		h.AvailableCapacity.AvailableInstanceCapacity = append(h.AvailableCapacity.AvailableInstanceCapacity, ec2types.InstanceCapacity{
			InstanceType: aws.String(name), AvailableCapacity: aws.Int32(n), TotalCapacity: aws.Int32(8),
		})
	}
	for _, c := range change {
		c(&h)
	}
	return h
}

func manual(h *ec2types.Host)  { h.AutoPlacement = ec2types.AutoPlacementOff }
func pending(h *ec2types.Host) { h.State = ec2types.AllocationStatePending }

// Only available hosts count that a launch may use; full ones have no room.
func TestRoom(t *testing.T) {
	c := &cloud{hosts: []ec2types.Host{
		host("h-1", "a", map[string]int32{"m5.large": 1, "m5.xlarge": 0}),
		host("h-2", "a", map[string]int32{"m5.large": 2, "c5.large": 1}),
		host("h-3", "b", map[string]int32{"m5.large": 5}, pending),
		host("h-4", "b", map[string]int32{"r5.large": 1}, manual),
		host("h-5", "b", nil, func(h *ec2types.Host) { h.AvailableCapacity = nil }),
	}}
	f := hosts.NewFinder(c, func() time.Time { return time.Unix(0, 0) })
	for id, want := range map[string]hosts.Room{
		"":      {"a": {"c5.large", "m5.large"}},
		"h-1":   {"a": {"m5.large"}},
		"h-4":   {"b": {"r5.large"}},
		"h-3":   {},
		"h-999": {},
	} {
		got, err := f.Room(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("host %q: %s", id, diff)
		}
	}
}

// Launches use up room until EC2 answers again.
func TestTook(t *testing.T) {
	now := time.Unix(0, 0)
	c := &cloud{hosts: []ec2types.Host{host("h-1", "a", map[string]int32{"m5.large": 2})}}
	f := hosts.NewFinder(c, func() time.Time { return now })
	has := func() bool {
		room, err := f.Room(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(room["a"], "m5.large")
	}
	for n, want := range []bool{true, true, false, false} {
		if has() != want {
			t.Errorf("after %d launches the host has room: %t", n, !want)
		}
		f.Took("", "a", "m5.large")
	}
	if now = now.Add(hosts.Period); !has() {
		t.Error("EC2's answer does not count")
	}
	if c.asked != 2 {
		t.Errorf("EC2 was asked %d times", c.asked)
	}
}

// Without an answer the room is not known, which differs from no room; a host that does not exist has none.
func TestFailures(t *testing.T) {
	now := time.Unix(0, 0)
	c := &cloud{err: errors.New("down")}
	f := hosts.NewFinder(c, func() time.Time { return now })
	if room, err := f.Room(t.Context(), ""); room != nil || err == nil {
		t.Errorf("got %v, %v", room, err)
	}
	c.err = &smithy.GenericAPIError{Code: "InvalidHostID.NotFound"}
	if room, err := f.Room(t.Context(), "h-1"); room == nil || len(room) > 0 || err != nil {
		t.Errorf("a host that does not exist: %v, %v", room, err)
	}
	now, c.err, c.hosts = now.Add(time.Hour), nil, []ec2types.Host{host("h-1", "a", map[string]int32{"m5.large": 2})}
	if room, err := f.Room(t.Context(), ""); len(room) != 1 || err != nil {
		t.Errorf("got %v, %v", room, err)
	}
	now, c.err = now.Add(time.Hour), errors.New("down")
	if room, err := f.Room(t.Context(), ""); len(room) != 1 || err == nil {
		t.Errorf("the last answer is gone: %v, %v", room, err)
	}
}

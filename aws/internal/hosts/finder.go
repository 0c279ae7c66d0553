// Package hosts finds out for which instance types Dedicated Hosts have room.
//
//	finder := hosts.NewFinder(api, time.Now)
//	room, err := finder.Room(ctx, "") // on hosts that place instances automatically
//	slices.Contains(room["us-east-1a"], "m5.large")
package hosts

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

const (
	// Period is how long an answer of EC2's is used.
	Period = time.Minute
	// Remember is how long an earlier answer is used while EC2 does not answer.
	Remember = 24 * time.Hour
)

// Room are the instance types for which at least one host has room, sorted, by the name of the zone. It must not be changed.
type Room map[string][]string

// place is an instance type in a zone.
type place struct{ zone, instanceType string }

// Finder asks EC2 for Dedicated Hosts. It is safe for concurrent use.
type Finder struct {
	api     sdk.HostsAPI
	answers refresh.Answers[map[place]int]
}

// NewFinder makes a finder. now is the clock; nil means time.Now.
func NewFinder(api sdk.HostsAPI, now func() time.Time) *Finder {
	if now == nil {
		now = time.Now
	}
	return &Finder{api: api, answers: refresh.Answers[map[place]int]{Every: Period, Remember: Remember, Now: now}}
}

// Room returns the instance types for which the host with that ID has room, by zone. For an empty ID, it returns the types for which any of
// the account's hosts with automatic placement has room. A host that does not exist has no room. While EC2 does not answer, the last answer
// is returned together with the error; if EC2 has never answered, the result is nil, which is not the same as empty. Launches since the
// answer are subtracted (see Took).
func (f *Finder) Room(ctx context.Context, hostID string) (Room, error) {
	free, ok, err := f.answers.Get(ctx, hostID, func(ctx context.Context) (map[place]int, error) { return f.ask(ctx, hostID) })
	if err != nil {
		err = sdk.Wrap("reading "+describe(hostID), err)
	}
	if !ok {
		return nil, err
	}
	room := Room{}
	for at, n := range free {
		if n > 0 {
			room[at.zone] = append(room[at.zone], at.instanceType)
		}
	}
	for _, types := range room {
		slices.Sort(types)
	}
	return room, err
}

// Took records that an instance was launched on a host: the room for its type is reduced by one until EC2's next answer.
func (f *Finder) Took(hostID, zone, instanceType string) {
	f.answers.Change(hostID, func(free map[place]int) map[place]int {
		at := place{zone, instanceType}
		if free[at] == 0 {
			return free
		}
		free = maps.Clone(free) // other goroutines may be reading the map
		free[at]--
		return free
	})
}

func describe(hostID string) string {
	if hostID == "" {
		return "Dedicated Hosts with automatic placement"
	}
	return "Dedicated Host " + hostID
}

// ask reads the hosts, and adds up their room by type and zone.
func (f *Finder) ask(ctx context.Context, hostID string) (map[place]int, error) {
	free := map[place]int{}
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		in := &ec2.DescribeHostsInput{NextToken: token, Filter: []ec2types.Filter{{Name: aws.String("state"), Values: []string{string(ec2types.AllocationStateAvailable)}}}}
		if hostID != "" {
			in.HostIds = []string{hostID}
		} else {
			in.MaxResults = aws.Int32(500) // EC2 refuses MaxResults together with ids
		}
		out, err := f.api.DescribeHosts(ctx, in)
		if err != nil {
			return nil, err
		}
		for i := range out.Hosts {
			if hostID != "" || out.Hosts[i].AutoPlacement == ec2types.AutoPlacementOn {
				add(free, &out.Hosts[i])
			}
		}
		return out.NextToken, nil
	})
	if strings.EqualFold(sdk.Code(err), "InvalidHostID.NotFound") { // EC2 writes this code with "Id" and with "ID"
		return free, nil
	}
	return free, err
}

// add adds the room of a host. A host may accept several types of its family, which share its cores. EC2 then lists each of these types as
// if it could use all of the free cores.
func add(free map[place]int, h *ec2types.Host) {
	if h.State != "" && h.State != ec2types.AllocationStateAvailable || h.AvailableCapacity == nil {
		return
	}
	for _, c := range h.AvailableCapacity.AvailableInstanceCapacity {
		if n := int(aws.ToInt32(c.AvailableCapacity)); n > 0 {
			free[place{aws.ToString(h.AvailabilityZone), aws.ToString(c.InstanceType)}] += n
		}
	}
}

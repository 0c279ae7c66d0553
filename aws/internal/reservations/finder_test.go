package reservations_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

func start() time.Time { return time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC) }

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func reservation(id string, free int32, change ...func(*ec2types.CapacityReservation)) ec2types.CapacityReservation {
	r := ec2types.CapacityReservation{
		CapacityReservationId: aws.String(id), AvailabilityZone: aws.String("us-east-1a"), InstanceType: aws.String("m5.large"),
		OwnerId: aws.String("123456789012"), InstanceMatchCriteria: ec2types.InstanceMatchCriteriaTargeted,
		AvailableInstanceCount: aws.Int32(free), TotalInstanceCount: aws.Int32(10),
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

func ending(at time.Time) func(*ec2types.CapacityReservation) {
	return func(r *ec2types.CapacityReservation) { r.EndDate = aws.Time(at) }
}

func block(r *ec2types.CapacityReservation) {
	r.ReservationType = ec2types.CapacityReservationTypeCapacityBlock
}

// asked writes a question as one line.
func asked(in *ec2.DescribeCapacityReservationsInput) string {
	parts := append([]string(nil), in.CapacityReservationIds...)
	for _, f := range in.Filters {
		parts = append(parts, aws.ToString(f.Name)+"="+strings.Join(f.Values, "|"))
	}
	if in.MaxResults != nil {
		parts = append(parts, fmt.Sprint("max=", *in.MaxResults))
	}
	return strings.Join(parts, " ")
}

// answering is an EC2 that answers by question, and keeps the questions.
func answering(t *testing.T, answers map[string][]ec2types.CapacityReservation) (*mock.MockEC2API, *[]string) {
	t.Helper()
	var questions []string
	api := mock.NewMockEC2API(gomock.NewController(t))
	api.EXPECT().DescribeCapacityReservations(gomock.Any(), gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *ec2.DescribeCapacityReservationsInput, _ ...func(*ec2.Options)) (*ec2.DescribeCapacityReservationsOutput, error) {
			q := asked(in)
			questions = append(questions, q)
			list, ok := answers[q]
			if !ok {
				return nil, &smithy.GenericAPIError{Code: "InvalidCapacityReservationId.NotFound"}
			}
			return &ec2.DescribeCapacityReservationsOutput{CapacityReservations: list}, nil
		})
	return api, &questions
}

func ids(found reservations.Found) string {
	var out []string
	for _, r := range found {
		out = append(out, r.ID)
	}
	return strings.Join(out, " ")
}

// AWN-105, AWN-106, AWN-107, AWI-122, AWI-123: the questions of terms, each once; ids that are not there select nothing; results once each, by id.
func TestFind(t *testing.T) {
	const byTag = "owner-id=123456789012 state=active tag-key=any tag:team=ml max=1000"
	const byCriteria = "instance-match-criteria=open state=active max=1000"
	api, questions := answering(t, map[string][]ec2types.CapacityReservation{
		"cr-2 state=active": {reservation("cr-2", 2)},
		byTag:               {reservation("cr-3", 3), reservation("cr-2", 2), reservation("cr-over", 1, ending(start()))},
		byCriteria:          {reservation("cr-1", 1, ending(start().Add(time.Hour)))},
	})
	c := &clock{now: start()}
	finder := reservations.NewFinder(api, nil, c.Now)
	tagged := awsv1.CapacityReservationSelectorTerm{Tags: map[string]string{"team": "ml", "any": "*"}, OwnerID: "123456789012"}
	terms := []awsv1.CapacityReservationSelectorTerm{
		tagged, {ID: "cr-2"}, {ID: "cr-gone"}, {InstanceMatchCriteria: "open"}, tagged,
	}
	found, rejected, err := finder.Find(t.Context(), terms)
	if err != nil || rejected != nil {
		t.Fatal(rejected, err)
	}
	if ids(found) != "cr-1 cr-2 cr-3" {
		t.Errorf("found %s", ids(found))
	}
	want := []string{byCriteria, byTag, "cr-2 state=active", "cr-gone state=active"}
	if diff := cmp.Diff(want, *questions); diff != "" {
		t.Error(diff)
	}
	wantStatus := awsv1.CapacityReservation{
		ID: "cr-2", AvailabilityZone: "us-east-1a", InstanceType: "m5.large", OwnerID: "123456789012",
		InstanceMatchCriteria: "targeted", ReservationType: "default", State: "active",
	}
	if diff := cmp.Diff(wantStatus, found.Status()[1]); diff != "" {
		t.Error("AWI-125:", diff)
	}
	// AWI-123: the answers are good for a minute.
	c.now = start().Add(59 * time.Second)
	if _, _, err := finder.Find(t.Context(), terms); err != nil || len(*questions) != 4 {
		t.Errorf("asked %d questions, %v", len(*questions), err)
	}
	c.now = start().Add(time.Minute)
	if _, _, err := finder.Find(t.Context(), terms[1:2]); err != nil || len(*questions) != 5 {
		t.Errorf("asked %d questions, %v", len(*questions), err)
	}
	// AWI-132: a fresh answer is one.
	if _, _, err := finder.FindNow(t.Context(), terms[1:2]); err != nil || len(*questions) != 6 {
		t.Errorf("asked %d questions, %v", len(*questions), err)
	}
	// AWI-124: every answer sets the counts.
	if rooms := finder.Tracker().Snapshot(); rooms.Room("cr-1") != 1 || rooms.Room("cr-3") != 3 || rooms.Room("cr-gone") != 0 {
		t.Error("the counts are not those of the answers")
	}
}

// AWI-123: a reservation that ends between two looks is left out although the answer is reused, and AWI-126 a block
// becomes expiring.
func TestTimePassesBetweenAnswers(t *testing.T) {
	api, _ := answering(t, map[string][]ec2types.CapacityReservation{
		"cr-1 state=active": {reservation("cr-1", 1, ending(start().Add(30*time.Second)))},
		"cr-2 state=active": {reservation("cr-2", 1, block, ending(start().Add(40*time.Minute+30*time.Second)))},
	})
	c := &clock{now: start()}
	finder := reservations.NewFinder(api, nil, c.Now)
	terms := []awsv1.CapacityReservationSelectorTerm{{ID: "cr-1"}, {ID: "cr-2"}}
	found, _, err := finder.Find(t.Context(), terms)
	if err != nil || ids(found) != "cr-1 cr-2" || found[1].State != "active" {
		t.Fatalf("found %v, %v", found, err)
	}
	c.now = start().Add(31 * time.Second)
	found, _, err = finder.Find(t.Context(), terms)
	if err != nil || ids(found) != "cr-2" || found[0].State != "expiring" {
		t.Errorf("found %v, %v", found, err)
	}
}

// AWN-108, AWI-125: what can't be used is left out, with the reason.
func TestRejected(t *testing.T) {
	api, _ := answering(t, map[string][]ec2types.CapacityReservation{"cr-1 state=active": {
		reservation("cr-1", 1),
		reservation("cr-criteria", 1, func(r *ec2types.CapacityReservation) { r.InstanceMatchCriteria = "fancy" }),
		reservation("cr-type", 1, func(r *ec2types.CapacityReservation) { r.ReservationType = "loan" }),
		reservation("cr-zone", 1, func(r *ec2types.CapacityReservation) { r.AvailabilityZone = nil }),
	}})
	found, rejected, err := reservations.NewFinder(api, nil, (&clock{now: start()}).Now).Find(t.Context(), []awsv1.CapacityReservationSelectorTerm{{ID: "cr-1"}})
	if err != nil || ids(found) != "cr-1" {
		t.Fatalf("found %v, %v", found, err)
	}
	var one *reservations.RejectedError
	if !errors.As(rejected, &one) || one.ID != "cr-criteria" {
		t.Errorf("rejected is %v", rejected)
	}
	for _, text := range []string{`"fancy"`, `"loan"`, "its zone"} {
		if !strings.Contains(rejected.Error(), text) {
			t.Errorf("nothing is said of %s: %v", text, rejected)
		}
	}
}

// An answer whose second page fails is no answer, and leaves the counts alone.
func TestFindFails(t *testing.T) {
	api := mock.NewMockEC2API(gomock.NewController(t))
	gomock.InOrder(
		api.EXPECT().DescribeCapacityReservations(gomock.Any(), gomock.Any()).Return(&ec2.DescribeCapacityReservationsOutput{
			CapacityReservations: []ec2types.CapacityReservation{reservation("cr-1", 5)}, NextToken: aws.String("2"),
		}, nil),
		api.EXPECT().DescribeCapacityReservations(gomock.Any(), gomock.Any()).Return(nil, &smithy.GenericAPIError{Code: "RequestLimitExceeded"}),
	)
	finder := reservations.NewFinder(api, nil, nil)
	found, _, err := finder.Find(t.Context(), []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"a": "b"}}})
	if found != nil || !errors.Is(err, cloudprovider.Throttled) || !strings.Contains(err.Error(), "tag:a=b") {
		t.Errorf("found %v, %v", found, err)
	}
	if finder.Tracker().Snapshot().Room("cr-1") != 0 {
		t.Error("half an answer is counted")
	}
}

// A slow answer does not hold up another query, nor the counts (OPP-03).
func TestNoLockAcrossCalls(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	api := mock.NewMockEC2API(gomock.NewController(t))
	api.EXPECT().DescribeCapacityReservations(gomock.Any(), gomock.Any()).Times(2).DoAndReturn(
		func(_ context.Context, in *ec2.DescribeCapacityReservationsInput, _ ...func(*ec2.Options)) (*ec2.DescribeCapacityReservationsOutput, error) {
			if in.CapacityReservationIds[0] == "cr-slow" {
				close(entered)
				<-release
			}
			return &ec2.DescribeCapacityReservationsOutput{CapacityReservations: []ec2types.CapacityReservation{reservation(in.CapacityReservationIds[0], 1)}}, nil
		})
	finder := reservations.NewFinder(api, nil, (&clock{now: start()}).Now)
	done := make(chan error)
	go func() {
		_, _, err := finder.Find(t.Context(), []awsv1.CapacityReservationSelectorTerm{{ID: "cr-slow"}})
		done <- err
	}()
	<-entered
	found, _, err := finder.Find(t.Context(), []awsv1.CapacityReservationSelectorTerm{{ID: "cr-fast"}})
	if err != nil || ids(found) != "cr-fast" || finder.Tracker().Snapshot().Room("cr-fast") != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// The status names the tenancy of a reservation if it is not the default.
func TestTenancy(t *testing.T) {
	with := func(tenancy ec2types.CapacityReservationTenancy) func(*ec2types.CapacityReservation) {
		return func(r *ec2types.CapacityReservation) { r.Tenancy = tenancy }
	}
	api, _ := answering(t, map[string][]ec2types.CapacityReservation{
		"cr state=active": {reservation("cr-1", 1), reservation("cr-2", 1, with("default")), reservation("cr-3", 1, with("dedicated"))},
	})
	found, rejected, err := reservations.NewFinder(api, nil, (&clock{now: start()}).Now).Find(t.Context(), []awsv1.CapacityReservationSelectorTerm{{ID: "cr"}})
	if err != nil || rejected != nil {
		t.Fatal(rejected, err)
	}
	var got []awsv1.Tenancy
	for _, r := range found.Status() {
		got = append(got, r.Tenancy)
	}
	if diff := cmp.Diff([]awsv1.Tenancy{"", "", "dedicated"}, got); diff != "" {
		t.Error(diff)
	}
}

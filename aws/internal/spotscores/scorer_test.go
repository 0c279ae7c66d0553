package spotscores_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/internal/spotscores"
)

type scores struct {
	asked []*ec2.GetSpotPlacementScoresInput
}

func (s *scores) GetSpotPlacementScores(_ context.Context, in *ec2.GetSpotPlacementScoresInput, _ ...func(*ec2.Options)) (*ec2.GetSpotPlacementScoresOutput, error) {
	s.asked = append(s.asked, in)
	score := func(zone string, n int32) ec2types.SpotPlacementScore {
		return ec2types.SpotPlacementScore{AvailabilityZoneId: aws.String(zone), Score: aws.Int32(n)}
	}
	if in.NextToken == nil {
		return &ec2.GetSpotPlacementScoresOutput{SpotPlacementScores: []ec2types.SpotPlacementScore{score("use1-az1", 9), score("use1-az2", 0)}, NextToken: aws.String("more")}, nil
	}
	return &ec2.GetSpotPlacementScoresOutput{SpotPlacementScores: []ec2types.SpotPlacementScore{score("use1-az3", 2)}}, nil
}

// A configuration counts once in 24 hours, however often and in whatever order it is asked for; more than the budget are refused.
func TestBudget(t *testing.T) {
	api, now := &scores{}, time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	s := spotscores.New(spotscores.Options{API: api, Region: "us-east-1", Configurations: 2, Now: func() time.Time { return now }})
	ask := func(types ...string) error {
		got, err := s.Scores(t.Context(), types)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(map[string]int{"use1-az1": 9, "use1-az3": 2}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		return nil
	}
	for _, types := range [][]string{{"a", "b", "c"}, {"c", "b", "a", "a"}, {"d", "e", "f"}} {
		if err := ask(types...); err != nil {
			t.Fatal(err)
		}
	}
	var refused *spotscores.BudgetError
	if err := ask("g", "h", "i"); !errors.As(err, &refused) || !refused.Until.Equal(now.Add(24*time.Hour)) {
		t.Errorf("a third configuration: %v", err)
	}
	if err := ask("a", "b", "c"); err != nil {
		t.Errorf("a configuration that was used: %v", err)
	}
	now = now.Add(24 * time.Hour)
	if err := ask("g", "h", "i"); err != nil {
		t.Errorf("a day later: %v", err)
	}
	if err := ask("a", "b"); err == nil || len(api.asked) != 2*5 {
		t.Errorf("two types: %v, %d requests", err, len(api.asked))
	}
	if in := api.asked[0]; !*in.SingleAvailabilityZone || in.RegionNames[0] != "us-east-1" {
		t.Errorf("asks for %+v", in)
	}
}

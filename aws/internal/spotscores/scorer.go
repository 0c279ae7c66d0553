// Package spotscores requests spot placement scores from EC2, within a budget of configurations.
//
//	scorer := spotscores.New(spotscores.Options{API: …, Region: "eu-west-1", Configurations: 10})
//	scores, err := scorer.Scores(ctx, []string{"m5.large", "m6i.large", "m7i.large"}) // by zone ID
//
// A configuration is one query: a set of types and a target capacity. An account may repeat the configurations of the last 24 hours, but
// EC2 limits how many new configurations it may use in this time
// (docs.aws.amazon.com/AWSEC2/latest/UserGuide/work-with-spot-placement-score.html). AWS does not publish the limit. Scores for fewer than
// three types are always low, so the package does not ask for them.
package spotscores

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

const (
	// LeastTypes is the smallest number of types in a configuration.
	LeastTypes = 3
	// mostTypes is the largest number of types that EC2 accepts.
	mostTypes = 1000
	// window is how long a configuration counts towards the limit.
	window = 24 * time.Hour
	// targetVCPUs is the target capacity of all configurations. It is always the same, because a different capacity would be another
	// configuration.
	targetVCPUs = 64
)

// Options of a Scorer.
type Options struct {
	// API of the region.
	API sdk.SpotScoresAPI
	// Region whose zones get scores.
	Region string
	// Configurations is the maximum number of different sets of instance types for which scores may be requested within 24 hours.
	Configurations int
	// Now is the clock.
	Now func() time.Time
}

// Scorer requests spot placement scores from EC2. It is safe for concurrent use.
type Scorer struct {
	options Options

	mu   sync.Mutex
	used map[string]time.Time // when each configuration was first used
}

// New returns a scorer.
func New(o Options) *Scorer { return &Scorer{options: o, used: map[string]time.Time{}} }

// BudgetError means that the last 24 hours have used up the budget of configurations.
type BudgetError struct {
	// Configurations is the maximum number of configurations within 24 hours.
	Configurations int
	// Until is when another configuration may be used.
	Until time.Time
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("spot placement scores: %d configurations were used within 24 hours, the maximum: the next one can be used at %s", e.Configurations, e.Until.UTC().Format(time.RFC3339))
}

// Scores returns the scores of the region's zones, from 1 to 10, by zone ID, for spot capacity of any of the types. The error may be a
// *BudgetError.
func (s *Scorer) Scores(ctx context.Context, types []string) (map[string]int, error) {
	types = slices.Compact(slices.Sorted(slices.Values(types)))
	if len(types) < LeastTypes || len(types) > mostTypes {
		return nil, fmt.Errorf("spot placement scores: %d instance types: give %d to %d", len(types), LeastTypes, mostTypes)
	}
	if err := s.take(strings.Join(types, ",")); err != nil {
		return nil, err
	}
	scores := map[string]int{}
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := s.options.API.GetSpotPlacementScores(ctx, &ec2.GetSpotPlacementScoresInput{
			InstanceTypes: types, TargetCapacity: aws.Int32(targetVCPUs), TargetCapacityUnitType: ec2types.TargetCapacityUnitTypeVcpu,
			SingleAvailabilityZone: aws.Bool(true), RegionNames: []string{s.options.Region}, NextToken: token,
		})
		if err != nil {
			return nil, err
		}
		for _, score := range out.SpotPlacementScores {
			if id, n := aws.ToString(score.AvailabilityZoneId), int(aws.ToInt32(score.Score)); id != "" && n >= 1 && n <= 10 {
				scores[id] = n
			}
		}
		return out.NextToken, nil
	})
	if err != nil {
		return nil, sdk.Wrap("reading spot placement scores", err)
	}
	return scores, nil
}

// take records the use of a configuration. It returns a *BudgetError if the configuration is new and the budget is used up.
func (s *Scorer) take(configuration string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Now()
	var oldest time.Time
	for known, at := range s.used {
		if now.Sub(at) >= window {
			delete(s.used, known)
		} else if oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	if _, known := s.used[configuration]; known {
		return nil
	}
	if len(s.used) >= s.options.Configurations {
		return &BudgetError{s.options.Configurations, oldest.Add(window)}
	}
	s.used[configuration] = now
	return nil
}

package aws

import (
	"context"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/internal/spotscores"
	"github.com/drawknife/drawknife/aws/sdk"
)

// SpotScoreClients create the client that Config.SpotScoreConfigurations needs. *sdk.Clients implements it.
type SpotScoreClients interface {
	// SpotScores returns a client of EC2.
	SpotScores(sdk.Priority) sdk.SpotScoresAPI
}

var _ SpotScoreClients = (*sdk.Clients)(nil)

// SpotPlacementScores returns EC2's scores of the zones, from 1 to 10, for spot capacity of any of the types. 10 means that a launch is
// very likely to succeed. types must contain at least three types. Zones without a score are left out. Without
// Config.SpotScoreConfigurations it returns nil. If more different sets of types are requested within 24 hours than
// Config.SpotScoreConfigurations allows, it returns an error. A set that was already requested within this time may be requested again.
func (p *Provider) SpotPlacementScores(ctx context.Context, types []string) (map[string]int, error) {
	if p.scorer == nil {
		return nil, nil
	}
	byID, err := p.scorer.Scores(ctx, types)
	if err != nil {
		return nil, err
	}
	known, err := p.discovery.Catalog()
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, zone := range known.Zones {
		if score, ok := byID[zone.ID]; ok {
			out[zone.Name] = score
		}
	}
	return out, nil
}

// assembleScores creates the scorer, if Config.SpotScoreConfigurations is set.
func (p *Provider) assembleScores() error {
	if p.config.SpotScoreConfigurations == 0 {
		return nil
	}
	clients, ok := p.options.Clients.(SpotScoreClients)
	if !ok {
		return &option.Error{Package: "aws", Option: "Clients", Rule: "must implement SpotScoreClients because Config.SpotScoreConfigurations is set: use sdk.Load, or leave Config.SpotScoreConfigurations unset"}
	}
	p.scorer = spotscores.New(spotscores.Options{
		API: clients.SpotScores(sdk.Background), Region: p.options.Clients.Region(), Configurations: p.config.SpotScoreConfigurations, Now: p.now,
	})
	return nil
}

//go:build aws

package simulate

import (
	"context"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/commands/simulate/internal/live"
)

// linksAWS is true because this program can call AWS itself.
const linksAWS = true

// readLive reads the catalogue from AWS, and adds notes about missing data.
func (s *simulation) readLive(ctx context.Context) (*catalog.Catalog, error) {
	market, err := live.Read(ctx, live.Options{
		AWS:      sdk.Config{Region: s.region, UserAgent: "drawknife-simulate"},
		Progress: s.progress.Enter,
	})
	if err != nil {
		return nil, err
	}
	for _, n := range market.Notes {
		s.note(n.Code, "%s", n.Message)
	}
	return market.Catalog, nil
}

//go:build !aws

package simulate

import (
	"context"

	"github.com/drawknife/drawknife/aws/catalog"
)

// linksAWS is false because this program can't call AWS itself. Compiling the AWS SDK would take most of the time of a first "go run", and
// few runs need the SDK. Runs that need AWS are passed to the program simulate-aws in the same folder.
const linksAWS = false

// readLive is never called in this program: see relay.
func (s *simulation) readLive(context.Context) (*catalog.Catalog, error) {
	return nil, errWithoutAWS
}

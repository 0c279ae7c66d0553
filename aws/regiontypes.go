package aws

import (
	"context"
	"errors"
	"time"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/discovery"
	"github.com/drawknife/drawknife/aws/sdk"
)

// RegionTypes contains the instance types of a region, as EC2 describes them.
type RegionTypes struct {
	// Catalog contains the types with their zones, without prices.
	Catalog *catalog.Catalog
	// Skipped lists types whose description by EC2 is unusable, and why.
	Skipped []error
	// ZoneIDs is the error of reading the IDs of zones; nil if the IDs were read.
	ZoneIDs error
}

// ReadInstanceTypes reads once which instance types a region has and in which zones. It is for programs that need no provider. builtIn
// contains data that EC2 does not provide; nil means the embedded catalogue. now is the clock; nil means time.Now. If EC2's answer has no
// instance types or zones, the error is a *NothingInRegionError.
func ReadInstanceTypes(ctx context.Context, api sdk.EC2API, region string, builtIn *catalog.Catalog, now func() time.Time) (*RegionTypes, error) {
	d, err := discovery.New(discovery.Options{API: api, Region: region, BuiltIn: builtIn, Now: now})
	if err != nil {
		return nil, err
	}
	if _, err := d.Refresh(ctx); err != nil {
		return nil, nothingInRegion(err)
	}
	facts, err := d.Catalog()
	if err != nil {
		return nil, nothingInRegion(err)
	}
	status := d.Status()
	return &RegionTypes{Catalog: facts, Skipped: status.Skipped, ZoneIDs: status.ZoneIDs}, nil
}

// NothingInRegionError means that EC2's answer was empty: probably the region or the account is wrong.
type NothingInRegionError struct {
	// Missing is "instance types" or "zones".
	Missing string
	// Region of the request.
	Region string
	// Err is the underlying error, which has a kind; nil if EC2 returned no error.
	Err error
}

// Error says what is missing and what to check.
func (e *NothingInRegionError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return (&discovery.EmptyError{Missing: e.Missing, Region: e.Region}).Error()
}

// Unwrap returns Err.
func (e *NothingInRegionError) Unwrap() error { return e.Err }

// nothingInRegion converts an error that wraps discovery.EmptyError to an error that also wraps a *NothingInRegionError.
func nothingInRegion(err error) error {
	var empty *discovery.EmptyError
	if !errors.As(err, &empty) {
		return err
	}
	return &NothingInRegionError{Missing: empty.Missing, Region: empty.Region, Err: err}
}

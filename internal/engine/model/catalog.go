package model

import (
	"slices"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/market"
)

// CompiledCatalog is a list of instance types that is prepared for planning. Compile prepares each of the snapshot's catalogs in this way.
// A caller that compiles many small snapshots with the same types can compile the catalog once and pass the result to each call: see
// WithCatalogs. It is immutable and safe for concurrent use. The types must not be changed afterwards.
type CompiledCatalog struct {
	catalog *market.Catalog
}

// CompileCatalog prepares a list of instance types for planning. It refuses, with a *SnapshotError, the same errors in a catalog as
// Compile: a null type, an empty or repeated name, and a price or an amount that is not a valid number.
func CompileCatalog(types []*cloudprovider.InstanceType) (*CompiledCatalog, error) {
	const name = "types"
	var c quantityCheck
	if c.types(name, types); c.err != nil {
		return nil, c.err
	}
	if err := checkTypes(name, types); err != nil {
		return nil, err
	}
	compiled := market.NewCatalog(name, types)
	compiled.Freeze()
	return &CompiledCatalog{compiled}, nil
}

// Types returns the list from which the catalog was compiled, or nil for the zero CompiledCatalog. It must not be changed.
func (c *CompiledCatalog) Types() []*cloudprovider.InstanceType {
	if c.catalog == nil {
		return nil
	}
	return c.catalog.List
}

// CompileOption changes how Compile works, but does not change the resulting plans. A nil option changes nothing.
type CompileOption func(*Options)

// Options are the values that the functions of type CompileOption set.
type Options struct {
	catalogs []*CompiledCatalog
	matcher  devices.Matcher
}

// WithDeviceMatcher makes Compile, and Update of the compiled models, evaluate selectors of devices with m. Without this option, pods are
// refused if their claims or device classes have selectors, and the reason says this.
func WithDeviceMatcher(m devices.Matcher) CompileOption {
	return func(o *Options) { o.matcher = m }
}

// WithCatalogs makes Compile use catalogs that were compiled before. A compiled catalog is used for a list in Snapshot.Catalogs that is the
// same slice as the list passed to CompileCatalog. Other lists are compiled as without this option. If NodeOverlays change a list, the
// changed list is also compiled. Prices of a CostModel are computed for each Model.
func WithCatalogs(catalogs ...*CompiledCatalog) CompileOption {
	return func(o *Options) { o.catalogs = append(o.catalogs, catalogs...) }
}

// compiled returns the previously compiled catalog of the list, with the given name, or nil if the list was not compiled.
func (o *Options) compiled(name string, list []*cloudprovider.InstanceType) *market.Catalog {
	if at := o.indexOf(list); at >= 0 {
		return o.catalogs[at].catalog.Renamed(name)
	}
	return nil
}

// knows reports whether the list was compiled earlier.
func (o *Options) knows(list []*cloudprovider.InstanceType) bool { return o.indexOf(list) >= 0 }

func (o *Options) indexOf(list []*cloudprovider.InstanceType) int {
	return slices.IndexFunc(o.catalogs, func(c *CompiledCatalog) bool { return c != nil && c.catalog != nil && SameList(c.catalog.List, list) })
}

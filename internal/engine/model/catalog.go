package model

import (
	"slices"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/market"
)

// CompiledCatalog is a list of instance types made ready for planning. Compile makes it of each of the snapshot's catalogs;
// a caller that compiles many small snapshots with the same types makes it once and hands it to each: see WithCatalogs. It is
// immutable and safe for concurrent use. The types must not be changed afterwards.
type CompiledCatalog struct {
	catalog *market.Catalog
}

// CompileCatalog makes a list of instance types ready for planning. It refuses with a *SnapshotError what Compile refuses in
// a catalog: a null type, a name that is empty or stands twice, a price or an amount that is no number to plan with.
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

// Types is the list that the catalog was made of; nil for the zero CompiledCatalog. It must not be changed.
func (c *CompiledCatalog) Types() []*cloudprovider.InstanceType {
	if c.catalog == nil {
		return nil
	}
	return c.catalog.List
}

// CompileOption changes how Compile works, and never what plans come of it. A nil option changes nothing.
type CompileOption func(*Options)

// Options are what CompileOptions set.
type Options struct {
	catalogs []*CompiledCatalog
	matcher  devices.Matcher
}

// WithDeviceMatcher has Compile, and Update of its models, evaluate selectors of devices with m. Without, pods whose claims or their
// classes have selectors are refused with a reason that says so.
func WithDeviceMatcher(m devices.Matcher) CompileOption {
	return func(o *Options) { o.matcher = m }
}

// WithCatalogs has Compile use catalogs that were compiled before, for those of Snapshot.Catalogs that are the very same
// lists: the same slices as those given to CompileCatalog. Others are compiled as without. What NodeOverlays change is
// another list and is compiled too; prices of a CostModel are computed for each Model.
func WithCatalogs(catalogs ...*CompiledCatalog) CompileOption {
	return func(o *Options) { o.catalogs = append(o.catalogs, catalogs...) }
}

// compiled is the catalog that was compiled before of the list, as a model uses it under the name; nil without one.
func (o *Options) compiled(name string, list []*cloudprovider.InstanceType) *market.Catalog {
	if at := o.indexOf(list); at >= 0 {
		return o.catalogs[at].catalog.Renamed(name)
	}
	return nil
}

// knows reports whether the list is one that was compiled before.
func (o *Options) knows(list []*cloudprovider.InstanceType) bool { return o.indexOf(list) >= 0 }

func (o *Options) indexOf(list []*cloudprovider.InstanceType) int {
	return slices.IndexFunc(o.catalogs, func(c *CompiledCatalog) bool { return c != nil && c.catalog != nil && sameList(c.catalog.List, list) })
}

package simulate

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// readCatalog reads the catalogue that the command line selects: from AWS, from a file, or the embedded catalogue.
func (s *simulation) readCatalog(ctx context.Context) (*catalog.Catalog, error) {
	if s.provider == providerAWS {
		facts, err := s.readLive(ctx)
		return facts, withStatus(exitCloud, err)
	}
	if s.catalog == "" && s.spotAsSeen {
		return catalog.EmbeddedAsSeen()
	}
	if s.catalog == "" {
		return catalog.Embedded()
	}
	file, err := os.Open(s.catalog)
	if err != nil {
		return nil, fmt.Errorf("reading the catalogue: %w", err)
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	if s.prices == "" {
		facts, err := catalog.Load(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.catalog, err)
		}
		return facts, nil
	}
	prices, err := os.Open(s.prices)
	if err != nil {
		return nil, fmt.Errorf("reading the prices: %w", err)
	}
	defer prices.Close()
	facts, err := catalog.ParseDescribeInstanceTypes(file, prices)
	if err != nil {
		return nil, fmt.Errorf("%s with %s: %w", s.catalog, s.prices, err)
	}
	return facts, nil
}

// addCatalogs sets the instance types of each pool of the snapshot. Pools whose node classes result in the same settings share one list,
// named after the first of these classes.
func (s *simulation) addCatalogs(
	snapshot *scheduling.Snapshot, facts *catalog.Catalog, classes nodeClasses,
) error {
	if err := s.checkZones(facts); err != nil {
		return err
	}
	pools := make([]*scheduling.NodePool, 0, len(snapshot.NodePools))
	for i := range snapshot.NodePools {
		pools = append(pools, &snapshot.NodePools[i])
	}
	slices.SortFunc(pools, func(a, b *scheduling.NodePool) int {
		if c := strings.Compare(nodeClassOf(a).Name, nodeClassOf(b).Name); c != 0 {
			return c
		}
		return a.Key.Compare(b.Key)
	})
	snapshot.Catalogs = make(map[string][]*cloudprovider.InstanceType)
	names := make(map[string]string) // names of catalogues, by the key of their settings
	for _, pool := range pools {
		class, err := s.findClass(pool, classes)
		if err != nil {
			return err
		}
		options := s.typeOptions(pool.Key)
		options.Tenancy = instancetype.TenancyOfPool(pool.Object)
		settings, err := s.settings(facts, class, options)
		if err != nil {
			return err
		}
		key := settings.Key()
		if name, ok := names[key]; ok {
			pool.Catalog = name
			continue
		}
		types, err := instancetype.ResolveSettings(facts, settings)
		if err != nil {
			return fmt.Errorf("instance types of NodePool %s: %w", pool.Key, err)
		}
		pool.Catalog = freeName(snapshot.Catalogs, nodeClassOf(pool).Name)
		names[key] = pool.Catalog
		snapshot.Catalogs[pool.Catalog] = types
	}
	s.correctDevices(snapshot)
	return nil
}

// freeName returns the name, or the name with the first number that makes it unique. Classes of two kinds may have the same name.
func freeName(taken map[string][]*cloudprovider.InstanceType, name string) string {
	free := name
	for i := 2; taken[free] != nil; i++ {
		free = fmt.Sprintf("%s-%d", name, i)
	}
	return free
}

func nodeClassOf(pool *scheduling.NodePool) v1.NodeClassReference {
	return pool.Object.Spec.Template.Spec.NodeClassRef
}

// findClass returns the effective node class of a pool, where nil means the default class. If the input does not contain the class,
// findClass adds a note.
func (s *simulation) findClass(pool *scheduling.NodePool, classes nodeClasses) (*awsv1.EC2NodeClass, error) {
	if classes.named(pool) == nil {
		kind, name := nodeClassOf(pool).Kind, nodeClassOf(pool).Name
		if pool.Key.Generation == v1.GenerationV1Alpha5 && kind == awsv1.KindEC2NodeClass {
			kind = awsv1alpha1.KindAWSNodeTemplate
		}
		s.note(string(manifests.WarningNodeClass), "%s %q is not in the input: its pools get the nodes of the default EC2NodeClass (AL2023, no kubelet settings)",
			kind, name)
	}
	return classes.effective(pool)
}

// checkZones checks that the catalogue has the requested zones.
func (s *simulation) checkZones(facts *catalog.Catalog) error {
	var known []string
	for _, zone := range facts.Zones {
		known = append(known, zone.Name)
	}
	for _, zone := range s.zones {
		if !slices.Contains(known, zone) {
			return fmt.Errorf("--zones: the catalogue has no zone %q, only %s", zone, strings.Join(known, ", "))
		}
	}
	return nil
}

// The method settings returns the instance type settings of class. The zones of the settings are the zones of the class's subnets, or all
// zones of facts if the subnets are unknown. --zones restricts them.
func (s *simulation) settings(facts *catalog.Catalog, class *awsv1.EC2NodeClass, options instancetype.Options) (instancetype.Settings, error) {
	settings, err := instancetype.NewSettings(facts, class, options)
	if err != nil || len(s.zones) == 0 {
		return settings, err
	}
	allowed := settings.Zones
	if allowed == nil {
		allowed = facts.Zones
	}
	settings.Zones = make([]catalog.Zone, 0, len(s.zones))
	for _, zone := range allowed {
		if slices.Contains(s.zones, zone.Name) {
			settings.Zones = append(settings.Zones, zone)
		}
	}
	if len(settings.Zones) == 0 {
		return settings, fmt.Errorf("--zones %s: EC2NodeClass %q has subnets in none of them", strings.Join(s.zones, ","),
			class.Name)
	}
	return settings, nil
}

package scenario

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/kinds"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// Objects names files with Kubernetes objects, and the catalog of the nodes on which to plan them.
type Objects struct {
	// Files are files and folders with objects: pods or workloads, NodePools, node classes, nodes. A file whose name ends in .csv is a pod
	// list with the columns of the openb trace.
	Files []string
	// Catalog is a catalog of EC2, in the form of simulate --catalog. Empty means the embedded catalog.
	Catalog string
	// draw, if it is not nil, draws a new trace from each pod list.
	draw *Draw
}

// OpenB returns the files of the openb trace in a data folder. It returns false if the files are missing.
func OpenB(folder string) (Objects, bool) {
	o := Objects{
		Files:   []string{filepath.Join(folder, "openb", "pods.csv"), filepath.Join(folder, "openb", "nodepool.yaml")},
		Catalog: filepath.Join(folder, "ec2-catalog.json"),
	}
	for _, name := range append([]string{o.Catalog}, o.Files...) {
		if _, err := os.Stat(name); folder == "" || err != nil {
			return Objects{}, false
		}
	}
	return o, true
}

// FromObjects makes scenario h. If pods > 0, it keeps only this number of pods: the first pods in the order of namespace and name.
func FromObjects(o Objects, pods int) (*Scenario, error) {
	if len(o.Files) == 0 {
		return nil, errors.New("scenario h needs --pods-file")
	}
	sources, err := o.sources()
	if err != nil {
		return nil, err
	}
	loaded, err := manifests.Load(sources, manifests.Options{
		Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Vocabulary: instancetype.Vocabulary(),
		Kinds: convert.Kinds(), Conversion: convert.Conversion(convert.Options{}),
	})
	if err != nil {
		return nil, err
	}
	s := loaded.Snapshot
	s.Placeholders = nil // the comparison has no placeholders
	if len(s.NodePools) == 0 {
		s.NodePools = []scheduling.NodePool{anyNode()}
	}
	if pods > 0 && pods < len(s.Pods) {
		s.Pods = s.Pods[:pods]
	}
	facts, err := readCatalog(o.Catalog)
	if err != nil {
		return nil, err
	}
	return &Scenario{"h", "Kubernetes objects of " + base(o.Files[0]), 0, s}, addTypes(s, facts, loaded.NodeClasses)
}

func base(name string) string { return strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)) }

func (o Objects) sources() ([]manifests.Source, error) {
	var plain []string
	var sources []manifests.Source
	for _, name := range o.Files {
		if filepath.Ext(name) != ".csv" {
			plain = append(plain, name)
			continue
		}
		rows, err := readTrace(name)
		if err != nil {
			return nil, err
		}
		if o.draw != nil {
			if rows, err = o.draw.rows(rows); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		data, err := traceObjects(rows)
		if err != nil {
			return nil, err
		}
		sources = append(sources, manifests.Source{Name: name, Data: data})
	}
	if len(plain) == 0 {
		return sources, nil
	}
	read, err := manifests.Files(plain...)
	return append(sources, read...), err
}

func readCatalog(name string) (*catalog.Catalog, error) {
	if name == "" {
		return catalog.EmbeddedAsSeen() // all results were recorded with the prices of this catalog
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the catalogue: %w", err)
	}
	defer file.Close() // the file was only read, so closing it can't lose data
	facts, err := catalog.Load(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return facts, nil
}

// addTypes sets the instance types of each pool. It derives the types from the pool's node class and from the catalog of the parameter
// facts. If the node class is missing, the default class is used. Pools with equal settings share one list.
func addTypes(s *scheduling.Snapshot, facts *catalog.Catalog, classes []kinds.NodeClass) error {
	byName := make(map[string]*awsv1.EC2NodeClass, len(classes))
	for _, object := range classes {
		if class, ok := object.(*awsv1.EC2NodeClass); ok {
			byName[class.Name] = class
		}
	}
	s.Catalogs = make(map[string][]*cloudprovider.InstanceType)
	for i := range s.NodePools {
		np := &s.NodePools[i]
		settings, err := instancetype.NewSettings(facts, byName[np.Object.Spec.Template.Spec.NodeClassRef.Name], instancetype.Options{})
		if err != nil {
			return fmt.Errorf("instance types of NodePool %s: %w", np.Object.Name, err)
		}
		np.Catalog = settings.Key()
		if s.Catalogs[np.Catalog] != nil {
			continue
		}
		if s.Catalogs[np.Catalog], err = instancetype.ResolveSettings(facts, settings); err != nil {
			return fmt.Errorf("instance types of NodePool %s: %w", np.Object.Name, err)
		}
	}
	return nil
}

// anyNode returns the pool that is used if the input has no pools. It allows Linux on amd64 and arm64, and on-demand and spot nodes.
func anyNode() scheduling.NodePool {
	np := &v1.NodePool{}
	np.Name = "default"
	np.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass, Name: "default"}
	np.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelOSStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}},
		{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64", "arm64"}},
		{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{v1.CapacityTypeSpot, v1.CapacityTypeOnDemand}},
	}
	return scheduling.NodePool{Key: v1.NewPoolKey(np.Name), Object: np}
}

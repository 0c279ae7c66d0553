package scenario

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// Objects are files of Kubernetes objects and the machines to plan them on.
type Objects struct {
	// Files and folders with objects: pods or workloads, NodePools, node classes, nodes. A file that ends in .csv is a
	// pod list of the openb trace, in its columns.
	Files []string
	// Catalog is a catalogue of EC2 in the form of simulate --catalog; empty is the one built in.
	Catalog string
}

// OpenB are the files of the openb trace in a folder of data, and false if they are not there.
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

// FromObjects makes scenario h. pods > 0 keeps only that many, the first by namespace and name.
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
	})
	if err != nil {
		return nil, err
	}
	s := loaded.Snapshot
	s.Placeholders = nil // room to keep free is no part of the comparison
	if len(s.NodePools) == 0 {
		s.NodePools = []scheduling.NodePool{anyMachine()}
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
		data, err := trace(name)
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

// trace turns a pod list of the openb trace into objects. A pod that shares a GPU asks for a whole one.
func trace(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: it is empty", name)
	}
	column := make(map[string]int)
	for i, title := range rows[0] {
		column[title] = i
	}
	for _, title := range []string{"name", "cpu_milli", "memory_mib", "num_gpu", "qos"} {
		if _, found := column[title]; !found {
			return nil, fmt.Errorf("%s: no column %s", name, title)
		}
	}
	type object = map[string]any
	items := make([]object, 0, len(rows)-1)
	for i, row := range rows[1:] {
		number := func(title string) int64 {
			n, e := strconv.ParseInt(row[column[title]], 10, 64)
			if e != nil {
				err = cmp.Or(err, fmt.Errorf("%s: row %d: %s: %w", name, i+2, title, e))
			}
			return n
		}
		requests := object{"cpu": fmt.Sprintf("%dm", number("cpu_milli")), "memory": fmt.Sprintf("%dMi", number("memory_mib"))}
		limits := object{}
		if gpus := number("num_gpu"); gpus > 0 {
			requests["nvidia.com/gpu"], limits["nvidia.com/gpu"] = strconv.FormatInt(gpus, 10), strconv.FormatInt(gpus, 10)
		}
		items = append(items, object{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": object{"namespace": "openb", "name": row[column["name"]], "labels": object{"qos": row[column["qos"]]}},
			"spec": object{"containers": []object{{
				"name": "main", "image": "trace", "resources": object{"requests": requests, "limits": limits},
			}}},
			"status": object{"phase": "Pending"},
		})
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": items})
}

func readCatalog(name string) (*catalog.Catalog, error) {
	if name == "" {
		return catalog.Embedded()
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the catalogue: %w", err)
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	facts, err := catalog.Load(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return facts, nil
}

// addTypes gives each pool the instance types its node class makes of the facts; a class that is not there is the default
// one. Pools with equal settings share a list.
func addTypes(s *scheduling.Snapshot, facts *catalog.Catalog, classes []*awsv1.EC2NodeClass) error {
	byName := make(map[string]*awsv1.EC2NodeClass, len(classes))
	for _, class := range classes {
		byName[class.Name] = class
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

// anyMachine is the pool of an input without any: Linux on either architecture, bought either way.
func anyMachine() scheduling.NodePool {
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

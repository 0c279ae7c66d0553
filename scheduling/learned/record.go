package learned

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

const (
	// MaxAnnotationBytes bounds what Corrections.Annotation writes. If the corrections need more bytes, those that were seen least recently
	// are left out.
	MaxAnnotationBytes = 32 << 10
	// maxRecords is the largest number of corrections in an annotation.
	maxRecords = 64
	// maxText is the maximum size of an unpacked annotation.
	maxText = 4 << 20
)

// AnnotationError is an annotation v1.LearnedDevicesAnnotationKey that can't be read.
type AnnotationError struct {
	// Pool is the NodePool with the annotation.
	Pool v1.PoolKey
	// Err is the reason.
	Err error
}

func (e *AnnotationError) Error() string {
	return fmt.Sprintf("nodepool %s: annotation %s: %v: remove it; the devices that nodes published before are then forgotten", e.Pool, v1.LearnedDevicesAnnotationKey, e.Err)
}

// Unwrap is Err.
func (e *AnnotationError) Unwrap() error { return e.Err }

// record is a correction as it is stored in the annotation.
type record struct {
	InstanceType string                     `json:"instanceType"`
	Driver       string                     `json:"driver"`
	Nodes        []string                   `json:"nodes"`
	Seen         time.Time                  `json:"seen"`
	Pools        []cloudprovider.DevicePool `json:"pools"`
}

// Annotation returns the corrections of a pool, for v1.LearnedDevicesAnnotationKey: JSON, packed by gzip, as base64. The annotation is
// empty if the pool has no corrections. It has at most MaxAnnotationBytes.
func (c Corrections) Annotation(pool v1.PoolKey) string {
	var list []record
	for i := range c {
		if one := &c[i]; one.Pool == pool {
			list = append(list, record{one.InstanceType, one.Driver, one.Nodes, one.Seen, one.Pools})
		}
	}
	slices.SortStableFunc(list, func(a, b record) int { return b.Seen.Compare(a.Seen) })
	list = list[:min(len(list), maxRecords)]
	for len(list) > 0 {
		if text := pack(list); len(text) <= MaxAnnotationBytes {
			return text
		}
		list = list[:len(list)-(len(list)+7)/8]
	}
	return ""
}

func pack(list []record) string {
	text, err := json.Marshal(list)
	if err != nil || len(text) > maxText {
		return strings.Repeat("-", MaxAnnotationBytes+1) // too much
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err = w.Write(text)
	if closing := w.Close(); err != nil || closing != nil {
		return "" // memory takes all
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// Kept returns the corrections in a pool's annotation, or none for a nil pool. The error is an *AnnotationError.
func Kept(key v1.PoolKey, pool *v1.NodePool) (Corrections, error) {
	if pool == nil || pool.Annotations[v1.LearnedDevicesAnnotationKey] == "" {
		return nil, nil
	}
	list, err := unpack(pool.Annotations[v1.LearnedDevicesAnnotationKey])
	if err != nil {
		return nil, &AnnotationError{key, err}
	}
	var out Corrections
	for i := range list {
		r := &list[i]
		out = append(out, Correction{
			Pool: key, InstanceType: r.InstanceType, Driver: r.Driver, Pools: r.Pools, Nodes: more(nil, r.Nodes), Seen: r.Seen,
		})
	}
	return out, nil
}

func unpack(text string) ([]record, error) {
	if len(text) > 2*MaxAnnotationBytes {
		return nil, fmt.Errorf("it has %d bytes, more than the controller ever writes", len(text))
	}
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return nil, err
	}
	if len(plain) > maxText {
		return nil, fmt.Errorf("it has more than %d MiB after unpacking", maxText>>20)
	}
	var list []record
	if err := json.Unmarshal(plain, &list); err != nil {
		return nil, err
	}
	if len(list) > maxRecords {
		return nil, fmt.Errorf("it has %d entries, more than the controller ever writes", len(list))
	}
	for i := range list {
		if err := list[i].check(field.NewPath("").Index(i)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// check returns an error if this package can't have written the record.
func (r *record) check(path *field.Path) error {
	var faults field.ErrorList
	if r.InstanceType == "" || len(r.Nodes) == 0 || len(r.Pools) == 0 {
		faults = append(faults, field.Required(path, "instanceType, nodes and pools are needed"))
	}
	if n := devicesIn(r.Pools); n > maxDevices {
		faults = append(faults, field.TooMany(path.Child("pools"), n, maxDevices))
	}
	for i := range r.Pools {
		at := path.Child("pools").Index(i)
		if r.Pools[i].Driver != r.Driver {
			faults = append(faults, field.Invalid(at.Child("driver"), r.Pools[i].Driver, "must be that of the entry"))
		}
		faults = append(faults, cloudprovider.ValidateDevicePool(&r.Pools[i], at)...)
	}
	return faults.ToAggregate()
}

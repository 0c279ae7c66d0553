package market

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

const (
	// saveEvery is how often changed content is saved.
	saveEvery = time.Minute
	// maxKept limits the total size of the compressed parts in a ConfigMap; the API server refuses ConfigMaps of more than 1 MiB.
	maxKept = 900 << 10
	// maxUnpacked limits the size of a part after decompression.
	maxUnpacked = 64 << 20
)

// Part is a piece of data that is kept after the end of the process.
type Part struct {
	// Name is the name of the part's key in the ConfigMap, without the suffix ".gz", for example "spot-history".
	Name string
	// Export returns the content of the part; the bytes are equal as long as nothing has changed.
	Export func() ([]byte, error)
	// Import reads content that Export returned in this process or in another process.
	Import func([]byte) error
}

// SpotHistory returns the part with the observations of spot markets.
func SpotHistory(m *spotrisk.Market) Part {
	return Part{
		Name: "spot-history",
		Export: func() ([]byte, error) {
			var text bytes.Buffer
			err := m.Export(&text)
			return text.Bytes(), err
		},
		Import: func(text []byte) error { return m.ImportAt(bytes.NewReader(text), time.Now()) },
	}
}

// Keeper keeps parts in a ConfigMap, compressed by gzip. A part's key is its name with the suffix ".gz". The leader reads the ConfigMap
// when it starts, and writes changed parts every minute and when it ends. A part that can't be read is ignored and later replaced; a part
// that does not fit is not saved. Both are logged. You can copy the ConfigMap to another cluster, or its parts to files: see docs/spot.md.
type Keeper struct {
	// Client writes the ConfigMap, and Reader reads it; a Reader without a cache needs no permission to list. Required.
	Client client.Client
	Reader client.Reader
	// Namespace and Name are those of the ConfigMap. Required.
	Namespace, Name string
	// Parts are the parts to keep, with unique names.
	Parts []Part
	// Logger receives errors; nil discards them.
	Logger *slog.Logger

	saved map[string][]byte // parts as they were last saved or read, compressed
}

// NeedLeaderElection returns true: only one process writes.
func (k *Keeper) NeedLeaderElection() bool { return true }

// Start loads the parts, and then saves them until ctx ends.
func (k *Keeper) Start(ctx context.Context) error {
	for {
		err := k.Load(ctx)
		if err == nil {
			break
		}
		k.log().Warn("cannot read history, retrying", "configMap", k.Namespace+"/"+k.Name, "error", err)
		select { // do not save now, because this would replace content that could not be read
		case <-ctx.Done():
			return nil
		case <-time.After(saveEvery):
		}
	}
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return k.try(last)
		case <-ticker.C:
			_ = k.try(ctx)
		}
	}
}

func (k *Keeper) try(ctx context.Context) error {
	if err := k.Save(ctx); err != nil {
		k.log().Warn("cannot save history, retrying unless the process ends", "configMap", k.Namespace+"/"+k.Name, "error", err)
	}
	return nil
}

// Load reads the ConfigMap and imports its parts. If the ConfigMap does not exist, Load does nothing.
func (k *Keeper) Load(ctx context.Context) error {
	k.saved = map[string][]byte{}
	found := &corev1.ConfigMap{}
	if err := k.Reader.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: k.Name}, found); err != nil {
		return client.IgnoreNotFound(err)
	}
	for _, part := range k.Parts {
		packed := found.BinaryData[part.Name+".gz"]
		if len(packed) == 0 {
			continue
		}
		k.saved[part.Name] = packed
		text, err := unpack(packed)
		if err == nil {
			err = part.Import(text)
		}
		if err != nil {
			k.log().Error("cannot read part of history, starting without it", "configMap", k.Namespace+"/"+k.Name, "part", part.Name, "error", err)
		}
	}
	return nil
}

// Save writes the parts that have changed since they were read or saved.
func (k *Keeper) Save(ctx context.Context) error {
	var errs []error
	next, total := map[string][]byte{}, 0
	for _, part := range k.Parts {
		text, err := part.Export()
		var packed []byte
		if err == nil {
			packed, err = pack(text)
		}
		if err == nil && total+len(packed) > maxKept {
			err = fmt.Errorf("it has %d KiB, and all parts together may have at most %d KiB", len(packed)>>10, maxKept>>10)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("part %s: %w", part.Name, err))
			packed = k.saved[part.Name]
		}
		total += len(packed)
		next[part.Name] = packed
	}
	if maps.EqualFunc(next, k.saved, bytes.Equal) {
		return errors.Join(errs...)
	}
	if err := k.write(ctx, next); err != nil {
		return errors.Join(append(errs, err)...)
	}
	k.saved = next
	return errors.Join(errs...)
}

// write stores the parts. Other keys of the ConfigMap stay as they are.
func (k *Keeper) write(ctx context.Context, parts map[string][]byte) error {
	found := &corev1.ConfigMap{}
	err := k.Reader.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: k.Name}, found)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return err
	}
	if missing {
		found = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name}}
	}
	before := found.DeepCopy()
	if found.BinaryData == nil {
		found.BinaryData = map[string][]byte{}
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if len(parts[name]) > 0 {
			found.BinaryData[name+".gz"] = parts[name]
		}
	}
	if missing {
		return k.Client.Create(ctx, found)
	}
	return k.Client.Patch(ctx, found, client.MergeFrom(before))
}

func (k *Keeper) log() *slog.Logger {
	if k.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return k.Logger
}

func pack(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err == nil && len(text) > maxUnpacked {
		err = fmt.Errorf("it has more than %d MiB after unpacking", maxUnpacked>>20)
	}
	return text, err
}

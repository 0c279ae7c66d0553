package market

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
)

// shareEvery is how often a cluster reports its use, and reads the reports of others.
const shareEvery = time.Minute

// Store contains the reports that the clusters of an account make for each other.
type Store interface {
	// Put stores the report of one cluster, and replaces the cluster's last report.
	Put(context.Context, commitments.ClusterUse) error
	// List returns the reports of all clusters. Reports that can't be read are left out, and the error names them.
	List(context.Context) ([]commitments.ClusterUse, error)
}

// Sharing reports the cluster's use of commitments, and reads the reports of other clusters. It is safe for concurrent use.
type Sharing struct {
	// Cluster by name. Required.
	Cluster string
	// Uses returns the cluster's use of commitments, for example Costs.Uses. Required.
	Uses func() commitments.Uses
	// Store contains the reports. Required.
	Store Store
	// Logger receives errors; nil discards them.
	Logger *slog.Logger
	// Clock is the clock; nil means the real clock. Waiting always uses real time.
	Clock option.Clock

	mu      sync.Mutex
	reports []commitments.ClusterUse
}

// NeedLeaderElection returns true: only one process reports.
func (s *Sharing) NeedLeaderElection() bool { return true }

// Start reports and reads until ctx ends.
func (s *Sharing) Start(ctx context.Context) error {
	ticker := time.NewTicker(shareEvery)
	defer ticker.Stop()
	for {
		if err := s.Exchange(ctx); err != nil && ctx.Err() == nil && s.Logger != nil {
			s.Logger.Warn("cannot report own use of commitments, or read the reports of other clusters; retrying", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Exchange reads the reports of other clusters, and writes the report of this cluster. A cluster that has not planned yet writes no report.
func (s *Sharing) Exchange(ctx context.Context) error {
	reports, err := s.Store.List(ctx)
	s.mu.Lock()
	if err == nil || len(reports) > 0 {
		s.reports = reports
	}
	s.mu.Unlock()
	uses := s.Uses()
	if uses == nil {
		return err
	}
	now := option.Time(s.Clock, time.Now)
	return errors.Join(err, s.Store.Put(ctx, commitments.ClusterUse{Cluster: s.Cluster, At: now, Uses: uses}))
}

// Reports returns the last reports of other clusters that were read, for CostsOptions.Reports.
func (s *Sharing) Reports() []commitments.ClusterUse {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reports
}

// Clusters returns the names of clusters that reported, for aws.Options.SharingClusters.
func (s *Sharing) Clusters() []string {
	now := option.Time(s.Clock, time.Now)
	var names []string
	for _, r := range s.Reports() {
		if r.Current(now) {
			names = append(names, r.Cluster)
		}
	}
	return names
}

// Directory is a Store with a file for each cluster. All clusters of the account must be able to write to it: a shared file system, or a
// mounted bucket.
type Directory string

// useSuffix is the suffix of the names of report files.
const useSuffix = ".commitments.json"

// maxReports limits the number of reports that are read.
const maxReports = 1000

var plainName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_.-]{0,99}$`)

// Put implements Store. The file is replaced atomically, so that no reader gets only a part of it.
func (d Directory) Put(_ context.Context, use commitments.ClusterUse) error {
	if !plainName.MatchString(use.Cluster) {
		return fmt.Errorf("cluster %q: its name can't be that of a file: use letters, digits, '-', '_' and '.'", use.Cluster)
	}
	var text bytes.Buffer
	if err := use.Encode(&text); err != nil {
		return err
	}
	target := filepath.Join(string(d), use.Cluster+useSuffix)
	temporary := target + ".new"
	if err := os.WriteFile(temporary, text.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, target)
}

// List implements Store.
func (d Directory) List(context.Context) ([]commitments.ClusterUse, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	var out []commitments.ClusterUse
	var errs []error
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), useSuffix) || len(out) == maxReports {
			continue
		}
		use, err := readUse(filepath.Join(string(d), entry.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // the file was replaced or removed in the meantime
		case err != nil:
			errs = append(errs, fmt.Errorf("report %s: %w", entry.Name(), err))
		default:
			out = append(out, use)
		}
	}
	return out, errors.Join(errs...)
}

func readUse(name string) (commitments.ClusterUse, error) {
	file, err := os.Open(name)
	if err != nil {
		return commitments.ClusterUse{}, err
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	return commitments.DecodeUse(file)
}

// ConfigMap is a Store in a ConfigMap with a key for each cluster. All clusters that share it write to the API server that has the
// ConfigMap.
type ConfigMap struct {
	// Client writes the ConfigMap, and Reader reads it. Required.
	Client client.Client
	Reader client.Reader
	// Namespace and Name. Required.
	Namespace, Name string
}

// Put implements Store. Keys of other clusters are not changed.
func (c ConfigMap) Put(ctx context.Context, use commitments.ClusterUse) error {
	if !plainName.MatchString(use.Cluster) {
		return fmt.Errorf("cluster %q: its name can't be a key of a ConfigMap: use letters, digits, '-', '_' and '.'", use.Cluster)
	}
	var text bytes.Buffer
	if err := use.Encode(&text); err != nil {
		return err
	}
	found, err := c.get(ctx)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return err
	}
	if missing {
		found = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}}
	}
	before := found.DeepCopy()
	if found.Data == nil {
		found.Data = map[string]string{}
	}
	found.Data[use.Cluster+useSuffix] = text.String()
	if missing {
		return c.Client.Create(ctx, found)
	}
	return c.Client.Patch(ctx, found, client.MergeFrom(before))
}

// List implements Store.
func (c ConfigMap) List(ctx context.Context) ([]commitments.ClusterUse, error) {
	found, err := c.get(ctx)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	var out []commitments.ClusterUse
	var errs []error
	for key, text := range found.Data {
		if !strings.HasSuffix(key, useSuffix) || len(out) == maxReports {
			continue
		}
		use, err := commitments.DecodeUse(strings.NewReader(text))
		if err != nil {
			errs = append(errs, fmt.Errorf("report %s: %w", key, err))
			continue
		}
		out = append(out, use)
	}
	slices.SortFunc(out, func(a, b commitments.ClusterUse) int { return strings.Compare(a.Cluster, b.Cluster) })
	return out, errors.Join(errs...)
}

func (c ConfigMap) get(ctx context.Context) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	err := c.Reader.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Name}, found)
	return found, err
}

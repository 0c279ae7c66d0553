package onaws

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/discovery"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws"
)

// Cluster returns the details of a cluster, from EKS or from explicit settings. Clusters outside EKS need the explicit settings.
type Cluster struct {
	// Found returns the details from EKS. Required.
	Found aws.ClusterInfoSource
	// Endpoint and CABundle override the values from EKS. If Endpoint is set, EKS need not be reachable.
	Endpoint, CABundle string
	// Version returns the API server's version, such as "1.35". The result overrides the version from EKS, because nodes must not be newer
	// than the API server. Nil means that the version is read from EKS.
	Version func() (string, error)
	// Logger logs, at most every ten minutes, that EKS does not respond. Nil discards it.
	Logger *slog.Logger
	// Clock is the clock. Nil means the real clock.
	Clock option.Clock

	mu      sync.Mutex
	told    time.Time
	version string
	asked   time.Time
}

const (
	// reportEvery is the minimum interval between two log lines that EKS does not respond.
	reportEvery = 10 * time.Minute
	// versionEvery is how often the API server is asked for its version.
	versionEvery = 5 * time.Minute
)

// ClusterInfo implements aws.ClusterInfoSource.
func (c *Cluster) ClusterInfo(ctx context.Context) (aws.ClusterInfo, error) {
	info, err := c.Found.ClusterInfo(ctx)
	if err != nil {
		if c.Endpoint == "" || ctx.Err() != nil {
			return aws.ClusterInfo{}, err
		}
		c.report(err)
		info = aws.ClusterInfo{}
	}
	if c.Endpoint != "" {
		info.Endpoint = c.Endpoint
	}
	if c.CABundle != "" {
		info.CABundle = c.CABundle
	}
	if c.Version == nil {
		return info, nil
	}
	if info.Version, err = c.currentVersion(info.Version); err != nil {
		return aws.ClusterInfo{}, err
	}
	return info, nil
}

func (c *Cluster) report(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.Logger == nil || !c.told.IsZero() && now.Sub(c.told) < reportEvery {
		return
	}
	c.told = now
	c.Logger.Warn("cannot describe EKS cluster, using only the configured values: nodes with AL2023 images can't be launched, "+
		"because they need the cluster's range of service addresses", "error", err)
}

// currentVersion returns the API server's version. While the API server does not respond, it returns the last known version, or the version
// from EKS.
func (c *Cluster) currentVersion(ofEKS string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); c.asked.IsZero() || now.Sub(c.asked) >= versionEvery {
		version, err := c.Version()
		switch {
		case err == nil:
			c.version, c.asked = version, now
		case c.version == "" && ofEKS == "":
			return "", err
		case c.version == "":
			return ofEKS, nil
		}
	}
	return c.version, nil
}

func (c *Cluster) now() time.Time { return option.Time(c.Clock, time.Now) }

// ServerVersion returns the API server's major and minor version, such as "1.35".
func ServerVersion(api discovery.ServerVersionInterface) func() (string, error) {
	return func() (string, error) {
		info, err := api.ServerVersion()
		if err != nil {
			return "", fmt.Errorf("asking the API server for its version: %w", err)
		}
		minor := strings.TrimRight(info.Minor, "+") // EKS appends "+" to the minor version, which is removed here
		if info.Major == "" || minor == "" {
			return "", fmt.Errorf("asking the API server for its version: unexpected answer %q.%q", info.Major, info.Minor)
		}
		return info.Major + "." + minor, nil
	}
}

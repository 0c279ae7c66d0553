package aws

import (
	"context"
	"fmt"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// ClusterInfo contains the details of the cluster that nodes need to join it, and that determine their images.
type ClusterInfo struct {
	// Version of Kubernetes, "1.35". It is optional here, but images that depend on the cluster's version need it.
	Version string
	// Endpoint is the URL of the API server. Required, except for images of family Custom.
	Endpoint string
	// CABundle is the certificate authority of the API server, PEM in base64. Empty when it is not known.
	CABundle string
	// ServiceCIDR is the range of the cluster's service addresses. Required for AL2023.
	ServiceCIDR string
	// DNS is the address of the cluster's DNS service, for node classes that set none. Empty when it is not known.
	DNS string
	// IPFamily of the cluster; empty means that it is derived from its addresses.
	IPFamily launchtemplate.IPFamily
}

// ClusterInfoSource returns the details of the cluster. It is called at every launch, so it should cache its answer for a while.
type ClusterInfoSource interface {
	ClusterInfo(ctx context.Context) (ClusterInfo, error)
}

// StaticCluster is a ClusterInfoSource with a constant answer.
type StaticCluster ClusterInfo

// ClusterInfo implements ClusterInfoSource.
func (c StaticCluster) ClusterInfo(context.Context) (ClusterInfo, error) { return ClusterInfo(c), nil }

// clusterPeriod is how long an answer of EKS is used.
const clusterPeriod = 5 * time.Minute

// EKSCluster asks EKS about a cluster, at most every five minutes; while EKS does not answer, it uses the last answer. It is safe
// for concurrent use. Make one with NewEKSCluster.
type EKSCluster struct {
	api  sdk.EKSAPI
	name string
	now  func() time.Time

	mu    sync.Mutex
	info  ClusterInfo
	asked time.Time // time of the last answer of EKS; zero before the first answer
}

// NewEKSCluster returns a source for the cluster of that name. now is the clock. Nil means time.Now.
func NewEKSCluster(api sdk.EKSAPI, name string, now func() time.Time) *EKSCluster {
	if now == nil {
		now = time.Now
	}
	return &EKSCluster{api: api, name: name, now: now}
}

// ClusterInfo implements ClusterInfoSource.
func (c *EKSCluster) ClusterInfo(ctx context.Context) (ClusterInfo, error) {
	info, asked := c.known()
	if !asked.IsZero() && c.now().Sub(asked) < clusterPeriod {
		return info, nil
	}
	out, err := c.api.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: awssdk.String(c.name)})
	switch {
	case err != nil && ctx.Err() == nil && !asked.IsZero():
		return info, nil
	case sdk.IsNotFound(err):
		return ClusterInfo{}, cloudprovider.NewPermanentError(fmt.Errorf("there is no EKS cluster %q in the region: check the name: %w", c.name, err))
	case err != nil:
		return ClusterInfo{}, sdk.Wrap(fmt.Sprintf("reading EKS cluster %q", c.name), err)
	case out == nil || out.Cluster == nil:
		return ClusterInfo{}, cloudprovider.NewTransientError(fmt.Errorf("reading EKS cluster %q: the answer is empty", c.name))
	}
	info = clusterInfo(out.Cluster)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info, c.asked = info, c.now()
	return info, nil
}

func (c *EKSCluster) known() (ClusterInfo, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info, c.asked
}

func clusterInfo(cluster *ekstypes.Cluster) ClusterInfo {
	info := ClusterInfo{Version: awssdk.ToString(cluster.Version), Endpoint: awssdk.ToString(cluster.Endpoint)}
	if cluster.CertificateAuthority != nil {
		info.CABundle = awssdk.ToString(cluster.CertificateAuthority.Data)
	}
	if network := cluster.KubernetesNetworkConfig; network != nil {
		info.ServiceCIDR = awssdk.ToString(network.ServiceIpv4Cidr)
		if network.IpFamily == ekstypes.IpFamilyIpv6 {
			info.ServiceCIDR, info.IPFamily = awssdk.ToString(network.ServiceIpv6Cidr), launchtemplate.IPv6
		}
	}
	return info
}

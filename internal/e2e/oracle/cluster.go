package oracle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// cluster has the data of kube-scheduler's cache: the nodes, and the pods that are bound to them. It is updated with each pod.
// kube-scheduler's own snapshot would rebuild whole lists for every bound pod.
type cluster struct {
	infos  []fwk.NodeInfo
	byName map[string]*framework.NodeInfo
	// claims counts the bound pods that use a PersistentVolumeClaim, by "namespace/name".
	claims map[string]int
}

func newCluster() *cluster {
	return &cluster{byName: map[string]*framework.NodeInfo{}, claims: map[string]int{}}
}

func (c *cluster) addNode(node *corev1.Node) error {
	if _, twice := c.byName[node.Name]; twice {
		return fmt.Errorf("node %q stands twice", node.Name)
	}
	info := framework.NewNodeInfo()
	info.SetNode(node)
	c.infos = append(c.infos, info)
	c.byName[node.Name] = info
	return nil
}

// bind binds a pod to a node without any check. It copies the pod and sets the node's name in the copy.
func (c *cluster) bind(pod *corev1.Pod, node string) error {
	info, ok := c.byName[node]
	if !ok {
		return fmt.Errorf("binding pod %s/%s: there is no node %q", pod.Namespace, pod.Name, node)
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeName = node
	info.AddPod(pod)
	for i := range pod.Spec.Volumes {
		if name := claimName(pod, &pod.Spec.Volumes[i]); name != "" {
			c.claims[pod.Namespace+"/"+name]++
		}
	}
	return nil
}

// These methods make the cluster a fwk.SharedLister. The cluster has no pod groups, because no plugin that reads them is called.

func (c *cluster) NodeInfos() fwk.NodeInfoLister                             { return nodeInfos{c} }
func (c *cluster) StorageInfos() fwk.StorageInfoLister                       { return storageInfos{c} }
func (c *cluster) PodGroups() fwk.PodGroupLister                             { return nil }
func (c *cluster) PodGroupStates() fwk.PodGroupStateLister                   { return nil }
func (c *cluster) CompositePodGroups() fwk.CompositePodGroupLister           { return nil }
func (c *cluster) CompositePodGroupStates() fwk.CompositePodGroupStateLister { return nil }

type nodeInfos struct{ *cluster }

func (n nodeInfos) List() ([]fwk.NodeInfo, error) { return n.infos, nil }

func (n nodeInfos) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) {
	return n.having(func(i fwk.NodeInfo) []fwk.PodInfo { return i.GetPodsWithAffinity() }), nil
}

func (n nodeInfos) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	return n.having(func(i fwk.NodeInfo) []fwk.PodInfo { return i.GetPodsWithRequiredAntiAffinity() }), nil
}

func (n nodeInfos) HavePodsWithRequiredNonHostScopedAntiAffinityList() ([]fwk.NodeInfo, error) {
	return n.having(func(i fwk.NodeInfo) []fwk.PodInfo { return i.GetPodsWithRequiredNonHostScopedAntiAffinity() }), nil
}

func (n nodeInfos) having(pods func(fwk.NodeInfo) []fwk.PodInfo) []fwk.NodeInfo {
	var out []fwk.NodeInfo
	for _, info := range n.infos {
		if len(pods(info)) > 0 {
			out = append(out, info)
		}
	}
	return out
}

func (n nodeInfos) Get(name string) (fwk.NodeInfo, error) {
	if info, ok := n.byName[name]; ok {
		return info, nil
	}
	return nil, fmt.Errorf("there is no node %q", name)
}

type storageInfos struct{ *cluster }

func (s storageInfos) IsPVCUsedByPods(key string) bool { return s.claims[key] > 0 }

package instanceprofile

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/internal/drifthash"
)

// Name returns the name of the profile for a class and a role, for example "demo_1234567890". It is always the same for the same class and
// role. role may have a path, which does not matter.
func (m *Manager) Name(class types.UID, role string) string {
	return m.options.ClusterName + "_" + drifthash.Of([]string{m.options.Region + "\x00" + string(class) + "\x00" + bare(role)})
}

// Path returns the path of the cluster's profiles: "/karpenter/us-east-1/demo/".
func (m *Manager) Path() string {
	return "/karpenter/" + m.options.Region + "/" + m.options.ClusterName + "/"
}

func (m *Manager) classPath(class types.UID) string { return m.Path() + string(class) + "/" }

// legacyName returns the name of a class's profile in Karpenter's releases with v1beta1. It returns "" if IAM does not allow such a name.
func (m *Manager) legacyName(class string) string {
	name := m.options.ClusterName + "_" + drifthash.Of(m.options.Region+class)
	if !validName(name) {
		return ""
	}
	return name
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_+=,.@-]{1,128}$`)

func validName(name string) bool { return nameForm.MatchString(name) }

// bare returns a role's name without its path. IAM's description of a profile does not contain that path.
func bare(role string) string { return role[strings.LastIndexByte(role, '/')+1:] }

// Tags returns the tags of a class's profile: own, overridden by the tags that name the owner.
func (m *Manager) Tags(nodeClass string, own map[string]string) map[string]string {
	tags := make(map[string]string, len(own)+4)
	for key, value := range own {
		tags[key] = value
	}
	tags[awsv1.TagClusterPrefix+m.options.ClusterName] = "owned"
	tags[awsv1.TagClusterName] = m.options.ClusterName
	tags[awsv1.TagNodeClass] = nodeClass
	tags["topology.kubernetes.io/region"] = m.options.Region
	return tags
}

package v1alpha1

// NodeRolePlaceholder is the role of a node class if no role was given. envsubst can replace it; a controller refuses a role that begins
// with $.
const NodeRolePlaceholder = "$KARPENTER_NODE_ROLE"

// IdentityMode says how to convert the instance profile, which early releases of v1beta1 don't accept.
//
// +kubebuilder:object:generate=false
type IdentityMode string

const (
	// IdentityRole writes a role and drops the profile: use it for manifests.
	IdentityRole IdentityMode = "role"
	// IdentityKeep keeps the profile: use it for live objects, and for manifests of releases from 0.32.2 on.
	IdentityKeep IdentityMode = "keep"
)

// ConvertOptions are the options of a conversion. The zero value keeps the meaning of the node template, with a placeholder as the role.
//
// +kubebuilder:object:generate=false
type ConvertOptions struct {
	// Identity says how to convert the instance profile. Empty means IdentityRole.
	Identity IdentityMode
	// NodeRole is the role that IdentityRole writes. Empty means NodeRolePlaceholder.
	NodeRole string
	// DefaultInstanceProfile is the instance profile in the global settings, for node templates without one.
	DefaultInstanceProfile string
	// GlobalTags are the tags of the global settings; tags of the node template override them.
	GlobalTags map[string]string
	// ReferenceCompat produces the result of Karpenter's conversion tool where it differs: see the package comment.
	ReferenceCompat bool
	// Force returns an object even if there are warnings of severity error. Without Force the object is nil in this case.
	Force bool
}

// role returns the role that IdentityRole writes.
func (o ConvertOptions) role() string {
	if o.NodeRole == "" {
		return NodeRolePlaceholder
	}
	return o.NodeRole
}

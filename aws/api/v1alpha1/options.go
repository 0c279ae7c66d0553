package v1alpha1

// NodeRolePlaceholder is the role of a node class that was made where nobody said which role it is. It is made to be
// filled in by envsubst; a controller refuses to act on a role that begins with $.
const NodeRolePlaceholder = "$KARPENTER_NODE_ROLE"

// IdentityMode says what becomes of the instance profile, which early releases of v1beta1 don't take.
//
// +kubebuilder:object:generate=false
type IdentityMode string

const (
	// IdentityRole writes a role and drops the profile: for manifests.
	IdentityRole IdentityMode = "role"
	// IdentityKeep keeps the profile: for live objects, and for manifests of releases from 0.32.2 on.
	IdentityKeep IdentityMode = "keep"
)

// ConvertOptions steer a conversion. The zero value asks for the meaning to be kept, with a placeholder as the role.
//
// +kubebuilder:object:generate=false
type ConvertOptions struct {
	// Identity says what becomes of the instance profile. Empty is IdentityRole.
	Identity IdentityMode
	// NodeRole is what IdentityRole writes. Empty is NodeRolePlaceholder.
	NodeRole string
	// DefaultInstanceProfile is what the global settings say of node templates without a profile.
	DefaultInstanceProfile string
	// GlobalTags are the tags of the global settings; those of the node template win.
	GlobalTags map[string]string
	// ReferenceCompat asks for what Karpenter's conversion tool gives, where that is something else: see the package.
	ReferenceCompat bool
	// Force gives an object even though there are warnings of severity error. Without it the object is nil then.
	Force bool
}

// role is what IdentityRole writes.
func (o ConvertOptions) role() string {
	if o.NodeRole == "" {
		return NodeRolePlaceholder
	}
	return o.NodeRole
}

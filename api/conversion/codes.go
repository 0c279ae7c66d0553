package conversion

import "slices"

// Code identifies the subject of a warning. Codes are stable, and programs may compare them.
type Code string

// Codes of conversions from v1beta1 to v1.
const (
	// CodeWaitExplicit (info): consolidateAfter 0s was written. Before, a fixed wait of 15 s applied.
	CodeWaitExplicit Code = "W501"
	// CodeConsolidationStaysOff (info): consolidation was off and stays off.
	CodeConsolidationStaysOff Code = "W502"
	// CodeWaitMissing (error): the pool has WhenEmpty without consolidateAfter.
	CodeWaitMissing Code = "W503"
	// CodeExpiryMoved (warn): expireAfter moved to the template, and expiry has become forceful.
	CodeExpiryMoved Code = "W504"
	// CodeReferenceCompleted (info): the missing group or kind of the node class was added.
	CodeReferenceCompleted Code = "W505"
	// CodeResourcesDropped (warn): a pool's template had resources, which no version allows.
	CodeResourcesDropped Code = "W506"
	// CodeKubeletAnnotated (warn): the kubelet block was kept in an annotation.
	CodeKubeletAnnotated Code = "W507"
	// CodeNodeClassSplit (warn): a node class was copied, because pools that share it have different kubelet blocks.
	CodeNodeClassSplit Code = "W508"
	// CodeKubeletConflict (error): the node class already has another kubelet block.
	CodeKubeletConflict Code = "W509"
	// CodeAlias (info): the choice of images was written as an alias.
	CodeAlias Code = "W510"
	// CodeUbuntu (warn): the AMI family Ubuntu was written as AL2 with the class's image selector.
	CodeUbuntu Code = "W511"
	// CodeUbuntuWithoutImages (error): the class has the family Ubuntu and no images.
	CodeUbuntuWithoutImages Code = "W512"
	// CodeCustomUserData (warn): the user data of family Custom must register nodes with a taint.
	CodeCustomUserData Code = "W513"
	// CodeHopLimitKept (info): the former default hop limit of 2 was written explicitly.
	CodeHopLimitKept Code = "W514"
	// CodePublicAddress (info): public addresses are no longer forced off in private subnets.
	CodePublicAddress Code = "W515"
	// CodeTolerationAdded (info): a workload tolerates the disruption taint, and a toleration with the taint's new name was added.
	CodeTolerationAdded Code = "W516"
	// CodeReferenceVersionDropped (info): the version in apiVersion of a node class reference was dropped, because v1 has no field for
	// it.
	CodeReferenceVersionDropped Code = "W517"
)

// Codes of every conversion.
const (
	// CodeResultInvalid (error): the result breaks a rule of its own generation.
	CodeResultInvalid Code = "W601"
	// CodeUnknownKind (error): the group never had the kind, or did not have it in that version.
	CodeUnknownKind Code = "W602"
	// CodeSkipped (warn): an object of another group was left out.
	CodeSkipped Code = "W603"
	// CodeUnknownField (warn): a field that the kind doesn't have was left out.
	CodeUnknownField Code = "W604"
	// CodeAppliedDropped (info): kubectl apply's annotation was left out, because the object became another kind or version.
	CodeAppliedDropped Code = "W605"
	// CodeKubeletMoved (warn): a kubelet block in a NodePool of v1, where it has no meaning, was moved to the node class.
	CodeKubeletMoved Code = "W606"
	// CodeNoObject (warn): a document in a folder is not a Kubernetes object, and was left out.
	CodeNoObject Code = "W607"
	// CodeUnreadable (error): a document can't be read. The warning is given if the options ask to convert the other documents anyway.
	CodeUnreadable Code = "W608"
)

// Codes of conversions from v1 back to v1beta1.
const (
	// CodeGracePeriodDropped (warn): terminationGracePeriod was left out.
	CodeGracePeriodDropped Code = "W901"
	// CodeBudgetReasonsDropped (warn): a budget's reasons were left out, so it now applies to every reason.
	CodeBudgetReasonsDropped Code = "W902"
	// CodeWaitDropped (warn): consolidateAfter was left out; a fixed wait of 15 s applies.
	CodeWaitDropped Code = "W903"
	// CodeZeroWaitDropped (info): consolidateAfter 0s was left out; a fixed wait of 15 s applies.
	CodeZeroWaitDropped Code = "W904"
	// CodeExpiryMovedBack (info): expireAfter moved to the disruption block, and expiry has become graceful.
	CodeExpiryMovedBack Code = "W905"
	// CodeReplicasDropped (error): v1beta1 can't express a static pool.
	CodeReplicasDropped Code = "W906"
	// CodeNodeLimit (warn): v1beta1 ignores a limit on the number of nodes.
	CodeNodeLimit Code = "W907"
	// CodeBalancedDropped (warn): the policy Balanced was written as WhenUnderutilized.
	CodeBalancedDropped Code = "W908"
	// CodeOperatorRewritten (info): a requirement was written with another operator that means the same.
	CodeOperatorRewritten Code = "W909"
	// CodeClaimExpiryDropped (warn): expireAfter of a claim was left out; the expireAfter of its pool applies.
	CodeClaimExpiryDropped Code = "W910"
	// CodeAnnotationMalformed (error): a compatibility annotation can't be read.
	CodeAnnotationMalformed Code = "W911"
	// CodeBudgetDropped (info): a budget with an empty list of reasons limits nothing and was left out.
	CodeBudgetDropped Code = "W912"
	// CodeAliasVersionKept (info): the version of an image alias was kept in an annotation.
	CodeAliasVersionKept Code = "W913"
	// CodeLaterFieldDropped (warn): a field that only v1 has was left out.
	CodeLaterFieldDropped Code = "W914"
	// CodeShortHopLimitKept (info): the hop limit 1, v1's default, was written explicitly.
	CodeShortHopLimitKept Code = "W915"
	// CodeKubeletMovedBack (info): the node class's kubelet block was moved back to its pools.
	CodeKubeletMovedBack Code = "W916"
)

// Codes returns all codes, sorted. The caller owns the slice.
func Codes() []Code {
	codes := make([]Code, 0, len(messages()))
	for code := range messages() {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

// Severity returns the severity of the code; empty for an unknown code.
func (c Code) Severity() Severity { return messages()[c].severity }

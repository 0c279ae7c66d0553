package conversion

import "slices"

// Code names what a warning is about. It is stable, and made to be compared.
type Code string

// Codes of conversions from v1beta1 to v1.
const (
	// CodeWaitExplicit (info): consolidateAfter 0s was written where a fixed wait of 15 s applied.
	CodeWaitExplicit Code = "W501"
	// CodeConsolidationStaysOff (info): consolidation was off and stays off.
	CodeConsolidationStaysOff Code = "W502"
	// CodeWaitMissing (error): WhenEmpty came without consolidateAfter.
	CodeWaitMissing Code = "W503"
	// CodeExpiryMoved (warn): expireAfter moved to the template, and expiry has become forceful.
	CodeExpiryMoved Code = "W504"
	// CodeReferenceCompleted (info): group or kind of the node class were filled in.
	CodeReferenceCompleted Code = "W505"
	// CodeResourcesDropped (warn): a pool's template had resources, which was never legal.
	CodeResourcesDropped Code = "W506"
	// CodeKubeletAnnotated (warn): the kubelet block was kept in an annotation.
	CodeKubeletAnnotated Code = "W507"
	// CodeNodeClassSplit (warn): a node class was copied, because pools that share it have different kubelet blocks.
	CodeNodeClassSplit Code = "W508"
	// CodeKubeletConflict (error): the node class has a kubelet block already, and it is another one.
	CodeKubeletConflict Code = "W509"
	// CodeAlias (info): the choice of images was written as an alias.
	CodeAlias Code = "W510"
	// CodeUbuntu (warn): the family Ubuntu was written as AL2 with the images given.
	CodeUbuntu Code = "W511"
	// CodeUbuntuWithoutImages (error): the family Ubuntu came without images.
	CodeUbuntuWithoutImages Code = "W512"
	// CodeCustomUserData (warn): the user data of family Custom must register nodes with a taint.
	CodeCustomUserData Code = "W513"
	// CodeHopLimitKept (info): the hop limit 2 of old was written out.
	CodeHopLimitKept Code = "W514"
	// CodePublicAddress (info): public addresses are no longer forced off in private subnets.
	CodePublicAddress Code = "W515"
	// CodeTolerationAdded (info): a workload's toleration of the disruption taint was joined by one of its new name.
	CodeTolerationAdded Code = "W516"
	// CodeReferenceVersionDropped (info): the version in apiVersion of a node class reference has no place in v1.
	CodeReferenceVersionDropped Code = "W517"
)

// Codes of every conversion.
const (
	// CodeResultInvalid (error): the result breaks a rule of its own generation.
	CodeResultInvalid Code = "W601"
	// CodeUnknownKind (error): the group is known and has never had the kind, or not in that version.
	CodeUnknownKind Code = "W602"
	// CodeSkipped (warn): an object of another group was left out.
	CodeSkipped Code = "W603"
	// CodeUnknownField (warn): a field that the kind doesn't have was left out.
	CodeUnknownField Code = "W604"
	// CodeAppliedDropped (info): what kubectl apply had noted in an annotation of an object that became another was left out.
	CodeAppliedDropped Code = "W605"
	// CodeKubeletMoved (warn): a kubelet block that stood in a NodePool of v1, where it means nothing, was moved to the node class.
	CodeKubeletMoved Code = "W606"
	// CodeNoObject (warn): what was found in a folder is no Kubernetes object, and was left out.
	CodeNoObject Code = "W607"
	// CodeUnreadable (error): a document can't be read; others are converted, since that was asked for.
	CodeUnreadable Code = "W608"
)

// Codes of conversions from v1 back to v1beta1.
const (
	// CodeGracePeriodDropped (warn): terminationGracePeriod was left out.
	CodeGracePeriodDropped Code = "W901"
	// CodeBudgetReasonsDropped (warn): a budget's reasons were left out, so that it bounds every reason.
	CodeBudgetReasonsDropped Code = "W902"
	// CodeWaitDropped (warn): consolidateAfter was left out; a fixed wait of 15 s applies.
	CodeWaitDropped Code = "W903"
	// CodeZeroWaitDropped (info): consolidateAfter 0s was left out; a fixed wait of 15 s applies.
	CodeZeroWaitDropped Code = "W904"
	// CodeExpiryMovedBack (info): expireAfter moved to the disruption block, and expiry has become graceful.
	CodeExpiryMovedBack Code = "W905"
	// CodeReplicasDropped (error): a static pool can't be expressed.
	CodeReplicasDropped Code = "W906"
	// CodeNodeLimit (warn): a limit on the number of nodes is not acted on.
	CodeNodeLimit Code = "W907"
	// CodeBalancedDropped (warn): the policy Balanced was written as WhenUnderutilized.
	CodeBalancedDropped Code = "W908"
	// CodeOperatorRewritten (info): a requirement was written with another operator that means the same.
	CodeOperatorRewritten Code = "W909"
	// CodeClaimExpiryDropped (warn): expireAfter of a claim was left out; its pool's counts.
	CodeClaimExpiryDropped Code = "W910"
	// CodeAnnotationMalformed (error): a compatibility annotation can't be read.
	CodeAnnotationMalformed Code = "W911"
	// CodeBudgetDropped (info): a budget that speaks of no reason bounds nothing and was left out.
	CodeBudgetDropped Code = "W912"
	// CodeAliasVersionKept (info): the version of an image alias was kept in an annotation.
	CodeAliasVersionKept Code = "W913"
	// CodeLaterFieldDropped (warn): a field that came with v1 was left out.
	CodeLaterFieldDropped Code = "W914"
	// CodeShortHopLimitKept (info): the hop limit 1, v1's default, was written out.
	CodeShortHopLimitKept Code = "W915"
	// CodeKubeletMovedBack (info): the node class's kubelet block went back into its pools.
	CodeKubeletMovedBack Code = "W916"
)

// Codes returns every code, sorted. The caller owns the slice.
func Codes() []Code {
	codes := make([]Code, 0, len(messages()))
	for code := range messages() {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

// Severity is how bad what the code stands for is; empty for a code that is not in the catalogue.
func (c Code) Severity() Severity { return messages()[c].severity }

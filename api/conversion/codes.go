package conversion

import "slices"

// Code names what a warning is about. It is stable, and made to be compared.
type Code string

// Codes of conversions from v1beta1 to v1, and of renames that came with v1beta1.
const (
	// CodeAnnotationRenamed (warn): a do-not annotation of old was renamed, and blocks more than it did.
	CodeAnnotationRenamed Code = "W106"
	// CodeTagReserved (warn): a tag was dropped because its key has become reserved.
	CodeTagReserved Code = "W206"
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
	// CodeReferenceVersionDropped (info): the version in apiVersion of a node class reference has no place in v1.
	CodeReferenceVersionDropped Code = "W517"
)

// Codes of every conversion.
const (
	// CodeResultInvalid (error): the result breaks a rule of its own generation.
	CodeResultInvalid Code = "W601"
)

// Codes of conversions from v1 back to v1beta1.
const (
	// CodeGracePeriodDropped (warn): terminationGracePeriod was left out.
	CodeGracePeriodDropped Code = "W701"
	// CodeBudgetReasonsDropped (warn): a budget's reasons were left out, so that it bounds every reason.
	CodeBudgetReasonsDropped Code = "W702"
	// CodeWaitDropped (warn): consolidateAfter was left out; a fixed wait of 15 s applies.
	CodeWaitDropped Code = "W703"
	// CodeZeroWaitDropped (info): consolidateAfter 0s was left out; a fixed wait of 15 s applies.
	CodeZeroWaitDropped Code = "W704"
	// CodeExpiryMovedBack (info): expireAfter moved to the disruption block, and expiry has become graceful.
	CodeExpiryMovedBack Code = "W705"
	// CodeReplicasDropped (error): a static pool can't be expressed.
	CodeReplicasDropped Code = "W706"
	// CodeNodeLimit (warn): a limit on the number of nodes is not acted on.
	CodeNodeLimit Code = "W707"
	// CodeBalancedDropped (warn): the policy Balanced was written as WhenUnderutilized.
	CodeBalancedDropped Code = "W708"
	// CodeOperatorRewritten (info): a requirement was written with another operator that means the same.
	CodeOperatorRewritten Code = "W709"
	// CodeClaimExpiryDropped (warn): expireAfter of a claim was left out; its pool's counts.
	CodeClaimExpiryDropped Code = "W710"
	// CodeAnnotationMalformed (error): a compatibility annotation can't be read.
	CodeAnnotationMalformed Code = "W711"
	// CodeBudgetDropped (info): a budget that speaks of no reason bounds nothing and was left out.
	CodeBudgetDropped Code = "W712"
	// CodeAliasVersionKept (info): the version of an image alias was kept in an annotation.
	CodeAliasVersionKept Code = "W713"
	// CodeLaterFieldDropped (warn): a field that came with v1 was left out.
	CodeLaterFieldDropped Code = "W714"
	// CodeShortHopLimitKept (info): the hop limit 1, v1's default, was written out.
	CodeShortHopLimitKept Code = "W715"
)

// message is what a code says.
type message struct {
	severity Severity
	format   string
}

// messages is the catalogue; formats take their operands as %s.
func messages() map[Code]message {
	return map[Code]message{
		CodeAnnotationRenamed:       {SeverityWarn, "%s renamed to karpenter.sh/do-not-disrupt, which blocks every voluntary disruption"},
		CodeTagReserved:             {SeverityWarn, "tag %s is reserved and was dropped"},
		CodeWaitExplicit:            {SeverityInfo, "consolidateAfter 0s written; the former fixed wait was 15s"},
		CodeConsolidationStaysOff:   {SeverityInfo, "consolidation stays off (consolidateAfter Never)"},
		CodeWaitMissing:             {SeverityError, "consolidateAfter is required with WhenEmpty"},
		CodeExpiryMoved:             {SeverityWarn, "expireAfter moved to the template; expiry no longer waits for replacement capacity or disruption blockers, and changing it is drift"},
		CodeReferenceCompleted:      {SeverityInfo, "nodeClassRef completed to %s/%s"},
		CodeResourcesDropped:        {SeverityWarn, "spec.template.spec.resources dropped"},
		CodeKubeletAnnotated:        {SeverityWarn, "node class %s is not part of the input; kubelet kept in an annotation"},
		CodeAlias:                   {SeverityInfo, "image selection expressed as alias %s"},
		CodeUbuntu:                  {SeverityWarn, "Ubuntu is no longer a family; AL2 user data format is used with the given images"},
		CodeUbuntuWithoutImages:     {SeverityError, "Ubuntu without amiSelectorTerms cannot be converted"},
		CodeCustomUserData:          {SeverityWarn, "Custom user data must register nodes with taint karpenter.sh/unregistered:NoExecute"},
		CodeHopLimitKept:            {SeverityInfo, "httpPutResponseHopLimit 2 kept; new objects default to 1"},
		CodePublicAddress:           {SeverityInfo, "public address assignment is no longer forced off in private subnets"},
		CodeReferenceVersionDropped: {SeverityInfo, "version of %s left out; a reference names the group alone"},

		CodeResultInvalid: {SeverityError, "%s"},

		CodeGracePeriodDropped:   {SeverityWarn, "terminationGracePeriod %s left out; nodes drain without a bound"},
		CodeBudgetReasonsDropped: {SeverityWarn, "reasons %s left out; the budget bounds every reason"},
		CodeWaitDropped:          {SeverityWarn, "consolidateAfter %s left out; WhenUnderutilized waits a fixed 15s"},
		CodeZeroWaitDropped:      {SeverityInfo, "consolidateAfter 0s left out; WhenUnderutilized waits a fixed 15s"},
		CodeExpiryMovedBack:      {SeverityInfo, "expireAfter moved to the disruption block; expiry waits for replacement capacity and disruption blockers"},
		CodeReplicasDropped:      {SeverityError, "replicas %s has no counterpart; the pool would turn dynamic"},
		CodeNodeLimit:            {SeverityWarn, "the limit of %s nodes is kept, but releases of v1beta1 don't act on it"},
		CodeBalancedDropped:      {SeverityWarn, "Balanced written as WhenUnderutilized, which does not weigh the disturbance of pods"},
		CodeOperatorRewritten:    {SeverityInfo, "%s written as %s"},
		CodeClaimExpiryDropped:   {SeverityWarn, "expireAfter %s left out; the pool's own counts"},
		CodeAnnotationMalformed:  {SeverityError, "can't be read: %s"},
		CodeBudgetDropped:        {SeverityInfo, "a budget without a reason bounds nothing and was left out"},
		CodeAliasVersionKept:     {SeverityInfo, "version %s of the image alias kept in an annotation"},
		CodeLaterFieldDropped:    {SeverityWarn, "%s has no counterpart and was left out"},
		CodeShortHopLimitKept:    {SeverityInfo, "httpPutResponseHopLimit 1 kept; objects without it default to 2"},
	}
}

// Codes returns every code, sorted. The slice is the caller's.
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

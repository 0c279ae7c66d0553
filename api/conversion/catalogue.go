package conversion

import (
	"maps"
	"sync"
)

// message is the severity of a code and the format of its text.
type message struct {
	severity Severity
	format   string
}

// catalogue has the messages by code. Each format contains %s for each operand.
type catalogue map[Code]message

// messages returns the whole catalogue, which must not be changed. It is built once, because every warning reads it.
var messages = sync.OnceValue(func() catalogue {
	all := first()
	for _, part := range []catalogue{firstNodeClass(), toV1(), ofAny(), fromV1(), toFirst()} {
		maps.Copy(all, part)
	}
	return all
})

// first returns the messages of v1alpha5's codes.
func first() catalogue {
	return catalogue{
		CodeRequirementsAdded:   {SeverityInfo, "added default requirement(s) %s that the alpha webhook used to supply; pass ignore-defaults to leave them out"},
		CodeDefaultContradicts:  {SeverityWarn, "default requirement %s contradicts label %s; no node can satisfy both"},
		CodeRequirementKeyGone:  {SeverityError, "requirement key %s does not exist after alpha"},
		CodePoolKeyRenamed:      {SeverityWarn, "%s renamed to karpenter.sh/nodepool"},
		CodeManyRequirements:    {SeverityWarn, "%s requirements; early v1beta1 releases accept at most 30"},
		CodeAnnotationRenamed:   {SeverityWarn, "%s renamed to karpenter.sh/do-not-disrupt, which blocks every voluntary disruption"},
		CodeContainerRuntime:    {SeverityWarn, "containerRuntime %s dropped; containerd is used"},
		CodeReferenceRewritten:  {SeverityInfo, "node template reference now points to %s %s"},
		CodeNoProvider:          {SeverityError, "neither provider nor providerRef is set; a node class is required"},
		CodeProviderMoved:       {SeverityInfo, "inline provider moved to %s %s"},
		CodeNameClash:           {SeverityError, "%s already exists with different content"},
		CodeProviderTwice:       {SeverityError, "provider and providerRef exclude each other"},
		CodeConsolidationAndTTL: {SeverityError, "consolidation.enabled and ttlSecondsAfterEmpty exclude each other"},
		CodeScaleDownOff:        {SeverityWarn, "scale-down was off; written as WhenEmpty with consolidateAfter Never to keep it off"},
		CodeNoExpiry:            {SeverityInfo, "nodes did not expire; written as expireAfter Never"},
		CodeDefaultBudget:       {SeverityInfo, "a default disruption budget of 10%% will apply"},
		CodeMachineSkipped:      {SeverityInfo, "Machine %s skipped; roll its node instead"},
		CodeWorkloadKeyRenamed:  {SeverityInfo, "%s renamed to %s"},
	}
}

// firstNodeClass returns the messages of AWSNodeTemplate's codes.
func firstNodeClass() catalogue {
	return catalogue{
		CodeLaunchTemplate:   {SeverityError, "launchTemplate %s cannot be expressed by a node class"},
		CodeFamilyDefaulted:  {SeverityInfo, "amiFamily was unset and is now AL2"},
		CodeRolePlaceholder:  {SeverityWarn, "role set to %s; replace it with the role behind instance profile %s"},
		CodeProfileKept:      {SeverityInfo, "instanceProfile %s kept"},
		CodeImageTags:        {SeverityWarn, "image tags no longer restrict instance types; split the pool if you relied on them"},
		CodeTagReserved:      {SeverityWarn, "tag %s is reserved and was dropped"},
		CodeGlobalTags:       {SeverityInfo, "merged global tag(s) %s"},
		CodeMetadataExplicit: {SeverityWarn, "metadataOptions.%s was unset; EC2's former default %s is now explicit"},
		CodeVolumeSize:       {SeverityWarn, "volumeSize %s written as %s"},
		CodePodENI:           {SeverityInfo, "enablePodENI has no counterpart; supported instance types always report vpc.amazonaws.com/pod-eni"},
		CodePodDensity:       {SeverityWarn, "enableENILimitedPodDensity=false expressed as kubelet.maxPods 110"},
		CodeIDMixed:          {SeverityWarn, "ids select alone; dropped condition(s) %s"},
		CodeOwnerAlone:       {SeverityError, "an owner without name, id or tags is not a valid term"},
		CodeOwnersExplicit:   {SeverityInfo, "image owners self and amazon are now explicit"},
		CodeCommaSplit:       {SeverityWarn, "value %s was split on commas"},
		CodeTooManyTerms:     {SeverityError, "%s terms (limit 30) / %s tags (limit 20)"},
		CodeReferenceRefused: {SeverityWarn, "written as Karpenter's tool does, and refused by the API: %s"},
		CodeMalformedID:      {SeverityError, "%s is not a valid %s id"},
	}
}

// toV1 returns the messages of conversions from v1beta1 to v1.
func toV1() catalogue {
	return catalogue{
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
		CodeReferenceVersionDropped: {SeverityInfo, "version of %s left out; a reference has only the group"},
		CodeNodeClassSplit:          {SeverityWarn, "kubelet blocks differ; created EC2NodeClass %s; nodes of %s will drift"},
		CodeKubeletConflict:         {SeverityError, "EC2NodeClass %s already has a different kubelet block"},
		CodeTolerationAdded:         {SeverityInfo, "toleration for karpenter.sh/disrupted added next to karpenter.sh/disruption"},
	}
}

// ofAny returns the messages that every conversion can give.
func ofAny() catalogue {
	return catalogue{
		CodeResultInvalid:  {SeverityError, "%s"},
		CodeUnknownKind:    {SeverityError, "kind %s is not one of the kinds this tool converts"},
		CodeSkipped:        {SeverityWarn, "%s skipped"},
		CodeUnknownField:   {SeverityWarn, "unknown field %s ignored"},
		CodeKubeletMoved:   {SeverityWarn, "kubelet is a field of node classes: moved to EC2NodeClass %s, which applies it to new nodes"},
		CodeNoObject:       {SeverityWarn, "is no Kubernetes object and was left out: %s"},
		CodeUnreadable:     {SeverityError, "can't be read: %s"},
		CodeAppliedDropped: {SeverityInfo, "kubectl apply's annotation with the old object was left out; applying the new object adds the annotation again"},
	}
}

// fromV1 returns the messages of conversions from v1 back to v1beta1.
func fromV1() catalogue {
	return catalogue{
		CodeGracePeriodDropped:   {SeverityWarn, "terminationGracePeriod %s left out; nodes drain without a time limit"},
		CodeBudgetReasonsDropped: {SeverityWarn, "reasons %s left out; the budget now limits every reason"},
		CodeWaitDropped:          {SeverityWarn, "consolidateAfter %s left out; WhenUnderutilized waits a fixed 15s"},
		CodeZeroWaitDropped:      {SeverityInfo, "consolidateAfter 0s left out; WhenUnderutilized waits a fixed 15s"},
		CodeExpiryMovedBack:      {SeverityInfo, "expireAfter moved to the disruption block; expiry waits for replacement capacity and disruption blockers"},
		CodeReplicasDropped:      {SeverityError, "replicas %s has no counterpart; the pool would turn dynamic"},
		CodeNodeLimit:            {SeverityWarn, "the limit of %s nodes is kept, but releases of v1beta1 don't act on it"},
		CodeBalancedDropped:      {SeverityWarn, "Balanced written as WhenUnderutilized, which does not weigh the disturbance of pods"},
		CodeOperatorRewritten:    {SeverityInfo, "%s written as %s"},
		CodeClaimExpiryDropped:   {SeverityWarn, "expireAfter %s left out; that of the pool applies"},
		CodeKubeletMovedBack:     {SeverityInfo, "kubelet moved to the pools that use the node class: %s"},
		CodeAnnotationMalformed:  {SeverityError, "can't be read: %s"},
		CodeBudgetDropped:        {SeverityInfo, "a budget without a reason limits nothing and was left out"},
		CodeAliasVersionKept:     {SeverityInfo, "version %s of the image alias kept in an annotation"},
		CodeLaterFieldDropped:    {SeverityWarn, "%s has no counterpart and was left out"},
		CodeShortHopLimitKept:    {SeverityInfo, "httpPutResponseHopLimit 1 kept; objects without it default to 2"},
	}
}

// toFirst returns the messages of conversions from v1beta1 back to v1alpha5.
func toFirst() catalogue {
	return catalogue{
		CodeBudgetsDropped:   {SeverityWarn, "budgets left out; the first generation does not limit disruption"},
		CodeMinValuesDropped: {SeverityWarn, "minValues left out; %s may have only one value"},
		CodeNoCounterpart:    {SeverityWarn, "%s has no counterpart in the first generation and was left out"},
		CodeNotExpressible:   {SeverityError, "%s can't be expressed in the first generation"},
	}
}

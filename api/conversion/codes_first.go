package conversion

// Codes of conversions from v1alpha5 (Provisioner, Machine, AWSNodeTemplate) to v1beta1, and of what was
// renamed then.
const (
	// CodeRequirementsAdded (info): requirements that a webhook used to add were written out.
	CodeRequirementsAdded Code = "W101"
	// CodeDefaultContradicts (warn): such a requirement contradicts a label.
	CodeDefaultContradicts Code = "W102"
	// CodeRequirementKeyGone (error): a requirement speaks of a label that later generations don't have.
	CodeRequirementKeyGone Code = "W103"
	// CodePoolKeyRenamed (warn): the pool's label was used as a key, and has another name now.
	CodePoolKeyRenamed Code = "W104"
	// CodeManyRequirements (warn): early releases of v1beta1 don't take so many requirements.
	CodeManyRequirements Code = "W105"
	// CodeAnnotationRenamed (warn): a do-not annotation of old was renamed, and blocks more than it did.
	CodeAnnotationRenamed Code = "W106"
	// CodeContainerRuntime (warn): a container runtime other than containerd was dropped.
	CodeContainerRuntime Code = "W107"
	// CodeReferenceRewritten (info): kind or version of the node template became those of the node class.
	CodeReferenceRewritten Code = "W108"
	// CodeNoProvider (error): the object names no node template and has no inline provider.
	CodeNoProvider Code = "W109"
	// CodeProviderMoved (info): the inline provider became a node class.
	CodeProviderMoved Code = "W110"
	// CodeNameClash (error): two results of one kind and name have different content.
	CodeNameClash Code = "W111"
	// CodeProviderTwice (error): the object has both an inline provider and a reference.
	CodeProviderTwice Code = "W112"
	// CodeConsolidationAndTTL (error): the object has both consolidation and ttlSecondsAfterEmpty.
	CodeConsolidationAndTTL Code = "W113"
	// CodeScaleDownOff (warn): nodes were never removed for being empty or underutilised, and still aren't.
	CodeScaleDownOff Code = "W114"
	// CodeNoExpiry (info): nodes did not expire, and still don't.
	CodeNoExpiry Code = "W115"
	// CodeDefaultBudget (info): a default budget applies that was not there before.
	CodeDefaultBudget Code = "W116"
)

// Codes of AWSNodeTemplate, Machines and workloads.
const (
	// CodeLaunchTemplate (error): a launch template has no counterpart.
	CodeLaunchTemplate Code = "W201"
	// CodeFamilyDefaulted (info): amiFamily was left out and was written as AL2.
	CodeFamilyDefaulted Code = "W202"
	// CodeRolePlaceholder (warn): the role was filled in with a placeholder, or without looking at the profile.
	CodeRolePlaceholder Code = "W203"
	// CodeProfileKept (info): the instance profile was kept.
	CodeProfileKept Code = "W204"
	// CodeImageTags (warn): tags of images no longer restrict instance types.
	CodeImageTags Code = "W205"
	// CodeTagReserved (warn): a tag was dropped because its key has become reserved.
	CodeTagReserved Code = "W206"
	// CodeGlobalTags (info): tags of the global settings were merged in.
	CodeGlobalTags Code = "W207"
	// CodeMetadataExplicit (warn): a metadata option that EC2 decided was written out.
	CodeMetadataExplicit Code = "W208"
	// CodeVolumeSize (warn): a volume's size was written otherwise.
	CodeVolumeSize Code = "W209"
	// CodePodENI (info): the setting enablePodENI has no counterpart.
	CodePodENI Code = "W210"
	// CodePodDensity (warn): the setting enableENILimitedPodDensity was written as maxPods.
	CodePodDensity Code = "W211"
	// CodeIDMixed (warn): a selector by id had other conditions, which were dropped.
	CodeIDMixed Code = "W220"
	// CodeOwnerAlone (error): an image selector names nothing but owners.
	CodeOwnerAlone Code = "W221"
	// CodeOwnersExplicit (info): the default owners of images were written out.
	CodeOwnersExplicit Code = "W222"
	// CodeCommaSplit (warn): the value of an image selector was split on commas.
	CodeCommaSplit Code = "W223"
	// CodeTooManyTerms (error): a selector expands to more terms or tags than the API takes.
	CodeTooManyTerms Code = "W224"
	// CodeMalformedID (error): an id does not look like one.
	CodeMalformedID Code = "W225"
	// CodeReferenceRefused (warn): what Karpenter's tool writes is given as asked for, and no API server takes it.
	CodeReferenceRefused Code = "W226"
	// CodeMachineSkipped (info): a Machine was left out of a rewrite.
	CodeMachineSkipped Code = "W301"
	// CodeWorkloadKeyRenamed (info): a key in a workload was renamed, or joined by its new name.
	CodeWorkloadKeyRenamed Code = "W401"
)

// Codes of conversions from v1beta1 back to v1alpha5.
const (
	// CodeBudgetsDropped (warn): disruption budgets were left out.
	CodeBudgetsDropped Code = "W801"
	// CodeMinValuesDropped (warn): minValues of a requirement were left out.
	CodeMinValuesDropped Code = "W802"
	// CodeNoCounterpart (warn): a field that came later was left out.
	CodeNoCounterpart Code = "W803"
	// CodeNotExpressible (error): a value can't be expressed.
	CodeNotExpressible Code = "W804"
)

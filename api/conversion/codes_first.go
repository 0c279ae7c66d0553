package conversion

// Codes of conversions from v1alpha5 (Provisioner, Machine, AWSNodeTemplate) to v1beta1, and of names that changed with v1beta1.
const (
	// CodeRequirementsAdded (info): requirements that a webhook used to add were written explicitly.
	CodeRequirementsAdded Code = "W101"
	// CodeDefaultContradicts (warn): an added requirement contradicts a label.
	CodeDefaultContradicts Code = "W102"
	// CodeRequirementKeyGone (error): a requirement uses a label that later generations don't have.
	CodeRequirementKeyGone Code = "W103"
	// CodePoolKeyRenamed (warn): an object uses the label with the pool's name, which was renamed.
	CodePoolKeyRenamed Code = "W104"
	// CodeManyRequirements (warn): early releases of v1beta1 don't accept so many requirements.
	CodeManyRequirements Code = "W105"
	// CodeAnnotationRenamed (warn): an old do-not-evict or do-not-consolidate annotation was renamed. The new annotation blocks every
	// voluntary disruption.
	CodeAnnotationRenamed Code = "W106"
	// CodeContainerRuntime (warn): a container runtime other than containerd was dropped.
	CodeContainerRuntime Code = "W107"
	// CodeReferenceRewritten (info): the kind or version in a reference was changed from that of the node template to that of the node
	// class.
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
	// CodeScaleDownOff (warn): the Provisioner did not remove empty or underutilised nodes, and the pool does not either.
	CodeScaleDownOff Code = "W114"
	// CodeNoExpiry (info): nodes did not expire before, and do not expire now.
	CodeNoExpiry Code = "W115"
	// CodeDefaultBudget (info): a default budget now applies; before, there was none.
	CodeDefaultBudget Code = "W116"
)

// Codes of AWSNodeTemplate, Machines and workloads.
const (
	// CodeLaunchTemplate (error): the node template names a launch template, for which later generations have no field.
	CodeLaunchTemplate Code = "W201"
	// CodeFamilyDefaulted (info): amiFamily was not set, and AL2 was written.
	CodeFamilyDefaulted Code = "W202"
	// CodeRolePlaceholder (warn): the role is a placeholder, or was set without checking the instance profile.
	CodeRolePlaceholder Code = "W203"
	// CodeProfileKept (info): the instance profile was kept.
	CodeProfileKept Code = "W204"
	// CodeImageTags (warn): tags of images no longer restrict instance types.
	CodeImageTags Code = "W205"
	// CodeTagReserved (warn): a tag was dropped because its key has become reserved.
	CodeTagReserved Code = "W206"
	// CodeGlobalTags (info): tags of the global settings were merged in.
	CodeGlobalTags Code = "W207"
	// CodeMetadataExplicit (warn): a metadata option that was left to EC2 was written explicitly.
	CodeMetadataExplicit Code = "W208"
	// CodeVolumeSize (warn): a volume's size was written in another form.
	CodeVolumeSize Code = "W209"
	// CodePodENI (info): the setting enablePodENI has no equivalent in later generations.
	CodePodENI Code = "W210"
	// CodePodDensity (warn): the setting enableENILimitedPodDensity was written as maxPods.
	CodePodDensity Code = "W211"
	// CodeIDMixed (warn): a selector by id had other conditions, which were dropped.
	CodeIDMixed Code = "W220"
	// CodeOwnerAlone (error): an image selector names only owners.
	CodeOwnerAlone Code = "W221"
	// CodeOwnersExplicit (info): the default owners of images were written explicitly.
	CodeOwnersExplicit Code = "W222"
	// CodeCommaSplit (warn): the value of an image selector was split at commas.
	CodeCommaSplit Code = "W223"
	// CodeTooManyTerms (error): a selector expands to more terms or tags than the API accepts.
	CodeTooManyTerms Code = "W224"
	// CodeMalformedID (error): an id has the wrong form.
	CodeMalformedID Code = "W225"
	// CodeReferenceRefused (warn): the result is what Karpenter's tool writes, as requested, but every API server refuses it.
	CodeReferenceRefused Code = "W226"
	// CodeMachineSkipped (info): a Machine was left out of a rewrite.
	CodeMachineSkipped Code = "W301"
	// CodeWorkloadKeyRenamed (info): a key in a workload was renamed, or the new name was added.
	CodeWorkloadKeyRenamed Code = "W401"
)

// Codes of conversions from v1beta1 back to v1alpha5.
const (
	// CodeBudgetsDropped (warn): disruption budgets were left out.
	CodeBudgetsDropped Code = "W801"
	// CodeMinValuesDropped (warn): minValues of a requirement were left out.
	CodeMinValuesDropped Code = "W802"
	// CodeNoCounterpart (warn): a field that only later generations have was left out.
	CodeNoCounterpart Code = "W803"
	// CodeNotExpressible (error): a value can't be expressed.
	CodeNotExpressible Code = "W804"
)

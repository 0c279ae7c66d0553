package crds

import (
	"strconv"
	"strings"
)

// refusals are changes of the objects in testdata that the schemas and the validation in Go refuse: SCH-011, SCH-013,
// API-018 to API-020, API-024, API-025, API-028, API-029, API-034, API-178, API-184 to API-186, API-189, API-190, API-196,
// API-202 to API-204, API-206, API-207, API-214, PRV-002, PRV-005, PRV-140, PRV-150, AWN-009 to AWN-011, AWN-017 to AWN-027,
// AWN-029, AWN-030, AWN-035, AWN-039, AWN-041.
func refusals() []refusal {
	pool := func(name, change, says, field string) refusal {
		return refusal{kind: "NodePool", name: name, change: change, says: says, field: field}
	}
	template := func(name, change, says, field string) refusal {
		return pool(name, "spec: {template: {spec: {"+change+"}}}", says, "spec.template.spec."+field)
	}
	requirement := func(name, entry, says, field string) refusal {
		return template(name, "requirements: ["+entry+"]", says, "requirements[0]."+field)
	}
	out := []refusal{
		pool("long name", "metadata: {name: "+strings.Repeat("a", 64)+"}", "may have 63 characters", "metadata.name"),
		pool("no template", "spec: {template: null}", "Required value", "spec.template.spec.requirements"),
		pool("too many labels", "spec: {template: {metadata: {labels: {"+many(101, "l%: x")+"}}}}", "must have at most 100", "spec.template.metadata.labels"),
		pool("own label", "spec: {template: {metadata: {labels: {karpenter.sh/nodepool: x}}}}", "label karpenter.sh/nodepool is set", "spec.template.metadata.labels[karpenter.sh/nodepool]"),
		pool("host name label", "spec: {template: {metadata: {labels: {kubernetes.io/hostname: x}}}}", "label kubernetes.io/hostname is set", "spec.template.metadata.labels[kubernetes.io/hostname]"),
		pool("reserved label", "spec: {template: {metadata: {labels: {karpenter.sh/x: x}}}}", "labels of the domain karpenter.sh are reserved", "spec.template.metadata.labels[karpenter.sh/x]"),
		template("taint without key", "taints: [{effect: NoSchedule}]", "taints[0].key", "taints[0].key"),
		template("taint without effect", "taints: [{key: a}]", "taints[0].effect", "taints[0].effect"),
		template("taint with an empty effect", "taints: [{key: a, effect: ''}]", "taints[0].effect", "taints[0].effect"),
		pool("label value that is none", "spec: {template: {metadata: {labels: {a: b c}}}}", "should match", "spec.template.metadata.labels[a]"),
		pool("budget with a reason twice", "spec: {disruption: {budgets: [{nodes: '1', reasons: [Empty, Empty]}]}}", "Duplicate value", "spec.disruption.budgets[0].reasons[1]"),
		template("taint with a bad key", "taints: [{key: a b, effect: NoSchedule}]", "should match", "taints[0].key"),
		template("taint with a bad value", "taints: [{key: a, value: a b, effect: NoSchedule}]", "should match", "taints[0].value"),
		template("taint with an unknown effect", "taints: [{key: a, effect: Never}]", "supported values", "taints[0].effect"),
		template("startup taint with an unknown effect", "startupTaints: [{key: a, effect: Never}]", "supported values", "startupTaints[0].effect"),
		template("requirements forgotten", "requirements: null", "", "requirements"),
		template("too many requirements", "requirements: ["+many(101, "{key: a%, operator: Exists}")+"]", "must have at most 100", "requirements"),
		requirement("bad key", "{key: a b, operator: Exists}", "should match", "key"),
		requirement("host name", "{key: kubernetes.io/hostname, operator: Exists}", "label kubernetes.io/hostname is set", "key"),
		requirement("reserved key", "{key: karpenter.sh/x, operator: Exists}", "labels of the domain karpenter.sh are reserved", "key"),
		requirement("own key", "{key: karpenter.sh/nodepool, operator: Exists}", "label karpenter.sh/nodepool is set", "key"),
		requirement("unknown operator", "{key: a, operator: Like, values: [x]}", "supported values", "operator"),
		requirement("bad value", "{key: a, operator: In, values: [a b]}", "should match", "values[0]"),
		requirement("long value", "{key: a, operator: In, values: ["+strings.Repeat("a", 64)+"]}", "may not be more than 63", "values[0]"),
		requirement("minValues too small", "{key: a, operator: Exists, minValues: 0}", "greater than or equal to 1", "minValues"),
		requirement("minValues too large", "{key: a, operator: Exists, minValues: 51}", "less than or equal to 50", "minValues"),
		template("group with version", "nodeClassRef: {group: karpenter.k8s.aws/v1}", "should match", "nodeClassRef.group"),
		template("empty group", "nodeClassRef: {group: ''}", "at least 1 chars", "nodeClassRef.group"),
		template("empty kind", "nodeClassRef: {kind: ''}", "at least 1 chars", "nodeClassRef.kind"),
		template("empty name", "nodeClassRef: {name: ''}", "at least 1 chars", "nodeClassRef.name"),
		template("grace period in fractions", "terminationGracePeriod: 1.5h", "should match", "terminationGracePeriod"),
		template("negative expiry", "expireAfter: -1h", "should match", "expireAfter"),
		pool("expiry that is no duration", "spec: {template: {spec: {expireAfter: never}}}", "should match", ""),
		pool("consolidateAfter in milliseconds", "spec: {disruption: {consolidateAfter: 5ms}}", "should match", "spec.disruption.consolidateAfter"),
		pool("unknown policy", "spec: {disruption: {consolidationPolicy: Always}}", "supported values", "spec.disruption.consolidationPolicy"),
		pool("too many budgets", "spec: {disruption: {budgets: ["+many(51, "{nodes: '%'}")+"]}}", "must have at most 50", "spec.disruption.budgets"),
		pool("budget of more than all", "spec: {disruption: {budgets: [{nodes: 101%}]}}", "should match", "spec.disruption.budgets[0].nodes"),
		pool("budget with unknown reason", "spec: {disruption: {budgets: [{nodes: '1', reasons: [Old]}]}}", "supported values", "spec.disruption.budgets[0].reasons[0]"),
		pool("budget without duration", "spec: {disruption: {budgets: [{nodes: '1', schedule: '@daily'}]}}", "come together", "spec.disruption.budgets[0].duration"),
		pool("budget without schedule", "spec: {disruption: {budgets: [{nodes: '1', duration: 1h}]}}", "come together", "spec.disruption.budgets[0].schedule"),
		pool("schedule with a time zone", "spec: {disruption: {budgets: [{nodes: '1', duration: 1h, schedule: 'TZ=UTC 0 9 * * 1'}]}}", "should match", "spec.disruption.budgets[0].schedule"),
		pool("schedule with six fields", "spec: {disruption: {budgets: [{nodes: '1', duration: 1h, schedule: '0 0 9 * * 1'}]}}", "should match", "spec.disruption.budgets[0].schedule"),
		pool("budget for seconds", "spec: {disruption: {budgets: [{nodes: '1', duration: 90s, schedule: '@daily'}]}}", "should match", "spec.disruption.budgets[0].duration"),
		pool("negative limit", "spec: {limits: {cpu: '-1'}}", "should match", "spec.limits[cpu]"),
		pool("negative whole limit", "spec: {limits: {cpu: -1}}", "greater than or equal to 0", "spec.limits[cpu]"),
		pool("weight 0", "spec: {weight: 0}", "greater than or equal to 1", "spec.weight"),
		pool("weight 101", "spec: {weight: 101}", "less than or equal to 100", "spec.weight"),
		pool("negative replicas", "spec: {replicas: -1, weight: null, limits: null}", "greater than or equal to 0", "spec.replicas"),
		pool("replicas and weight", "spec: {replicas: 1, limits: null}", "has no weight", "spec.weight"),
		pool("replicas and a limit on cpu", "spec: {replicas: 1, weight: null}", "limited by nodes alone", "spec.limits[cpu]"),
		{kind: "NodePool", name: "made static", update: true, change: "spec: {replicas: 1, weight: null, limits: {cpu: null, memory: null}}", says: "replicas can't be added", field: "spec.replicas"},
		{kind: "NodePool", name: "another group", update: true, change: "spec: {template: {spec: {nodeClassRef: {group: example.com}}}}", says: "the group of the node class can't change", field: "spec.template.spec.nodeClassRef.group"},
		{kind: "NodePool", name: "another kind", update: true, change: "spec: {template: {spec: {nodeClassRef: {kind: Other}}}}", says: "the kind of the node class can't change", field: "spec.template.spec.nodeClassRef.kind"},

		{kind: "NodeClaim", name: "changed", update: true, change: "spec: {expireAfter: 1h}", says: "never changes", field: "spec"},
		{kind: "NodeClaim", name: "negative request", change: "spec: {resources: {requests: {cpu: -1m}}}", says: "should match", field: "spec.resources.requests[cpu]"},
		{kind: "NodeClaim", name: "requirements forgotten", change: "spec: {requirements: null}", says: "", field: "spec.requirements"},
		{kind: "NodeClaim", name: "grace period", change: "spec: {terminationGracePeriod: 1.5h}", says: "should match", field: "spec.terminationGracePeriod"},
		{kind: "NodeClaim", name: "expiry", change: "spec: {expireAfter: 1.5h}", says: "should match", field: "spec.expireAfter"},

		{kind: "NodeOverlay", name: "two prices", change: "spec: {price: '1'}", says: "already replaces the price", field: "spec.priceAdjustment"},
		{kind: "NodeOverlay", name: "negative price", change: "spec: {price: '-1', priceAdjustment: null}", says: "should match", field: "spec.price"},
		{kind: "NodeOverlay", name: "adjustment without a sign", change: "spec: {priceAdjustment: 10%}", says: "should match", field: "spec.priceAdjustment"},
		{kind: "NodeOverlay", name: "more than the whole price off", change: "spec: {priceAdjustment: -101%}", says: "should match", field: "spec.priceAdjustment"},
		{kind: "NodeOverlay", name: "the provider's capacity", change: "spec: {capacity: {cpu: 1}}", says: "the provider's alone", field: "spec.capacity[cpu]"},
		{kind: "NodeOverlay", name: "weight 0", change: "spec: {weight: 0}", says: "greater than or equal to 1", field: "spec.weight"},
		{kind: "NodeOverlay", name: "weight 10001", change: "spec: {weight: 10001}", says: "less than or equal to 10000", field: "spec.weight"},
		{kind: "NodeOverlay", name: "too many requirements", change: "spec: {requirements: [" + many(101, "{key: a%, operator: Exists}") + "]}", says: "must have at most 100", field: "spec.requirements"},

		{kind: "CapacityBuffer", name: "both", change: "spec: {podTemplateRef: {name: web}}", says: "exactly one of podTemplateRef and scalableRef", field: "spec.scalableRef"},
		{kind: "CapacityBuffer", name: "neither", change: "spec: {scalableRef: null}", says: "exactly one of podTemplateRef and scalableRef", field: "spec.podTemplateRef"},
		{kind: "CapacityBuffer", name: "template without a number", change: "spec: {scalableRef: null, podTemplateRef: {name: web}, replicas: null, limits: null}", says: "there shall be room for", field: "spec.replicas"},
		{kind: "CapacityBuffer", name: "unknown strategy", change: "spec: {provisioningStrategy: x}", says: "supported values", field: "spec.provisioningStrategy"},
		{kind: "CapacityBuffer", name: "negative replicas", change: "spec: {replicas: -1}", says: "greater than or equal to 0", field: "spec.replicas"},
		{kind: "CapacityBuffer", name: "negative percentage", change: "spec: {percentage: -1}", says: "greater than or equal to 0", field: "spec.percentage"},
		{kind: "CapacityBuffer", name: "negative limit", change: "spec: {limits: {cpu: '-1'}}", says: "should match", field: "spec.limits[cpu]"},
		{kind: "CapacityBuffer", name: "job", change: "spec: {scalableRef: {kind: Job}}", says: "supported values", field: "spec.scalableRef.kind"},
		{kind: "CapacityBuffer", name: "another group", change: "spec: {scalableRef: {apiGroup: batch}}", says: "supported values", field: "spec.scalableRef.apiGroup"},
		{kind: "CapacityBuffer", name: "no name", change: "spec: {scalableRef: {name: ''}}", says: "at least 1 chars", field: "spec.scalableRef.name"},
		{kind: "CapacityBuffer", name: "template without a name", change: "spec: {scalableRef: null, podTemplateRef: {name: ''}}", says: "at least 1 chars", field: "spec.podTemplateRef.name"},

		{kind: "ProvisioningRequest", name: "no pods", change: "spec: {podSets: []}", says: "at least 1 items", field: "spec.podSets"},
		{kind: "ProvisioningRequest", name: "too many pod sets", change: "spec: {podSets: [" + many(33, "{podTemplateRef: {name: a%}, count: 1}") + "]}", says: "must have at most 32", field: "spec.podSets"},
		{kind: "ProvisioningRequest", name: "count 0", change: "spec: {podSets: [{podTemplateRef: {name: a}, count: 0}]}", says: "greater than or equal to 1", field: "spec.podSets[0].count"},
		{kind: "ProvisioningRequest", name: "bad template", change: "spec: {podSets: [{podTemplateRef: {name: A}, count: 1}]}", says: "should match", field: "spec.podSets[0].podTemplateRef.name"},
		{kind: "ProvisioningRequest", name: "bad class", change: "spec: {provisioningClassName: A}", says: "should match", field: "spec.provisioningClassName"},
		{kind: "ProvisioningRequest", name: "too many parameters", change: "spec: {parameters: {" + many(101, "p%: x") + "}}", says: "must have at most 100", field: "spec.parameters"},
		{kind: "ProvisioningRequest", name: "long parameter", change: "spec: {parameters: {p: " + strings.Repeat("a", 256) + "}}", says: "may not be more than 255", field: "spec.parameters[p]"},
		{kind: "ProvisioningRequest", name: "other pods", update: true, change: "spec: {podSets: [{podTemplateRef: {name: worker}, count: 5}]}", says: "make another request", field: "spec.podSets"},
		{kind: "ProvisioningRequest", name: "another class", update: true, change: "spec: {provisioningClassName: plan.drawknife.dev}", says: "make another request", field: "spec.provisioningClassName"},
		{kind: "ProvisioningRequest", name: "other parameters", update: true, change: "spec: {parameters: {noRetry: 'false'}}", says: "make another request", field: "spec.parameters"},
	}
	out = append(out, refusal{kind: "NodeOverlay", name: "NotIn without values", change: "spec: {requirements: [{key: a, operator: NotIn}]}",
		says: "operator NotIn needs at least one value", field: "spec.requirements[0].values"})
	for _, kind := range []struct{ name, path, before, after string }{
		{"NodePool", "spec.template.spec.requirements[0].", "spec: {template: {spec: {requirements: [", "]}}}"},
		{"NodeClaim", "spec.requirements[0].", "spec: {requirements: [", "]}"},
		{"NodeOverlay", "spec.requirements[0].", "spec: {requirements: [", "]}"},
	} {
		for _, c := range []struct{ name, entry, says, field string }{
			{"In without values", "{key: a, operator: In}", "operator In needs at least one value", "values"},
			{"In with an empty list", "{key: a, operator: In, values: []}", "operator In needs at least one value", "values"},
			{"Gt without a number", "{key: a, operator: Gt, values: [x]}", "Gt, Lt, Gte and Lte need exactly one whole number", "values"},
			{"Lt with a fraction", "{key: a, operator: Lt, values: ['1.5']}", "Gt, Lt, Gte and Lte need exactly one whole number", "values"},
			{"Gte with two numbers", "{key: a, operator: Gte, values: ['1', '2']}", "Gt, Lt, Gte and Lte need exactly one whole number", "values"},
			{"Lte with nothing", "{key: a, operator: Lte}", "Gt, Lt, Gte and Lte need exactly one whole number", "values"},
			{"In with fewer than minValues", "{key: a, operator: In, values: [x], minValues: 2}", "must list at least minValues values", "minValues"},
			{"host name", "{key: kubernetes.io/hostname, operator: Exists}", "label kubernetes.io/hostname is set", "key"},
			{"reserved", "{key: karpenter.sh/x, operator: Exists}", "labels of the domain karpenter.sh are reserved", "key"},
		} {
			out = append(out, refusal{kind: kind.name, name: c.name, change: kind.before + c.entry + kind.after, says: c.says, field: kind.path + c.field})
		}
	}
	return append(out, classRefusals()...)
}

func classRefusals() []refusal {
	class := func(name, change, says, field string) refusal {
		return refusal{kind: "EC2NodeClass", name: name, change: "spec: {" + change + "}", says: says, field: "spec." + field}
	}
	out := []refusal{
		class("no subnets", "subnetSelectorTerms: []", "at least 1 items", "subnetSelectorTerms"),
		class("too many subnets", "subnetSelectorTerms: ["+many(31, "{id: subnet-%}")+"]", "must have at most 30", "subnetSelectorTerms"),
		class("bad subnet", "subnetSelectorTerms: [{id: vpc-1}]", "should match", "subnetSelectorTerms[0].id"),
		class("no groups", "securityGroupSelectorTerms: []", "at least 1 items", "securityGroupSelectorTerms"),
		class("bad group", "securityGroupSelectorTerms: [{id: vpc-1}]", "should match", "securityGroupSelectorTerms[0].id"),
		class("bad reservation", "capacityReservationSelectorTerms: [{id: x}]", "should match", "capacityReservationSelectorTerms[0].id"),
		class("bad owner", "capacityReservationSelectorTerms: [{tags: {a: b}, ownerID: '1'}]", "should match", "capacityReservationSelectorTerms[0].ownerID"),
		class("bad criteria", "capacityReservationSelectorTerms: [{instanceMatchCriteria: x}]", "supported values", "capacityReservationSelectorTerms[0].instanceMatchCriteria"),
		class("no images", "amiSelectorTerms: []", "at least 1 items", "amiSelectorTerms"),
		class("bad image", "amiSelectorTerms: [{id: x}]", "should match", "amiSelectorTerms[0].id"),
		class("alias and another term", "amiSelectorTerms: [{alias: al2023@latest}, {id: ami-1}]", "an alias stands alone", "amiSelectorTerms[0].alias"),
		class("long alias", "amiSelectorTerms: [{alias: 'al2023@"+strings.Repeat("v", 30)+"'}]", "may not be more than 30", "amiSelectorTerms[0].alias"),
		class("alias without version", "amiSelectorTerms: [{alias: al2023}]", "write an alias as family@version", "amiSelectorTerms[0].alias"),
		class("alias with two versions", "amiSelectorTerms: [{alias: al2023@v1@x}]", "write an alias as family@version", "amiSelectorTerms[0].alias"),
		class("alias of an unknown family", "amiSelectorTerms: [{alias: ubuntu@latest}]", "names an unknown family", "amiSelectorTerms[0].alias"),
		class("alias in upper case", "amiSelectorTerms: [{alias: AL2023@latest}]", "names an unknown family", "amiSelectorTerms[0].alias"),
		class("Windows of a version", "amiFamily: null, amiSelectorTerms: [{alias: windows2022@v1}]", "Windows images have no version", "amiSelectorTerms[0].alias"),
		class("family against alias", "amiFamily: Bottlerocket", "contradicts the alias", "amiFamily"),
		class("no family", "amiFamily: null, amiSelectorTerms: [{id: ami-1}]", "amiFamily is unknown", "amiFamily"),
		class("unknown family", "amiFamily: Ubuntu", "supported values", "amiFamily"),
		class("no identity", "role: null", "exactly one of role and instanceProfile", "role"),
		class("two identities", "instanceProfile: x", "exactly one of role and instanceProfile", "instanceProfile"),
		class("empty role", "role: ''", "at least 1 chars", "role"),
		class("empty profile", "role: null, instanceProfile: ''", "at least 1 chars", "instanceProfile"),
		class("public address of two interfaces", "associatePublicIPAddress: true", "a single interface", "associatePublicIPAddress"),
		class("negative prefixes", "ipPrefixCount: -1", "greater than or equal to 0", "ipPrefixCount"),
		class("no primary interface", "networkInterfaces: [{networkCardIndex: 0, deviceIndex: 1, interfaceType: interface}]", "needs its primary interface", "networkInterfaces"),
		class("two in one place", "networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}, {networkCardIndex: 0, deviceIndex: 0, interfaceType: efa-only}]", "in the same place", "networkInterfaces[1]"),
		class("two efa-only on a card", "networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}, {networkCardIndex: 0, deviceIndex: 1, interfaceType: efa-only}, {networkCardIndex: 0, deviceIndex: 2, interfaceType: efa-only}]", "a card takes one efa-only", "networkInterfaces[2].interfaceType"),
		class("unknown interface", "networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: x}]", "supported values", "networkInterfaces[0].interfaceType"),
		class("negative card", "networkInterfaces: [{networkCardIndex: -1, deviceIndex: 0, interfaceType: interface}]", "greater than or equal to 0", "networkInterfaces[0].networkCardIndex"),
		class("too many interfaces", "networkInterfaces: ["+many(151, "{networkCardIndex: %, deviceIndex: 0, interfaceType: interface}")+"]", "must have at most 150", "networkInterfaces"),
		class("no time-out", "connectionTracking: {tcpEstablishedTimeout: null, udpStreamTimeout: null, udpTimeout: null}", "sets nothing", "connectionTracking"),
		class("time-out too short", "connectionTracking: {tcpEstablishedTimeout: 59}", "greater than or equal to 60", "connectionTracking.tcpEstablishedTimeout"),
		class("time-out too long", "connectionTracking: {udpTimeout: 61}", "less than or equal to 60", "connectionTracking.udpTimeout"),
		class("stream time-out too long", "connectionTracking: {udpStreamTimeout: 181}", "less than or equal to 180", "connectionTracking.udpStreamTimeout"),
		class("tag without key", "tags: {'': x}", "a tag's key must not be empty", "tags"),
		class("cluster's tag", "tags: {kubernetes.io/cluster/blue: owned}", "kubernetes.io/cluster", "tags[kubernetes.io/cluster/blue]"),
		class("cluster's name as a tag", "tags: {'eks:eks-cluster-name': x}", "to identify its owner", "tags[eks:eks-cluster-name]"),
		class("pool's tag", "tags: {karpenter.sh/nodepool: x}", "to identify its owner", "tags[karpenter.sh/nodepool]"),
		class("claim's tag", "tags: {karpenter.sh/nodeclaim: x}", "to identify its owner", "tags[karpenter.sh/nodeclaim]"),
		class("class's tag", "tags: {karpenter.k8s.aws/ec2nodeclass: x}", "to identify its owner", "tags[karpenter.k8s.aws/ec2nodeclass]"),
		class("too many volumes", "blockDeviceMappings: ["+many(51, "{ebs: {volumeSize: 1Gi}}")+"]", "must have at most 50", "blockDeviceMappings"),
		class("two roots", "blockDeviceMappings: [{rootVolume: true, ebs: {volumeSize: 1Gi}}, {rootVolume: true, ebs: {volumeSize: 1Gi}}]", "only one volume holds", "blockDeviceMappings[1].rootVolume"),
		class("mapping without volume", "blockDeviceMappings: [{deviceName: /dev/xvda}]", "describe the volume", "blockDeviceMappings[0].ebs"),
		class("volume without size", "blockDeviceMappings: [{ebs: {volumeType: gp3}}]", "give volumeSize or snapshotID", "blockDeviceMappings[0].ebs.volumeSize"),
		class("volume without unit", "blockDeviceMappings: [{ebs: {volumeSize: 20}}]", "is less than 1G", "blockDeviceMappings[0].ebs.volumeSize"),
		class("volume too large", "blockDeviceMappings: [{ebs: {volumeSize: 65Ti}}]", "is more than 64Ti", "blockDeviceMappings[0].ebs.volumeSize"),
		class("volume with an exponent", "blockDeviceMappings: [{ebs: {volumeSize: '1e10'}}]", "should match", "blockDeviceMappings[0].ebs.volumeSize"),
		class("rate without snapshot", "blockDeviceMappings: [{ebs: {volumeSize: 1Gi, volumeInitializationRate: 100}}]", "only a volume made from a snapshot", "blockDeviceMappings[0].ebs.volumeInitializationRate"),
		class("rate too low", "blockDeviceMappings: [{ebs: {snapshotID: snap-1, volumeInitializationRate: 99}}]", "greater than or equal to 100", "blockDeviceMappings[0].ebs.volumeInitializationRate"),
		class("negative operations", "blockDeviceMappings: [{ebs: {volumeSize: 1Gi, iops: -1}}]", "greater than or equal to 0", "blockDeviceMappings[0].ebs.iops"),
		class("negative throughput", "blockDeviceMappings: [{ebs: {volumeSize: 1Gi, throughput: -1}}]", "greater than or equal to 0", "blockDeviceMappings[0].ebs.throughput"),
		class("unknown volume type", "blockDeviceMappings: [{ebs: {volumeSize: 1Gi, volumeType: gp4}}]", "supported values", "blockDeviceMappings[0].ebs.volumeType"),
		class("unknown store policy", "instanceStorePolicy: RAID1", "supported values", "instanceStorePolicy"),
		class("unknown endpoint", "metadataOptions: {httpEndpoint: x}", "supported values", "metadataOptions.httpEndpoint"),
		class("unknown IPv6", "metadataOptions: {httpProtocolIPv6: x}", "supported values", "metadataOptions.httpProtocolIPv6"),
		class("no hops", "metadataOptions: {httpPutResponseHopLimit: 0}", "greater than or equal to 1", "metadataOptions.httpPutResponseHopLimit"),
		class("too many hops", "metadataOptions: {httpPutResponseHopLimit: 65}", "less than or equal to 64", "metadataOptions.httpPutResponseHopLimit"),
		class("unknown tokens", "metadataOptions: {httpTokens: x}", "supported values", "metadataOptions.httpTokens"),
		class("unknown virtualization", "cpuOptions: {nestedVirtualization: x}", "supported values", "cpuOptions.nestedVirtualization"),
		class("no placement group", "placementGroupSelector: {name: null}", "exactly one placement group", "placementGroupSelector"),
		class("two placement groups", "placementGroupSelector: {id: pg-1}", "exactly one placement group", "placementGroupSelector"),
		class("placement group without name", "placementGroupSelector: {name: ''}", "at least 1 chars", "placementGroupSelector.name"),
		class("bad placement group", "placementGroupSelector: {name: null, id: x}", "should match", "placementGroupSelector.id"),
		class("a host and a group of hosts", "placementGroupSelector: null, placement: {hostID: h-0123456789abcdef0, hostResourceGroupARN: 'arn:aws:resource-groups:us-east-1:111122223333:group/x'}",
			"names one host and a group of hosts", "placement"),
		class("a host without its tenancy", "placementGroupSelector: null, placement: {tenancy: dedicated, hostID: h-0123456789abcdef0}", "tenancy must be host", "placement.tenancy"),
		class("a host in a placement group", "placement: {hostID: h-0123456789abcdef0}", "cannot be in a placement group", "placement"),
		class("unknown tenancy", "placementGroupSelector: null, placement: {tenancy: shared}", "supported values", "placement.tenancy"),
		class("bad host", "placementGroupSelector: null, placement: {hostID: x}", "should match", "placement.hostID"),
		class("bad group of hosts", "placementGroupSelector: null, placement: {hostResourceGroupARN: x}", "should match", "placement.hostResourceGroupARN"),
	}
	for _, list := range []struct{ name, id string }{
		{"subnetSelectorTerms", "subnet-1"}, {"securityGroupSelectorTerms", "sg-1"}, {"capacityReservationSelectorTerms", "cr-1"}, {"amiSelectorTerms", "ami-1"},
	} {
		at := list.name + "[0]"
		of := func(term string) string { return list.name + ": [" + term + "]" }
		out = append(out,
			class(list.name+" that selects nothing", of("{}"), "a term must select by one of", at),
			class(list.name+" with empty tags", of("{tags: {}}"), "a term must select by one of", at),
			class(list.name+" by id and tags", of("{id: "+list.id+", tags: {a: b}}"), "id can't be combined", at+".id"),
			class(list.name+" with an empty tag", of("{tags: {a: ''}}"), "neither key nor value of a tag may be empty", at+".tags[a]"),
			class(list.name+" with too many tags", of("{tags: {"+many(21, "t%: x")+"}}"), "must have at most 20", at+".tags"),
		)
	}
	return append(out,
		class("group by name and tags", "securityGroupSelectorTerms: [{name: x, tags: {a: b}}]", "name can't be combined", "securityGroupSelectorTerms[0].name"),
		class("alias and tags", "amiSelectorTerms: [{alias: al2023@latest, tags: {a: b}}]", "alias can't be combined", "amiSelectorTerms[0].alias"),
		class("parameter and tags", "amiSelectorTerms: [{ssmParameter: /x, tags: {a: b}}]", "ssmParameter can't be combined", "amiSelectorTerms[0].ssmParameter"),
		class("owner alone", "amiSelectorTerms: [{owner: self}]", "a term must select by one of", "amiSelectorTerms[0]"),
		class("reservation's owner alone", "capacityReservationSelectorTerms: [{ownerID: '123456789012'}]", "a term must select by one of", "capacityReservationSelectorTerms[0]"),
	)
}

// many is a comma list of entries, each with its number for %.
func many(n int, entry string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = strings.ReplaceAll(entry, "%", strconv.Itoa(i))
	}
	return strings.Join(entries, ", ")
}

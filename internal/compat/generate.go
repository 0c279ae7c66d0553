package main

import (
	"fmt"
	"math/rand/v2"
)

// generator draws objects that are similar to those that people write. Each field is missing or has one of a few values. The same seed
// gives the same objects. Fields with a default in the definitions are always set, because an API server sets them before it asks for a
// conversion.
type generator struct{ *rand.Rand }

type object = map[string]any

func (g generator) maybe(o object, key string, values ...any) {
	if g.IntN(2) == 0 {
		o[key] = pick(g, values...)
	}
}

func pick(g generator, values ...any) any { return values[g.IntN(len(values))] }

func (g generator) requirements() []any {
	all := []any{
		object{"key": "karpenter.sh/capacity-type", "operator": "In", "values": []any{"spot", "on-demand"}},
		object{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": []any{"m5.large", "m5.xlarge", "c5.large"}, "minValues": 2},
		object{"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": []any{"2"}},
		object{"key": "kubernetes.io/arch", "operator": "NotIn", "values": []any{"arm64"}},
		object{"key": "example.com/team", "operator": "Exists"},
		object{"key": "example.com/old", "operator": "DoesNotExist"},
	}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+g.IntN(len(all))]
}

func (g generator) kubelet() object {
	k := object{}
	g.maybe(k, "maxPods", 42, 110)
	g.maybe(k, "podsPerCore", 10)
	g.maybe(k, "clusterDNS", []any{"10.0.0.10"})
	g.maybe(k, "kubeReserved", object{"cpu": "100m", "memory": "200Mi"})
	g.maybe(k, "systemReserved", object{"cpu": "1", "ephemeral-storage": "1Gi"})
	g.maybe(k, "evictionHard", object{"memory.available": "5%"})
	g.maybe(k, "imageGCHighThresholdPercent", 80)
	g.maybe(k, "cpuCFSQuota", true, false)
	return k
}

func (g generator) metadata(name string) object {
	m := object{"name": name}
	g.maybe(m, "labels", object{"team": "a"})
	g.maybe(m, "annotations", object{"example.com/note": "x"})
	return m
}

func (g generator) claimSpec(v1 bool) object {
	s := object{"requirements": g.requirements()}
	if v1 {
		s["nodeClassRef"] = pick(g, object{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"})
		s["expireAfter"] = pick(g, "720h", "Never", "1h30m")
	} else {
		s["nodeClassRef"] = pick(g, object{"name": "default"}, object{"apiVersion": "karpenter.k8s.aws/v1beta1", "kind": "EC2NodeClass", "name": "default"})
		if g.IntN(2) == 0 {
			s["kubelet"] = g.kubelet()
		}
	}
	g.maybe(s, "taints", []any{object{"key": "example.com/dedicated", "value": "x", "effect": "NoSchedule"}})
	g.maybe(s, "startupTaints", []any{object{"key": "example.com/starting", "effect": "NoExecute"}})
	return s
}

func (g generator) pool(v1 bool) object {
	template := object{"spec": g.claimSpec(v1)}
	g.maybe(template, "metadata", object{"labels": object{"tier": "web"}}, object{"annotations": object{"example.com/a": "b"}})
	spec := object{"template": template}
	g.maybe(spec, "limits", object{"cpu": "1000", "memory": "1000Gi"})
	g.maybe(spec, "weight", 1, 50, 100)
	d := object{}
	if v1 {
		d["consolidationPolicy"] = pick(g, "WhenEmpty", "WhenEmptyOrUnderutilized")
		d["consolidateAfter"] = pick(g, "0s", "30s", "Never")
		if d["consolidationPolicy"] == "WhenEmptyOrUnderutilized" {
			d["consolidateAfter"] = pick(g, "0s", "1m", "Never")
		}
		g.maybe(d, "budgets", []any{object{"nodes": "10%"}}, []any{object{"nodes": "0", "schedule": "@daily", "duration": "8h", "reasons": []any{"Drifted"}}})
	} else {
		d["consolidationPolicy"] = pick(g, "WhenEmpty", "WhenUnderutilized")
		if d["consolidationPolicy"] == "WhenEmpty" {
			d["consolidateAfter"] = pick(g, "30s", "Never")
		}
		d["expireAfter"] = pick(g, "720h", "Never", "1h30m")
		g.maybe(d, "budgets", []any{object{"nodes": "10%"}}, []any{object{"nodes": "0", "schedule": "@daily", "duration": "8h"}})
	}
	spec["disruption"] = d
	return object{"metadata": g.metadata("default"), "spec": spec}
}

func (g generator) claim(v1 bool) object {
	spec := g.claimSpec(v1)
	g.maybe(spec, "resources", object{"requests": object{"cpu": "1", "memory": "1Gi"}})
	metadata := g.metadata("default-abcde")
	metadata["labels"] = object{"karpenter.sh/nodepool": "default"}
	status := object{"providerID": "aws:///us-east-1a/i-0123456789abcdef0", "nodeName": "ip-10-0-0-1"}
	g.maybe(status, "imageID", "ami-0123")
	g.maybe(status, "capacity", object{"cpu": "2"})
	g.maybe(status, "conditions", []any{object{"type": "Launched", "status": "True", "reason": "Launched", "message": "", "lastTransitionTime": "2024-08-01T00:00:00Z"}})
	return object{"metadata": metadata, "spec": spec, "status": status}
}

func (g generator) class(v1 bool) object {
	spec := object{
		"subnetSelectorTerms":        []any{object{"tags": object{"karpenter.sh/discovery": "demo"}}},
		"securityGroupSelectorTerms": []any{pick(g, object{"tags": object{"karpenter.sh/discovery": "demo"}}, object{"id": "sg-1"}, object{"name": "nodes"})},
		"role":                       "KarpenterNodeRole-demo",
	}
	terms := []any{pick(g, object{"id": "ami-1"}, object{"name": "mine-*", "owner": "self"}, object{"tags": object{"env": "prod"}})}
	if v1 {
		if g.IntN(2) == 0 {
			spec["amiSelectorTerms"] = []any{object{"alias": pick(g, "al2023@latest", "al2@v20240807", "bottlerocket@v1.20.3")}}
		} else {
			spec["amiSelectorTerms"], spec["amiFamily"] = terms, pick(g, "AL2023", "AL2", "Bottlerocket", "Custom")
		}
	} else {
		spec["amiFamily"] = pick(g, "AL2023", "AL2", "Bottlerocket", "Custom", "Ubuntu", "Windows2022")
		if spec["amiFamily"] == "Custom" || g.IntN(2) == 0 {
			spec["amiSelectorTerms"] = terms
		}
	}
	g.maybe(spec, "tags", object{"team": "a"})
	g.maybe(spec, "userData", "#!/bin/bash\necho hello\n")
	g.maybe(spec, "detailedMonitoring", true)
	g.maybe(spec, "associatePublicIPAddress", true, false)
	g.maybe(spec, "instanceStorePolicy", "RAID0")
	spec["metadataOptions"] = object{
		"httpEndpoint": pick(g, "enabled", "disabled"), "httpProtocolIPv6": pick(g, "disabled", "enabled"),
		"httpPutResponseHopLimit": pick(g, 1, 2), "httpTokens": pick(g, "required", "optional"),
	}
	g.maybe(spec, "blockDeviceMappings", []any{object{"deviceName": "/dev/xvda", "rootVolume": true, "ebs": object{"volumeSize": "100Gi", "volumeType": "gp3", "encrypted": true, "iops": 3000}}})
	return object{"metadata": g.metadata("default"), "spec": spec}
}

// draw makes the n-th object of a kind and version.
func draw(kind string, v1 bool, n int) object {
	seed := uint64(n)
	if v1 {
		seed += 1 << 32
	}
	g := generator{rand.New(rand.NewPCG(seed, uint64(len(kind))))}
	var o object
	switch kind {
	case "NodePool":
		o = g.pool(v1)
	case "NodeClaim":
		o = g.claim(v1)
	default:
		o = g.class(v1)
	}
	group, version := "karpenter.sh", "v1beta1"
	if kind == "EC2NodeClass" {
		group = "karpenter.k8s.aws"
	}
	if v1 {
		version = "v1"
	}
	o["apiVersion"], o["kind"] = fmt.Sprintf("%s/%s", group, version), kind
	return o
}

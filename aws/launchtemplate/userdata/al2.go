package userdata

import (
	"strings"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// al2 returns the user's parts followed by a script that calls the image's bootstrap.
func al2(c *Config, warn func(string, ...any)) (string, error) {
	warnOther(c, warn)
	parts, err := userParts(c, warn, typeByFirstLine)
	if err != nil {
		return "", err
	}
	script, err := bootstrapScript(c)
	if err != nil {
		return "", err
	}
	return writeArchive(append(parts, newPart(contentTypeScript, script))), nil
}

// bootstrapScript returns the generated script. The image's bootstrap expects options and values as separate words: an equals sign between
// them is not supported.
func bootstrapScript(c *Config) (string, error) {
	flags, err := kubeletFlags(c)
	if err != nil {
		return "", err
	}
	first := []string{
		"/etc/eks/bootstrap.sh", shellQuote(c.ClusterName), "--apiserver-endpoint", shellQuote(c.Endpoint),
	}
	if c.CABundle != "" {
		first = append(first, "--b64-cluster-ca", shellQuote(c.CABundle))
	}
	lines := []string{strings.Join(first, " ")}
	if c.IPv6 {
		lines = append(lines, "--ip-family ipv6")
	}
	if dns := c.dns(); dns != "" {
		lines = append(lines, "--dns-cluster-ip "+shellQuote(dns))
	}
	if c.Kubelet.MaxPods != nil {
		lines = append(lines, "--use-max-pods false")
	}
	lines = append(lines, "--kubelet-extra-args "+shellQuote(flags))
	if c.InstanceStorePolicy == awsv1.InstanceStorePolicyRAID0 && c.Family != familyUbuntu {
		lines = append(lines, "--local-disks raid0")
	}
	return "#!/bin/bash -xe\n" +
		"exec > >(tee -a /var/log/user-data.log | logger -s -t user-data 2>/dev/console) 2>&1\n" +
		strings.Join(lines, " \\\n"), nil
}

// familyUbuntu is a family of v1beta1 and v1alpha5: it has AL2's user data, but its images do not set up local disks.
const familyUbuntu awsv1.AMIFamily = "Ubuntu"

// shellQuote quotes a string as one shell word.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

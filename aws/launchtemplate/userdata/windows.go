package userdata

import (
	"regexp"
	"strings"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// windows returns one block of PowerShell: the user's commands, then a call of the image's start script.
func windows(c *Config, warn func(string, ...any)) (string, error) {
	warnOther(c, warn)
	if c.InstanceStorePolicy == awsv1.InstanceStorePolicyRAID0 {
		warn("instanceStorePolicy is left out: family %s can't set it", c.Family)
	}
	if at := launchTags.FindStringIndex(c.UserData); at != nil {
		line := 1 + strings.Count(c.UserData[:at[0]], "\n")
		return "", c.malformed(line, 0, "has a tag, but the text is put between <powershell> and </powershell> anyway: remove the tags")
	}
	flags, err := kubeletFlags(c)
	if err != nil {
		return "", err
	}
	call := []string{
		`& "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"`,
		"-EKSClusterName", powershellQuote(c.ClusterName),
		"-APIServerEndpoint", powershellQuote(c.Endpoint),
	}
	if c.CABundle != "" {
		call = append(call, "-Base64ClusterCA", powershellQuote(c.CABundle))
	}
	call = append(call, "-KubeletExtraArgs", powershellQuote(flags))
	if dns := c.dns(); dns != "" {
		call = append(call, "-DNSClusterIP", powershellQuote(dns))
	}
	if c.ServiceCIDR != "" {
		// Without this argument, the script guesses one of two ranges.
		call = append(call, "-ServiceCIDR", powershellQuote(c.ServiceCIDR))
	}
	var b strings.Builder
	b.WriteString("<powershell>\n")
	if c.UserData != "" {
		b.WriteString(c.UserData + "\n")
	}
	b.WriteString(strings.Join(call, " ") + "\n</powershell>")
	return b.String(), nil
}

// launchTags are the tags by which EC2's launch agent finds the blocks of user data, in upper or lower case.
var launchTags = regexp.MustCompile(`(?i)</?(powershell|script)>`)

// powershellQuote quotes a string as one literal. PowerShell also treats typographic apostrophes as quotes.
func powershellQuote(text string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range text {
		if strings.ContainsRune("'‘’‚‛", r) {
			b.WriteRune(r)
		}
		b.WriteRune(r)
	}
	b.WriteByte('\'')
	return b.String()
}

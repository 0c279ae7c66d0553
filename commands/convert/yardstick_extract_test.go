package convert

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	fence   = regexp.MustCompile("^([ \t>]*)(```+|~~~+)(.*)$")
	heredoc = regexp.MustCompile(`<<-? *["']?([A-Za-z_]+)["']?`)
	// karpenterObject matches the apiVersion of an object of Karpenter or of one of its providers.
	karpenterObject = regexp.MustCompile(`(?m)^(?:\{\s*)?"?apiVersion"?: *["']?(?:[a-z0-9.-]+\.)?karpenter\.[a-z0-9.-]+/v[0-9a-z]+`)
	hasKind         = regexp.MustCompile(`(?m)^\s*"?kind"?: *["']?[A-Z]`)
	// otherKind matches a kind of objects that may have keys of Karpenter: workloads, and configuration of clusters.
	otherKind = regexp.MustCompile(`(?m)^kind: *["']?(Pod|Deployment|StatefulSet|DaemonSet|ReplicaSet|Job|CronJob|ConfigMap|ClusterConfig)["']?\s*$`)
	// definition matches a CustomResourceDefinition of Karpenter.
	definition = regexp.MustCompile(`(?m)^kind: CustomResourceDefinition$[\s\S]*^  group: karpenter\.`)
	hasKey     = regexp.MustCompile(`\bkarpenter\.(sh|k8s\.aws)/`)
)

// manifestsIn returns the documents of a file that are objects of Karpenter or use its keys, in their order. If a file, or a code block of Markdown, has
// several of them, the whole file or block comes before them. In code blocks, it reads the here-documents of shell commands. With
// definitions, CustomResourceDefinitions count too. Workflows of GitHub are no manifests.
func manifestsIn(name, text string, definitions bool) []string {
	if strings.HasPrefix(name, ".github/") {
		return nil
	}
	definitions = definitions && strings.HasPrefix(name, "pkg/apis/crds/")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var blocks []string
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		blocks = []string{text}
	case ".md":
		blocks = codeBlocks(text)
	}
	var list []string
	for _, block := range blocks {
		var found []string
		for _, document := range documentsOf([]byte(withoutShell(block))) {
			lines := strings.Split(string(document), "\n")
			if strings.HasPrefix(lines[0], "---") {
				lines = lines[1:]
			}
			one := dedent(lines)
			if karpenterObject.MatchString(one) && hasKind.MatchString(one) || hasKey.MatchString(one) && otherKind.MatchString(one) || definitions && definition.MatchString(one) {
				found = append(found, one)
			}
		}
		if len(found) > 1 {
			list = append(list, dedent(strings.Split(withoutShell(block), "\n")))
		}
		list = append(list, found...)
	}
	return list
}

// codeBlocks returns the fenced code blocks of Markdown, without the indentation of the fence.
func codeBlocks(text string) []string {
	var blocks []string
	var block []string
	end, indent := "", ""
	for line := range strings.SplitSeq(text, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case end == "" && m != nil:
			indent, end, block = m[1], m[2], nil
		case end != "" && m != nil && strings.HasPrefix(m[2], end) && strings.TrimSpace(m[3]) == "":
			blocks = append(blocks, strings.Join(block, "\n"))
			end = ""
		case end != "":
			block = append(block, strings.TrimPrefix(line, indent))
		}
	}
	return blocks
}

// withoutShell returns the here-documents of a block as documents, or the block itself if it has none.
func withoutShell(block string) string {
	var documents []string
	end := ""
	for line := range strings.SplitSeq(block, "\n") {
		m := heredoc.FindStringSubmatch(line)
		switch {
		case end == "" && m != nil:
			end = m[1]
			documents = append(documents, "---")
		case end != "" && strings.TrimSpace(line) == end:
			end = ""
		case end != "":
			documents = append(documents, line)
		}
	}
	// An end marker that is missing belongs to something else, such as a script in user data.
	if documents == nil || end != "" || karpenterObject.MatchString(strings.SplitN(block, "<<", 2)[0]) {
		return block
	}
	return strings.Join(documents, "\n")
}

// dedent removes the indentation that all lines have, and blank lines at the beginning and end.
func dedent(lines []string) string {
	indent := -1
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			if n := len(line) - len(strings.TrimLeft(line, " ")); indent < 0 || n < indent {
				indent = n
			}
		}
	}
	for i, line := range lines {
		lines[i] = line[min(max(indent, 0), len(line)):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}

func TestManifestsIn(t *testing.T) {
	const page = "# Title\n\n" +
		"```yaml\napiVersion: karpenter.sh/v1\nkind: NodePool\n---\napiVersion: v1\nkind: Pod\n```\n" +
		"1. A step:\n\n   ```bash\n   cat <<EOF | kubectl apply -f -\n   apiVersion: karpenter.sh/v1alpha5\n   kind: Provisioner\n   ---\n   apiVersion: karpenter.azure.com/v1beta1\n   kind: AKSNodeClass\n   EOF\n   ```\n" +
		"```yaml\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec:\n  userData: |\n    cat <<EOF > x\n    EOF\n```\n"
	got := manifestsIn("page.md", page, false)
	want := []string{
		"apiVersion: karpenter.sh/v1\nkind: NodePool\n",
		"---\napiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\n---\napiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\n",
		"apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\n", "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\n",
		"apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec:\n  userData: |\n    cat <<EOF > x\n    EOF\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := manifestsIn("a.yaml", want[0]+"---\n"+want[2], false); !cmp.Equal(got, []string{want[0] + "---\n" + want[2], want[0], want[2]}) {
		t.Errorf("%q", got)
	}
}

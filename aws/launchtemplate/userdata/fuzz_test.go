package userdata

import (
	"errors"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// refusedAsItShould fails the test unless the error is one that a user's text may cause.
func refusedAsItShould(t *testing.T, c Config, err error) {
	t.Helper()
	var malformed *MalformedError
	var tooLarge *TooLargeError
	switch {
	case errors.As(err, &malformed):
		if lines := 1 + strings.Count(c.UserData, "\n"); malformed.Line < 0 || malformed.Line > lines {
			t.Fatalf("line %d of %d: %v", malformed.Line, lines, err)
		}
	case !errors.As(err, &tooLarge):
		t.Fatalf("neither malformed nor too large: %v", err)
	}
}

// AWN-184, AWN-185: whatever the user writes, the generated script is the last part of an archive others can read.
func FuzzMergeAL2(f *testing.F) {
	fuzzArchive(f, awsv1.AMIFamilyAL2, contentTypeScript)
}

// AWN-196 to AWN-198: likewise with the NodeConfig.
func FuzzMergeAL2023(f *testing.F) {
	fuzzArchive(f, awsv1.AMIFamilyAL2023, mediaTypeNodeConfig)
}

func fuzzArchive(f *testing.F, family awsv1.AMIFamily, last string) {
	for _, seed := range []string{
		"", userScript, userArchive, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b--\n", "kind: NodeConfig", "--//\n--//1",
		"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n", "#cloud-config\n", "Content-Type: multipart/mixed; boundary=\"//\"\n\n--//--",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := with(demo(family), serviceCIDR, user(text))
		rendered, err := Render(c)
		if err != nil {
			refusedAsItShould(t, c, err)
			return
		}
		parts := readByStandardLibrary(t, rendered.Text)
		if len(parts) == 0 || parts[len(parts)-1].contentType != last || !strings.Contains(parts[len(parts)-1].body, "api.demo.example") {
			t.Fatalf("the generated part is not the last:\n%s", rendered.Text)
		}
	})
}

// AWN-210 to AWN-213: the result is TOML, has the generated values, and merging it again changes nothing.
func FuzzMergeBottlerocket(f *testing.F) {
	for _, seed := range []string{"", userTOML, "a = 1", "[settings]\nkubernetes = {node-labels = {a = 'b'}}", "[[settings.x]]\ny = [{}, {z = 1}]", "settings.motd = \"\"\"\nx\"\"\"",
		"[settings.a]\nb = nan\nc = -inf\nd = 0x10\ne = 07:32:00\nf = 1979-05-27\ng = 1979-05-27T00:32:00.999999-07:00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := with(demo(awsv1.AMIFamilyBottlerocket), user(text))
		rendered, err := Render(c)
		if err != nil {
			refusedAsItShould(t, c, err)
			return
		}
		var document struct {
			Settings struct {
				Kubernetes struct {
					ClusterName string            `toml:"cluster-name"`
					MaxPods     int               `toml:"max-pods"`
					NodeLabels  map[string]string `toml:"node-labels"`
				}
			}
		}
		if err := toml.Unmarshal([]byte(rendered.Text), &document); err != nil {
			t.Fatalf("%v:\n%s", err, rendered.Text)
		}
		if k := document.Settings.Kubernetes; k.ClusterName != "demo" || k.MaxPods != 29 || k.NodeLabels["team"] != "infra" {
			t.Fatalf("the generated values are not there: %+v", k)
		}
		again, err := Render(with(c, user(rendered.Text)))
		if err != nil || again.Text != rendered.Text {
			t.Fatalf("not the same when merged again (%v):\n%s\n%s", err, rendered.Text, again.Text)
		}
	})
}

// AWN-223: the block stays one block.
func FuzzMergeWindows(f *testing.F) {
	for _, seed := range []string{"", "Write-Host hi", "<powershell>", "</POWERSHELL>", "<script>x</script>", "<persist>true</persist>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := with(demo(awsv1.AMIFamilyWindows2022), user(text))
		rendered, err := Render(c)
		if err != nil {
			refusedAsItShould(t, c, err)
			return
		}
		lower := strings.ToLower(rendered.Text)
		if strings.Count(lower, "<powershell>") != 1 || strings.Count(lower, "</powershell>") != 1 || !strings.HasSuffix(rendered.Text, "\n</powershell>") {
			t.Fatalf("not one block:\n%s", rendered.Text)
		}
	})
}

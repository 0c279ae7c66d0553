package customprovider_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The Go of docs/providers.md is that of this package, word for word: it compiles, and is tested. Its clauses exist.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile("../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// The package comment shows code as well.
		source.WriteString(strings.ReplaceAll(string(content), "\n//\t", "\n\t"))
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 8 {
		t.Fatalf("%d blocks of Go", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(source.String(), b[1]) {
			t.Errorf("this is not in the package:\n%s", b[1])
		}
	}
	contract, err := os.ReadFile("../../cloudprovider/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var interfaces []byte
	for _, name := range []string{"nodeclassstatus.go", "creategroup.go"} {
		text, err := os.ReadFile("../../cloudprovider/" + name)
		if err != nil {
			t.Fatal(err)
		}
		interfaces = append(interfaces, text...)
	}
	for _, clause := range regexp.MustCompile(`CP-[A-Z]+-[0-9]+`).FindAllString(string(text), -1) {
		if !strings.Contains(string(contract)+string(interfaces), clause+":") {
			t.Errorf("the contract has no clause %s", clause)
		}
	}
}

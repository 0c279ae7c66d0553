//go:build ignore

// Command generate_branches makes branches.txt, the number of branch interfaces of each instance type. It reads the table in the Go
// module of the VPC resource controller, because this controller enforces the limit on nodes. The numbers are the same in all
// regions. If the module cannot be loaded (no network, and not in the module cache), the file stays unchanged.
//
//	go run generate_branches.go            # read the version of the module that this file names
//	go run generate_branches.go VERSION    # read another version; then write it into this file
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	module  = "github.com/aws/amazon-vpc-resource-controller-k8s"
	version = "v1.8.2"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate_branches:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	wanted := version
	if len(args) > 0 {
		wanted = args[0]
	}
	command := exec.Command("go", "mod", "download", "-json", module+"@"+wanted)
	command.Dir = os.TempDir() // not in this module, because its go.mod does not require the module to download
	out, err := command.Output()
	if err != nil {
		fmt.Fprintf(os.Stderr, "generate_branches: %s can't be downloaded, branches.txt stays as it is: %v\n", module, err)
		return nil
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(found.Dir, "pkg", "aws", "vpc", "limits.go"), nil, 0)
	if err != nil {
		return err
	}
	var lines []string
	ast.Inspect(file, func(n ast.Node) bool {
		entry, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		name, ok := entry.Key.(*ast.BasicLit)
		limits, isLimits := entry.Value.(*ast.CompositeLit)
		if !ok || !isLimits || name.Kind != token.STRING {
			return true
		}
		instanceType, _ := strconv.Unquote(name.Value)
		trunk, branches := "", ""
		for _, e := range limits.Elts {
			field := e.(*ast.KeyValueExpr)
			switch value := field.Value.(type) {
			case *ast.Ident:
				if field.Key.(*ast.Ident).Name == "IsTrunkingCompatible" {
					trunk = value.Name
				}
			case *ast.BasicLit:
				if field.Key.(*ast.Ident).Name == "BranchInterface" {
					branches = value.Value
				}
			}
		}
		if trunk != "true" {
			branches = "0"
		}
		lines = append(lines, instanceType+" "+branches+"\n")
		return false
	})
	if len(lines) < 1000 {
		return fmt.Errorf("%s@%s: only %d types were found: the format of its table has changed", module, wanted, len(lines))
	}
	slices.Sort(lines)
	text := "# Code generated from the table of " + module + " " + wanted + "; DO NOT EDIT.\n" + strings.Join(lines, "")
	return os.WriteFile("branches.txt", []byte(text), 0o644)
}

package iam_test

import (
	stdcmp "cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/iam"
	"github.com/drawknife/drawknife/aws/prices"
)

// takes is what each call takes, by the reference of AWS's services. What has no entry takes the action of its name.
var takes = map[string][]string{
	"EC2API.CreateFleet":                        {"ec2:CreateFleet", "ec2:CreateTags", "ec2:RunInstances", "iam:CreateServiceLinkedRole", "iam:PassRole"},
	"EC2API.RunInstances":                       {"ec2:CreateTags", "ec2:RunInstances", "iam:PassRole"},
	"EC2API.CreateLaunchTemplate":               {"ec2:CreateLaunchTemplate", "ec2:CreateTags"},
	"IAMAPI.CreateInstanceProfile":              {"iam:CreateInstanceProfile", "iam:TagInstanceProfile"},
	"IAMAPI.AddRoleToInstanceProfile":           {"iam:AddRoleToInstanceProfile", "iam:PassRole"},
	"EC2CapacityBlockAPI.PurchaseCapacityBlock": {"ec2:CreateTags", "ec2:PurchaseCapacityBlock"},
	"SQSAPI.DeleteMessageBatch":                 {"sqs:DeleteMessage"},
}

// services are the prefixes of actions, by interface and by package of the SDK.
var services = map[string]string{
	"EC2API": "ec2", "EC2MigrationAPI": "ec2", "EC2CapacityBlockAPI": "ec2", "IAMMigrationAPI": "iam", "SSMAPI": "ssm", "EKSAPI": "eks", "PricingAPI": "pricing", "IAMAPI": "iam", "SQSAPI": "sqs", "ZonalShiftAPI": "arc-zonal-shift",
	"SavingsPlansAPI": "savingsplans", "CostExplorerAPI": "ce", "ReservedInstancesAPI": "ec2", "SpotScoresAPI": "ec2", "HostsAPI": "ec2", "WarmAPI": "ec2",
}

// packages are those of the SDK with another name than the prefix of their actions.
var packages = map[string]string{"ce": "costexplorer"}

// interfaces reads "EC2API.CreateFleet", … from the source of package sdk.
func interfaces(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, name := range []string{"apis.go", "billingapis.go", "hostsapi.go", "warmapi.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "sdk", name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, methodsIn(t, file)...)
	}
	slices.Sort(out)
	return out
}

// methodsIn are the methods of the interfaces that a file declares.
func methodsIn(t *testing.T, file *ast.File) []string {
	t.Helper()
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if i, ok := spec.Type.(*ast.InterfaceType); ok {
			for _, method := range i.Methods.List {
				if len(method.Names) != 1 {
					t.Fatalf("%s embeds something: its methods can't be read", spec.Name.Name)
				}
				out = append(out, spec.Name.Name+"."+method.Names[0].Name)
			}
		}
		return false
	})
	return out
}

func settings(changes ...func(*iam.Settings)) iam.Settings {
	s := iam.Settings{Region: "eu-central-1", AccountID: "111122223333", ClusterName: "demo", NodeRoles: []string{"demo-nodes"}, Queue: "demo"}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// everything switches on all that there is.
func everything(s *iam.Settings) {
	s.NodeRoles = []string{"demo-nodes", "arn:aws:iam::111122223333:role/team/windows"}
	s.SSMParameters = []string{"/images/*", "arn:aws:ssm:eu-central-1:444455556666:parameter/shared/ami"}
	s.LaunchResources = []string{"key-pair", "dedicated-host"}
	s.ZonalShift, s.SpotServiceLinkedRole, s.VerifyMigration, s.PurchaseCapacityBlocks = true, true, true, true
	s.Commitments, s.CostExplorer, s.SpotPlacementScores = true, true, true
	s.DedicatedHosts, s.WarmPools = true, true
}

func generate(t *testing.T, s iam.Settings) iam.Setup {
	t.Helper()
	setup, err := iam.Generate(s)
	if err != nil {
		t.Fatal(err)
	}
	return setup
}

// allowed are the actions of the controller's policies.
func allowed(setup iam.Setup) []string {
	actions := map[string]bool{}
	for _, p := range setup.ControllerPolicies {
		for _, s := range p.Document.Statement {
			for _, action := range s.Action {
				actions[action] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(actions))
}

// TestCallsOfTheInterfaces: AWN-323, AWN-327, AWI-235 to AWI-239. A call that is added to an interface needs its row; the
// policies have every action that a call takes, and none that no call takes.
func TestCallsOfTheInterfaces(t *testing.T) {
	var listed []string
	actions := map[string]bool{}
	for _, c := range iam.Calls() {
		name := c.API + "." + c.Method
		listed = append(listed, name)
		want, ok := takes[name]
		if !ok {
			want = []string{services[c.API] + ":" + c.Method}
		}
		if diff := cmp.Diff(want, c.Actions); diff != "" {
			t.Errorf("actions of %s (-want +got):\n%s", name, diff)
		}
		for _, action := range want {
			actions[action] = true
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(interfaces(t), listed); diff != "" {
		t.Errorf("calls of aws/sdk and of the table (-sdk +table):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(actions)), allowed(generate(t, settings(everything)))); diff != "" {
		t.Errorf("actions that calls take and that the policies have (-taken +allowed):\n%s", diff)
	}
}

// TestPlacementGroupsAreGiven: AWN-118. Groups are looked at; nothing makes or deletes them, nor may.
func TestPlacementGroupsAreGiven(t *testing.T) {
	var got []string
	for _, action := range allowed(generate(t, settings(everything))) {
		if strings.Contains(action, "PlacementGroup") {
			got = append(got, action)
		}
	}
	if diff := cmp.Diff([]string{"ec2:DescribePlacementGroups"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Launches on Dedicated Hosts and with licences refer to resources of other services.
func TestHostsAndLicencesAreGiven(t *testing.T) {
	given := func(s iam.Settings) map[string]int {
		if reads := slices.Contains(allowed(generate(t, s)), "ec2:DescribeHosts"); reads != s.DedicatedHosts {
			t.Errorf("with DedicatedHosts %t, hosts may be read: %t", s.DedicatedHosts, reads)
		}
		counts := map[string]int{}
		for _, p := range generate(t, s).ControllerPolicies {
			for _, statement := range p.Document.Statement {
				if slices.Contains(statement.Action, "ec2:RunInstances") && slices.Contains(statement.Action, "ec2:CreateFleet") {
					for _, resource := range statement.Resource {
						counts[resource]++
					}
				}
			}
		}
		return counts
	}
	hosts, groups, licences := "arn:aws:ec2:eu-central-1:*:dedicated-host/*", "arn:aws:resource-groups:eu-central-1:*:group/*", "arn:aws:license-manager:eu-central-1:*:license-configuration:*"
	for _, c := range []struct {
		name   string
		change func(*iam.Settings)
		want   [3]int // hosts, groups, licences
	}{
		{"neither", func(*iam.Settings) {}, [3]int{}},
		{"hosts", func(s *iam.Settings) { s.DedicatedHosts = true }, [3]int{1, 1, 0}},
		{"hosts, twice", func(s *iam.Settings) { s.DedicatedHosts, s.LaunchResources = true, []string{"dedicated-host"} }, [3]int{1, 1, 0}},
		{"licences", func(s *iam.Settings) { s.LicenseConfigurations = true }, [3]int{0, 0, 1}},
	} {
		counts := given(settings(c.change))
		if got := [3]int{counts[hosts], counts[groups], counts[licences]}; got != c.want {
			t.Errorf("%s: %v statements, want %v, in %v", c.name, got, c.want, counts)
		}
	}
}

// TestRequestsOfTheCode: no code builds a request that is no row of the table, past the interfaces.
func TestRequestsOfTheCode(t *testing.T) {
	known := map[string]bool{}
	for _, c := range iam.Calls() {
		known[stdcmp.Or(packages[services[c.API]], strings.ReplaceAll(services[c.API], "-", ""))+"."+c.Method] = true
	}
	const sdk = "github.com/aws/aws-sdk-go-v2/service/"
	found := map[string]bool{}
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		imports := map[string]string{}
		for _, spec := range file.Imports {
			at, _ := strconv.Unquote(spec.Path.Value)
			service, ok := strings.CutPrefix(at, sdk)
			if !ok || strings.Contains(service, "/") {
				continue
			}
			local := path.Base(at)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			imports[local] = service
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := selector.X.(*ast.Ident)
			method, input := strings.CutSuffix(selector.Sel.Name, "Input")
			if service := imports[pkgName(pkg)]; ok && input && service != "" {
				found[service+"."+method] = true
				if !known[service+"."+method] {
					t.Errorf("%s builds requests for %s.%s, which the policies don't allow: call it through an interface of aws/sdk, and add its row to the table of this package", name, service, method)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !found["ec2.CreateFleet"] || !found["ssm.GetParameter"] {
		t.Errorf("found only requests for %v: the test does not see the code", slices.Sorted(maps.Keys(found)))
	}
}

func pkgName(i *ast.Ident) string {
	if i == nil {
		return ""
	}
	return i.Name
}

// TestFeatures: what is switched off takes no permission, and takes away no other (AWI-220, AWI-238, AWI-239, AWN-326).
func TestFeatures(t *testing.T) {
	profiles := []string{
		"iam:AddRoleToInstanceProfile", "iam:CreateInstanceProfile", "iam:DeleteInstanceProfile", "iam:GetInstanceProfile",
		"iam:ListInstanceProfiles", "iam:RemoveRoleFromInstanceProfile", "iam:TagInstanceProfile",
	}
	queue := []string{"sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"}
	all := allowed(generate(t, settings(everything)))
	for _, c := range []struct {
		name   string
		change func(*iam.Settings)
		gone   []string
	}{
		{"no queue", func(s *iam.Settings) { s.Queue = "" }, queue},
		{"AWI-220 isolated VPC", func(s *iam.Settings) { s.IsolatedVPC = true }, []string{"iam:ListInstanceProfiles", "pricing:GetProducts"}},
		{"no reservations", func(s *iam.Settings) { s.WithoutReservedCapacity = true }, []string{"ec2:DescribeCapacityReservations"}},
		{"AWN-139 ready-made profiles", func(s *iam.Settings) { s.WithoutInstanceProfiles = true }, profiles},
		{"no EKS", func(s *iam.Settings) { s.WithoutEKS, s.ZonalShift = true, false }, []string{"arc-zonal-shift:GetManagedResource", "eks:DescribeCluster"}},
		{"no zonal shift", func(s *iam.Settings) { s.ZonalShift = false }, []string{"arc-zonal-shift:GetManagedResource"}},
		{"AWN-326 the role for spot exists", func(s *iam.Settings) { s.SpotServiceLinkedRole = false }, []string{"iam:CreateServiceLinkedRole"}},
		{"no check of a migration", func(s *iam.Settings) { s.VerifyMigration = false }, []string{
			"ec2:DescribeInstanceAttribute", "ec2:DescribeLaunchTemplateVersions", "iam:SimulatePrincipalPolicy",
		}},
		{"finding capacity blocks", func(s *iam.Settings) { s.CapacityBlocks, s.PurchaseCapacityBlocks = true, false }, []string{"ec2:PurchaseCapacityBlock"}},
		{"no capacity blocks", func(s *iam.Settings) { s.PurchaseCapacityBlocks = false }, []string{"ec2:DescribeCapacityBlockOfferings", "ec2:PurchaseCapacityBlock"}},
		{"AWI-112 GovCloud", func(s *iam.Settings) {
			s.Region, s.NodeRoles, s.SSMParameters = "us-gov-west-1", []string{"demo-nodes"}, nil
		}, []string{"pricing:GetProducts"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := allowed(generate(t, settings(everything, c.change)))
			want := slices.DeleteFunc(slices.Clone(all), func(a string) bool { return slices.Contains(c.gone, a) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
	if setup := generate(t, settings(func(s *iam.Settings) { s.Queue = "" })); setup.Queue != nil || setup.Rules != nil {
		t.Error("there are a queue or rules though no queue is named")
	}
	for _, region := range []string{"eu-central-1", "cn-north-1", "us-gov-west-1"} {
		for _, isolated := range []bool{false, true} {
			got := slices.Contains(allowed(generate(t, settings(func(s *iam.Settings) { s.Region, s.IsolatedVPC = region, isolated }))), "pricing:GetProducts")
			if want, _ := prices.Published(region, isolated); got != want {
				t.Errorf("%s, isolated %t: prices may be read: %t, and package prices reads them: %t", region, isolated, got, want)
			}
		}
	}
}

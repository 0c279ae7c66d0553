package iam_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/aws/iam"
	"github.com/drawknife/drawknife/internal/seeded"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// TestGoldens: the whole of the documents, in each partition. AWN-295, AWN-323, AWN-325, AWI-235 to AWI-239.
func TestGoldens(t *testing.T) {
	for name, s := range map[string]iam.Settings{
		"aws":      settings(),
		"aws-full": settings(everything),
		"aws-least": settings(func(s *iam.Settings) {
			s.Queue, s.IsolatedVPC, s.WithoutEKS, s.WithoutInstanceProfiles, s.WithoutReservedCapacity = "", true, true, true, true
			s.OIDCIssuer = "https://oidc.example.com/demo"
		}),
		"aws-alpha":  settings(func(s *iam.Settings) { s.ServeAlpha = true }),
		"aws-cn":     settings(func(s *iam.Settings) { s.Region, s.ZonalShift = "cn-northwest-1", true }),
		"aws-us-gov": settings(func(s *iam.Settings) { s.Region, s.SpotServiceLinkedRole = "us-gov-west-1", true }),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(generate(t, s), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// TestPartitions: ARNs and names of services are the partition's own (AWI-238).
func TestPartitions(t *testing.T) {
	for _, c := range []struct {
		region, partition, assumes string
		passedTo                   []string
	}{
		{"eu-central-1", iam.PartitionAWS, "ec2.amazonaws.com", []string{"ec2.amazonaws.com"}},
		{"cn-north-1", iam.PartitionChina, "ec2.amazonaws.com.cn", []string{"ec2.amazonaws.com", "ec2.amazonaws.com.cn"}},
		{"us-gov-east-1", iam.PartitionGovCloud, "ec2.amazonaws.com", []string{"ec2.amazonaws.com"}},
	} {
		t.Run(c.region, func(t *testing.T) {
			setup := generate(t, settings(func(s *iam.Settings) { s.Region, s.Partition = c.region, c.partition }))
			text, err := json.Marshal(setup)
			if err != nil {
				t.Fatal(err)
			}
			for _, arn := range regexp.MustCompile(`arn:[^:"]+:[^:"]+:([^:"]*):`).FindAllStringSubmatch(string(text), -1) {
				if !strings.HasPrefix(arn[0], "arn:"+c.partition+":") || arn[1] != "" && arn[1] != c.region {
					t.Errorf("%s… is of another partition or region", arn[0])
				}
			}
			if got := setup.NodeRole.Trust.Statement[0].Principal.Service; !slices.Equal(got, []string{c.assumes}) {
				t.Errorf("%v may assume the node role, want %s", got, c.assumes)
			}
			var passed []string
			for _, s := range setup.ControllerPolicies[0].Document.Statement {
				if slices.Contains(s.Action, "iam:PassRole") {
					passed = s.Condition["StringEquals"]["iam:PassedToService"]
				}
			}
			if !slices.Equal(passed, c.passedTo) {
				t.Errorf("roles may be passed to %v, want %v", passed, c.passedTo)
			}
		})
	}
}

// TestRules: AWN-285, AWN-295, API-434. Five rules, one for each source and type of event that the queue's reader knows.
func TestRules(t *testing.T) {
	setup := generate(t, settings())
	var got []string
	for _, r := range setup.Rules {
		got = append(got, string(r.Pattern.JSON()))
		if r.TargetARN != setup.Queue.ARN {
			t.Errorf("rule %s sends to %s", r.Name, r.TargetARN)
		}
	}
	want := []string{
		`{"source":["aws.health"],"detail-type":["AWS Health Event"],"detail":{"eventTypeCategory":["scheduledChange"],"service":["EC2"]}}`,
		`{"source":["aws.ec2"],"detail-type":["EC2 Spot Instance Interruption Warning"]}`,
		`{"source":["aws.ec2"],"detail-type":["EC2 Instance Rebalance Recommendation"]}`,
		`{"source":["aws.ec2"],"detail-type":["EC2 Instance State-change Notification"],"detail":{"state":["stopping","stopped","shutting-down","terminated"]}}`,
		`{"source":["aws.ec2"],"detail-type":["EC2 Capacity Reservation Instance Interruption Warning"]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("patterns (-want +got):\n%s", diff)
	}
	// AWN-290: what is older than five minutes is no news.
	if got := setup.Queue.Attributes()["MessageRetentionPeriod"]; got != "300" {
		t.Errorf("messages are kept %s s", got)
	}
}

// TestSettings: each setting that can't be is refused by its name, all at once.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*iam.Settings)
		setting string
	}{
		{"no region", func(s *iam.Settings) { s.Region = "" }, "Region"},
		{"a zone", func(s *iam.Settings) { s.Region = "eu-central-1a" }, "Region"},
		{"an unknown partition", func(s *iam.Settings) { s.Region = "us-iso-east-1" }, "Region"},
		{"a sovereign partition", func(s *iam.Settings) { s.Region = "eusc-de-east-1" }, "Region"},
		{"another partition", func(s *iam.Settings) { s.Partition = iam.PartitionChina }, "Partition"},
		{"no account", func(s *iam.Settings) { s.AccountID = "1111-2222-3333" }, "AccountID"},
		{"no cluster", func(s *iam.Settings) { s.ClusterName = "" }, "ClusterName"},
		{"a cluster that matches others", func(s *iam.Settings) { s.ClusterName = "*" }, "ClusterName"},
		{"a cluster that is a variable", func(s *iam.Settings) { s.ClusterName = "${aws:username}" }, "ClusterName"},
		{"no role", func(s *iam.Settings) { s.NodeRoles = nil }, "NodeRoles"},
		{"any role", func(s *iam.Settings) { s.NodeRoles = []string{"ok", "*"} }, "NodeRoles[1]"},
		{"any role of a path", func(s *iam.Settings) { s.NodeRoles = []string{"te*m/nodes"} }, "NodeRoles[0]"},
		{"a variable in a path", func(s *iam.Settings) { s.NodeRoles = []string{"${x}/nodes"} }, "NodeRoles[0]"},
		{"a role twice", func(s *iam.Settings) { s.NodeRoles = []string{"a", "a"} }, "NodeRoles[1]"},
		{"an instance profile", func(s *iam.Settings) { s.NodeRoles = []string{"arn:aws:iam::111122223333:instance-profile/x"} }, "NodeRoles[0]"},
		{"a role of another account", func(s *iam.Settings) { s.NodeRoles = []string{"arn:aws:iam::999999999999:role/x"} }, "NodeRoles[0]"},
		{"a role of another partition", func(s *iam.Settings) { s.NodeRoles = []string{"arn:aws-cn:iam::111122223333:role/x"} }, "NodeRoles[0]"},
		{"too many roles", func(s *iam.Settings) {
			s.NodeRoles = nil
			for i := range 101 {
				s.NodeRoles = append(s.NodeRoles, fmt.Sprint("role", i))
			}
		}, "NodeRoles"},
		{"AWN-283 a queue's ARN", func(s *iam.Settings) { s.Queue = "arn:aws:sqs:eu-central-1:111122223333:demo" }, "Queue"},
		{"a FIFO queue", func(s *iam.Settings) { s.Queue = "demo.fifo" }, "Queue"},
		{"a parameter of another region", func(s *iam.Settings) { s.SSMParameters = []string{"arn:aws:ssm:eu-west-1:111122223333:parameter/x"} }, "SSMParameters[0]"},
		{"a parameter of another partition", func(s *iam.Settings) {
			s.SSMParameters = []string{"arn:aws-cn:ssm:eu-central-1:111122223333:parameter/x"}
		}, "SSMParameters[0]"},
		{"no parameter's name", func(s *iam.Settings) { s.SSMParameters = []string{"a b"} }, "SSMParameters[0]"},
		{"no parameter's name in its ARN", func(s *iam.Settings) {
			s.SSMParameters = []string{"arn:aws:ssm:eu-central-1:111122223333:parameter/${x}"}
		}, "SSMParameters[0]"},
		{"no service account", func(s *iam.Settings) { s.ServiceAccount = "drawknife" }, "ServiceAccount"},
		{"any service account", func(s *iam.Settings) { s.ServiceAccount = "kube-system/*" }, "ServiceAccount"},
		{"an issuer that matches others", func(s *iam.Settings) { s.OIDCIssuer = "oidc.example.com/*" }, "OIDCIssuer"},
		{"an issuer without TLS", func(s *iam.Settings) { s.OIDCIssuer = "http://oidc.example.com" }, "OIDCIssuer"},
		{"any resource", func(s *iam.Settings) { s.LaunchResources = []string{"*"} }, "LaunchResources[0]"},
		{"AWI-134 shifts without EKS", func(s *iam.Settings) { s.ZonalShift, s.WithoutEKS = true, true }, "ZonalShift"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := iam.Generate(settings(c.change))
			var fault *iam.SettingError
			if !errors.As(err, &fault) || fault.Setting != c.setting {
				t.Fatalf("error %v, want one about %s", err, c.setting)
			}
		})
	}
	_, err := iam.Generate(iam.Settings{})
	for _, setting := range []string{"Region", "AccountID", "ClusterName", "NodeRoles"} {
		if err == nil || !strings.Contains(err.Error(), setting) {
			t.Errorf("error %v does not speak of %s", err, setting)
		}
	}
}

// TestTooMuch: what no role can have attached is refused.
func TestTooMuch(t *testing.T) {
	path := strings.Repeat(strings.Repeat("p", 100)+"/", 5)
	_, err := iam.Generate(settings(func(s *iam.Settings) {
		s.NodeRoles = nil
		for i := range 100 {
			s.NodeRoles = append(s.NodeRoles, fmt.Sprint(path, "role", i))
		}
	}))
	var limit *iam.LimitError
	if !errors.As(err, &limit) || limit.Policies <= limit.Max || limit.Max != iam.MaxPoliciesPerRole {
		t.Fatalf("error %v", err)
	}
}

// TestLimits: whatever the settings, documents keep to the limits of IAM and EventBridge, allow every role and parameter
// that was named, and are the same each time.
func TestLimits(t *testing.T) {
	sid := regexp.MustCompile(`^[0-9A-Za-z]+$`)
	seeded.Check(t, func(t *rapid.T) {
		s := iam.Settings{
			Region:      rapid.SampledFrom([]string{"eu-central-1", "ap-southeast-7", "cn-northwest-1", "us-gov-west-1"}).Draw(t, "region"),
			AccountID:   "111122223333",
			ClusterName: rapid.StringMatching(`[0-9A-Za-z][0-9A-Za-z_.-]{0,99}`).Draw(t, "cluster"),
			NodeRoles:   rapid.SliceOfNDistinct(rapid.StringMatching(`([a-z]{1,30}/){0,3}[a-z]{1,64}`), 1, 40, rapid.ID[string]).Draw(t, "roles"),
			Queue:       rapid.StringMatching(`[a-z]{0,80}`).Draw(t, "queue"),
			ZonalShift:  rapid.Bool().Draw(t, "shift"), IsolatedVPC: rapid.Bool().Draw(t, "isolated"),
			SSMParameters: rapid.SliceOfNDistinct(rapid.StringMatching(`/[a-z]{1,200}`), 0, 40, rapid.ID[string]).Draw(t, "parameters"),
		}
		setup, err := iam.Generate(s)
		if limit := (*iam.LimitError)(nil); errors.As(err, &limit) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		resources := map[string]bool{}
		for _, p := range setup.ControllerPolicies {
			if names[p.Name] || len(p.Name) > 128 || !strings.HasPrefix(p.Name, s.ClusterName+"-") {
				t.Errorf("name %q", p.Name)
			}
			names[p.Name] = true
			if n := p.Document.Size(); n > iam.MaxPolicySize {
				t.Errorf("policy %s has %d characters", p.Name, n)
			}
			sids := map[string]bool{}
			for _, statement := range p.Document.Statement {
				if sids[statement.Sid] || !sid.MatchString(statement.Sid) || len(statement.Action) == 0 || len(statement.Resource) == 0 {
					t.Errorf("policy %s, statement %+v", p.Name, statement)
				}
				sids[statement.Sid] = true
				for _, r := range statement.Resource {
					_, name, _ := strings.Cut(r, "111122223333:")
					resources[name] = true
				}
			}
		}
		for _, role := range s.NodeRoles {
			if !resources["role/"+role] {
				t.Errorf("role %s may not be passed", role)
			}
		}
		for _, parameter := range s.SSMParameters {
			if !resources["parameter"+parameter] {
				t.Errorf("parameter %s may not be read", parameter)
			}
		}
		for _, r := range setup.Rules {
			if names[r.Name] || len(r.Name) > 64 {
				t.Errorf("rule %q", r.Name)
			}
			names[r.Name] = true
		}
		again, err := iam.Generate(s)
		if diff := cmp.Diff(setup, again); diff != "" || err != nil {
			t.Errorf("a second time (%v):\n%s", err, diff)
		}
	})
}

// TestFiles: AWN-341. Every document is among the files, as JSON, the queue and the rules that fill it too.
func TestFiles(t *testing.T) {
	var got []string
	for _, f := range generate(t, settings()).Files() {
		got = append(got, f.Name)
		if !json.Valid(f.Data) {
			t.Errorf("%s is no JSON", f.Name)
		}
	}
	want := []string{
		"demo-nodes.json", "demo-instance-profiles.json", "demo-discovery.json", "demo-interruption.json", "controller-role-trust.json", "node-role-trust.json", "node-role-mappings.json", "queue-attributes.json",
		"rule-demo-scheduled-change.json", "rule-demo-spot-interruption.json", "rule-demo-rebalance.json", "rule-demo-state-change.json", "rule-demo-reservation-interruption.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

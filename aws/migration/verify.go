package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/iam"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
)

// Input contains the objects of a cluster that Karpenter manages, and known facts about the cluster. Verify does not change it.
type Input struct {
	// Cluster that the nodes join. Name and Region are required. If another value that user data needs is missing, launch templates are not
	// compared.
	Cluster launchtemplate.Cluster
	// NodeClasses, NodePools and NodeClaims of the cluster. Nil means none.
	NodeClasses []*awsv1.EC2NodeClass
	NodePools   []*v1.NodePool
	NodeClaims  []*v1.NodeClaim
	// Types are the instance types of the region; nil means the embedded catalogue, which is for one region only.
	Types *catalog.Catalog
	// InstanceTypes are the other settings of instance types with which drawknife will run.
	InstanceTypes instancetype.Options
	// KarpenterTypes are the names of the instance types that Karpenter offers, as its metrics list them. Nil means the types that EC2
	// describes and that Karpenter's documentation supports.
	KarpenterTypes []string
	// Policies are the controller's policies, which iam.Generate makes. If nil, permissions are not checked.
	Policies []iam.Policy
	// ControllerRole is the ARN of the role whose permissions are simulated. If empty, permissions are not checked.
	ControllerRole string
}

// Clients are the AWS clients of Verify; all calls only read.
type Clients struct {
	// EC2 lists launch templates and instances. Required.
	EC2 sdk.EC2API
	// Migration reads launch templates and user data. Required.
	Migration sdk.EC2MigrationAPI
	// IAM simulates permissions; nil means that they are not checked.
	IAM sdk.IAMMigrationAPI
}

// verifier is the state of one run of Verify.
type verifier struct {
	Input
	api    Clients
	types  *catalog.Catalog
	report Report
	// classes by name.
	classes map[string]*awsv1.EC2NodeClass
	// lists has the instance types of each class, by class name; nil for classes whose settings are invalid. Prices do not matter here, so
	// the types have no offerings.
	lists map[string][]instancetype.Shape
}

// Verify makes all checks. If a check can't read something, Report.NotChecked says so. Verify returns an error only if an argument is
// invalid or the context ends.
func Verify(ctx context.Context, in Input, api Clients) (Report, error) {
	switch {
	case api.EC2 == nil || api.Migration == nil:
		return Report{}, option.Missing("migration.Verify", "an EC2 client")
	case in.Cluster.Name == "" || in.Cluster.Region == "":
		return Report{}, option.Missing("migration.Verify", "the cluster's name or region")
	}
	v := &verifier{Input: in, api: api, types: in.Types, classes: map[string]*awsv1.EC2NodeClass{}, lists: map[string][]instancetype.Shape{}}
	v.report = Report{
		Cluster: in.Cluster.Name, Region: in.Cluster.Region, Findings: []Finding{}, NotChecked: []Skipped{},
		Checked: Checked{NodeClasses: len(in.NodeClasses), NodePools: len(in.NodePools), NodeClaims: len(in.NodeClaims)},
	}
	if v.types == nil {
		builtIn, err := catalog.Embedded()
		if err != nil {
			return Report{}, fmt.Errorf("verifying the migration of cluster %q: %w", in.Cluster.Name, err)
		}
		v.types = builtIn
	}
	v.checkObjects()
	v.checkUserData()
	for _, check := range []func(context.Context){v.checkLaunchTemplates, v.checkIAM, v.checkDrift} {
		check(ctx)
		if err := ctx.Err(); err != nil {
			return Report{}, fmt.Errorf("verifying the migration of cluster %q: %w", in.Cluster.Name, err)
		}
	}
	v.checkInstanceTypes()
	v.report.sort()
	return v.report, nil
}

// checkObjects validates classes and pools, and reads the instance types of each class.
func (v *verifier) checkObjects() {
	for _, class := range v.NodeClasses {
		v.classes[class.Name] = class
		object := classObject(class.Name)
		for _, fault := range class.Validate() {
			v.report.found(SeverityError, CheckObjects, object, fault.Field, "change the field before the move", "drawknife refuses it: %s", fault.ErrorBody())
		}
		list, err := v.shapes(class, v.InstanceTypes)
		if err != nil {
			var setting *instancetype.SettingError
			if errors.As(err, &setting) {
				v.report.found(SeverityError, CheckObjects, object, "", "change the setting before the move", "no instance type can be computed: %v", err)
			}
			continue
		}
		v.lists[class.Name] = list
	}
	for _, pool := range v.NodePools {
		object := poolObject(pool.Name)
		for _, fault := range pool.Validate() {
			v.report.found(SeverityError, CheckObjects, object, fault.Field, "change the field before the move", "drawknife refuses it: %s", fault.ErrorBody())
		}
		ref := pool.Spec.Template.Spec.NodeClassRef
		switch {
		case ref.Group != awsv1.Group || ref.Kind != "EC2NodeClass":
			v.report.found(SeverityError, CheckObjects, object, "spec.template.spec.nodeClassRef", "leave the pool to the controller of its kind, or have it name an EC2NodeClass",
				"names a %s of %s, from which drawknife launches nothing", ref.Kind, ref.Group)
		case v.classes[ref.Name] == nil:
			v.report.found(SeverityError, CheckObjects, object, "spec.template.spec.nodeClassRef", "create the class, or have the pool name another", "names EC2NodeClass %q, which does not exist", ref.Name)
		}
	}
}

// poolsOf returns the pools of a class, sorted by name.
func (v *verifier) poolsOf(class string) []*v1.NodePool {
	var out []*v1.NodePool
	for _, pool := range v.NodePools {
		if ref := pool.Spec.Template.Spec.NodeClassRef; ref.Group == awsv1.Group && ref.Name == class {
			out = append(out, pool)
		}
	}
	slices.SortFunc(out, func(a, b *v1.NodePool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func classObject(name string) string { return "EC2NodeClass/" + name }
func poolObject(name string) string  { return "NodePool/" + name }
func claimObject(name string) string { return "NodeClaim/" + name }

package amis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

func ptr[T any](v T) *T { return &v }

func start() time.Time { return time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC) }

// world is an account with parameters and images that can be asked by id, name, owner and tag.
type world struct {
	*Resolver
	now        time.Time
	parameters map[string]string
	fails      map[string]error
	images     []ec2types.Image
	// asked are the questions in order: "owners filters".
	asked []string
	// read are the parameters in the order in which they were read.
	read []string
}

func newWorld(t *testing.T, images ...ec2types.Image) *world {
	t.Helper()
	ctrl := gomock.NewController(t)
	api, parameters := mock.NewMockEC2API(ctrl), mock.NewMockSSMAPI(ctrl)
	w := &world{now: start(), parameters: map[string]string{}, fails: map[string]error{}, images: images}
	api.EXPECT().DescribeImages(gomock.Any(), gomock.Any()).DoAndReturn(w.describe).AnyTimes()
	parameters.EXPECT().GetParameter(gomock.Any(), gomock.Any()).DoAndReturn(w.get).AnyTimes()
	var err error
	if w.Resolver, err = New(api, parameters, Options{Now: func() time.Time { return w.now }}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) get(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	w.read = append(w.read, *in.Name)
	if err := w.fails[*in.Name]; err != nil {
		return nil, err
	}
	value, ok := w.parameters[*in.Name]
	if !ok {
		return nil, &smithy.GenericAPIError{Code: "ParameterNotFound"}
	}
	return &ssm.GetParameterOutput{Parameter: &ssmtypes.Parameter{Value: &value}}, nil
}

// describe answers in pages of two.
func (w *world) describe(_ context.Context, in *ec2.DescribeImagesInput, _ ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	question := strings.Join(in.Owners, ",")
	var found []ec2types.Image
	for _, image := range w.images {
		if matches(image, in.Filters) {
			found = append(found, image)
		}
	}
	for _, f := range in.Filters {
		question += fmt.Sprintf(" %s=%s", *f.Name, strings.Join(f.Values, ","))
	}
	first := 0
	if in.NextToken != nil {
		fmt.Sscan(*in.NextToken, &first)
	} else {
		w.asked = append(w.asked, question)
	}
	if !*in.IncludeDeprecated || *in.MaxResults != 1000 {
		return nil, errors.New("deprecated images must be included, a thousand at once")
	}
	out := &ec2.DescribeImagesOutput{Images: found[min(first, len(found)):min(first+2, len(found))]}
	if first+2 < len(found) {
		out.NextToken = ptr(fmt.Sprint(first + 2))
	}
	return out, w.fails["DescribeImages"]
}

func matches(image ec2types.Image, filters []ec2types.Filter) bool {
	for _, f := range filters {
		ok := false
		for _, value := range f.Values {
			switch {
			case *f.Name == "state":
				ok = value == "available"
			case *f.Name == "image-id":
				ok = ok || *image.ImageId == value
			case *f.Name == "name":
				ok = strings.HasPrefix(*image.Name, strings.TrimSuffix(value, "*"))
			case *f.Name == "tag-key":
				for _, tag := range image.Tags {
					ok = ok || *tag.Key == value
				}
			default:
				for _, tag := range image.Tags {
					ok = ok || "tag:"+*tag.Key == *f.Name && *tag.Value == value
				}
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// img is an image as EC2 describes it; day is of creation, counted from the start, and deprecated a day too, 0 for never.
func img(id, name string, arch ec2types.ArchitectureValues, day, deprecated int) ec2types.Image {
	image := ec2types.Image{
		ImageId: &id, Name: &name, Architecture: arch,
		CreationDate: ptr(start().AddDate(0, 0, day).Format("2006-01-02T15:04:05.000Z")),
	}
	if deprecated != 0 {
		image.DeprecationTime = ptr(start().AddDate(0, 0, deprecated).Format("2006-01-02T15:04:05.000Z"))
	}
	return image
}

const amd64, arm64 = ec2types.ArchitectureValuesX8664, ec2types.ArchitectureValuesArm64

// text writes images as "id requirements", deprecated ones with a !.
func text(amis []awsv1.AMI) []string {
	var list []string
	for _, ami := range amis {
		line := ami.ID
		if ami.Deprecated {
			line += "!"
		}
		for _, r := range ami.Requirements {
			key := r.Key[strings.LastIndex(r.Key, "/")+1:]
			switch r.Operator {
			case corev1.NodeSelectorOpIn:
				line += " " + key + "=" + strings.Join(r.Values, ",")
			case corev1.NodeSelectorOpExists:
				line += " " + key
			default:
				line += " !" + key
			}
		}
		list = append(list, line)
	}
	return list
}

// AWN-119, AWN-227, AWN-361: the parameters of each alias, of the newest release and of a pinned one.
func TestParameters(t *testing.T) {
	const eks, rocket = "/aws/service/eks/optimized-ami/1.32/", "/aws/service/bottlerocket/aws-k8s-1.32"
	for alias, want := range map[string][]string{
		"al2@latest": {
			eks + "amazon-linux-2/recommended/image_id standard", eks + "amazon-linux-2-arm64/recommended/image_id standard",
			eks + "amazon-linux-2-gpu/recommended/image_id neuron nvidia",
		},
		"al2@v1": {
			eks + "amazon-linux-2/amazon-eks-node-1.32-v1/image_id standard", eks + "amazon-linux-2-arm64/amazon-eks-arm64-node-1.32-v1/image_id standard",
			eks + "amazon-linux-2-gpu/amazon-eks-gpu-node-1.32-v1/image_id neuron nvidia",
		},
		"al2023@latest": {
			eks + "amazon-linux-2023/x86_64/standard/recommended/image_id standard", eks + "amazon-linux-2023/x86_64/nvidia/recommended/image_id nvidia",
			eks + "amazon-linux-2023/x86_64/neuron/recommended/image_id neuron", eks + "amazon-linux-2023/arm64/standard/recommended/image_id standard",
			eks + "amazon-linux-2023/arm64/nvidia/recommended/image_id nvidia",
		},
		"al2023@v20250101": {
			eks + "amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.32-v20250101/image_id standard",
			eks + "amazon-linux-2023/x86_64/nvidia/amazon-eks-node-al2023-x86_64-nvidia-1.32-v20250101/image_id nvidia",
			eks + "amazon-linux-2023/x86_64/neuron/amazon-eks-node-al2023-x86_64-neuron-1.32-v20250101/image_id neuron",
			eks + "amazon-linux-2023/arm64/standard/amazon-eks-node-al2023-arm64-standard-1.32-v20250101/image_id standard",
			eks + "amazon-linux-2023/arm64/nvidia/amazon-eks-node-al2023-arm64-nvidia-1.32-v20250101/image_id nvidia",
		},
		"bottlerocket@latest": {
			rocket + "/x86_64/latest/image_id standard neuron", rocket + "/arm64/latest/image_id standard",
			rocket + "-nvidia/x86_64/latest/image_id nvidia", rocket + "-nvidia/arm64/latest/image_id nvidia",
		},
		"bottlerocket@v1.20.4": {
			rocket + "/x86_64/1.20.4/image_id standard neuron", rocket + "/arm64/1.20.4/image_id standard",
			rocket + "-nvidia/x86_64/1.20.4/image_id nvidia", rocket + "-nvidia/arm64/1.20.4/image_id nvidia",
		},
		"windows2019@latest": {"/aws/service/ami-windows-latest/Windows_Server-2019-English-Core-EKS_Optimized-1.32/image_id "},
		"windows2022@latest": {"/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.32/image_id "},
	} {
		parsed, err := awsv1.ParseAlias(alias)
		if err != nil {
			t.Fatal(err)
		}
		parameters, err := parametersOf(parsed, "1.32")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range parameters {
			line := p.name
			for _, v := range p.variants {
				line += " " + string(v)
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", alias, diff)
		}
	}
}

// AWN-081, AWN-120, AWN-195, AWN-227, AWN-361: which versions of Kubernetes an alias has images for.
func TestVersionsOfAnAlias(t *testing.T) {
	for _, tc := range []struct {
		alias, kubernetes string
		unsupported       bool
	}{
		{"al2@latest", "1.32", false}, {"al2@latest", "1.33", true}, {"al2023@latest", "1.36", false},
		{"windows2025@latest", "1.34", true}, {"windows2025@latest", "1.35", false}, {"windows2022@latest", "1.30", false},
	} {
		w := newWorld(t)
		_, err := w.Resolve(t.Context(), []awsv1.AMISelectorTerm{{Alias: tc.alias}}, tc.kubernetes)
		var unsupported *UnsupportedAliasError
		if errors.As(err, &unsupported) != tc.unsupported || !tc.unsupported && err != nil {
			t.Errorf("%s on %s: %v", tc.alias, tc.kubernetes, err)
		}
	}
	for _, version := range []string{"", "1", "v1.33", "1.33+", "1.033", "1.-1", "2.1"} {
		if _, err := newWorld(t).Resolve(t.Context(), []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}, version); err == nil {
			t.Errorf("%q is a version", version)
		}
	}
	if _, err := newWorld(t).Resolve(t.Context(), []awsv1.AMISelectorTerm{{Alias: "al2023"}}, "1.33"); err == nil || !strings.Contains(err.Error(), "amiSelectorTerms[0]") {
		t.Errorf("error is %v", err)
	}
}

// AWN-073, AWN-119, AWN-121 to AWN-126, AWN-134, AWN-337: an alias resolves as far as its parameters exist, each image
// for what it is made for, and the outcome of each parameter is told.
func TestAlias(t *testing.T) {
	const eks = "/aws/service/eks/optimized-ami/1.32/amazon-linux-2"
	w := newWorld(t, img("ami-x86", "x86", amd64, 1, 0), img("ami-arm", "arm", arm64, 2, 0), img("ami-gpu", "gpu", amd64, 1, -1))
	w.parameters = map[string]string{eks + "/recommended/image_id": "ami-x86", eks + "-arm64/recommended/image_id": "ami-arm", eks + "-gpu/recommended/image_id": "ami-gpu"}
	terms := []awsv1.AMISelectorTerm{{Alias: "al2@latest"}}
	result, err := w.Resolve(t.Context(), terms, "1.32")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ami-arm arch=arm64 !instance-gpu-count !instance-accelerator-count",
		"ami-gpu! arch=amd64 instance-accelerator-count",
		"ami-gpu! arch=amd64 instance-gpu-count",
		"ami-x86 arch=amd64 !instance-gpu-count !instance-accelerator-count",
	}
	if diff := cmp.Diff(want, text(result.AMIs)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{" state=available image-id=ami-arm,ami-gpu,ami-x86"}, w.asked); diff != "" {
		t.Error(diff)
	}

	// The same id twice adds up (AWN-126), a missing parameter is told, an image that is gone as well.
	w = newWorld(t, img("ami-x86", "x86", amd64, 1, 0))
	w.parameters = map[string]string{eks + "/recommended/image_id": "ami-x86", eks + "-gpu/recommended/image_id": "ami-x86"}
	if result, err = w.Resolve(t.Context(), terms, "1.32"); err != nil {
		t.Fatal(err)
	}
	if len(result.AMIs) != 3 {
		t.Errorf("images are %v", text(result.AMIs))
	}
	if o := result.Outcomes; len(o) != 3 || o[0].Images != 1 || o[0].Problem != "" || !strings.Contains(o[1].Problem, "no such parameter") || o[2].Images != 1 {
		t.Errorf("outcomes are %+v", o)
	}
	w = newWorld(t)
	w.parameters = map[string]string{eks + "/recommended/image_id": "ami-gone", eks + "-gpu/recommended/image_id": "text"}
	if result, err = w.Resolve(t.Context(), terms, "1.32"); err != nil || len(result.AMIs) != 0 ||
		!strings.Contains(result.Outcomes[0].Problem, "not available") || !strings.Contains(result.Outcomes[2].Problem, "does not contain") {
		t.Errorf("%+v, %v", result, err)
	}
	// Nothing is published: that is no error, and EC2 isn't asked.
	w = newWorld(t)
	if result, err = w.Resolve(t.Context(), terms, "1.32"); err != nil || len(result.AMIs) != 0 || len(result.Outcomes) != 3 || len(w.asked) != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	// What can't be read is not what does not exist.
	w.fails[eks+"-arm64/recommended/image_id"] = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no"}
	if _, err = w.Resolve(t.Context(), terms, "1.32"); !errors.Is(err, cloudprovider.Unauthorized) || !strings.Contains(err.Error(), "amazon-linux-2-arm64") {
		t.Errorf("error is %v", err)
	}
}

// AWN-123, AWN-124: Windows.
func TestWindowsAlias(t *testing.T) {
	w := newWorld(t, img("ami-win", "win", amd64, 1, 0))
	w.parameters["/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.33/image_id"] = "ami-win"
	result, err := w.Resolve(t.Context(), []awsv1.AMISelectorTerm{{Alias: "windows2022@latest"}}, "1.33")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ami-win os=windows arch=amd64 windows-build=10.0.20348"}, text(result.AMIs)); diff != "" {
		t.Error(diff)
	}
}

// API-128, AWN-124, AWN-127 to AWN-131, AWN-337: terms without an alias, their questions, and what became of each.
func TestTerms(t *testing.T) {
	tagged := img("ami-tag", "t", arm64, 3, 0)
	tagged.Tags = []ec2types.Tag{{Key: ptr("team"), Value: ptr("a")}, {Key: ptr("env"), Value: ptr("x")}}
	w := newWorld(t, img("ami-1", "one", amd64, 1, 0), img("ami-2", "my-image-1", amd64, 2, 0), img("ami-3", "my-image-2", "i386", 9, 0), tagged, img("ami-p", "p", amd64, 5, 0))
	w.parameters = map[string]string{"/mine": "ami-p", "/bad": "x"}
	result, err := w.Resolve(t.Context(), []awsv1.AMISelectorTerm{
		{ID: "ami-1"}, {Name: "my-image-*"}, {Name: "my-image-*", Owner: "123456789012"}, {Tags: map[string]string{"team": "a", "env": "*"}},
		{SSMParameter: "/mine"}, {SSMParameter: "/bad"}, {SSMParameter: "/none"}, {ID: "ami-none"}, {ID: "ami-1"},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"amazon,self state=available name=my-image-*",
		"123456789012 state=available name=my-image-*",
		" state=available tag-key=env tag:team=a",
		" state=available image-id=ami-1,ami-none,ami-p",
	}, w.asked); diff != "" {
		t.Error(diff)
	}
	// The newest of each architecture.
	if diff := cmp.Diff([]string{"ami-p arch=amd64", "ami-tag arch=arm64"}, text(result.AMIs)); diff != "" {
		t.Error(diff)
	}
	var images []int
	for i, o := range result.Outcomes {
		images = append(images, o.Images)
		if (o.Problem == "") != (o.Images > 0) || o.Term != i {
			t.Errorf("outcome %+v", o)
		}
	}
	if diff := cmp.Diff([]int{1, 1, 1, 1, 1, 0, 0, 0, 1}, images); diff != "" {
		t.Error(diff)
	}

	w.fails["/broken"] = &smithy.GenericAPIError{Code: "ThrottlingException"}
	if _, err := w.Resolve(t.Context(), []awsv1.AMISelectorTerm{{ID: "ami-1"}, {SSMParameter: "/broken"}}, ""); !errors.Is(err, cloudprovider.Throttled) || !strings.Contains(err.Error(), "amiSelectorTerms[1]") {
		t.Errorf("error is %v", err)
	}
	w.fails["DescribeImages"] = &smithy.GenericAPIError{Code: "UnauthorizedOperation"}
	for _, term := range []awsv1.AMISelectorTerm{{ID: "ami-9"}, {Name: "x"}} {
		if _, err := w.Resolve(t.Context(), []awsv1.AMISelectorTerm{term}, ""); !errors.Is(err, cloudprovider.Unauthorized) {
			t.Errorf("error is %v", err)
		}
	}
}

// AWN-132 to AWN-134, AWN-361: which image wins, and that EC2's order does not matter.
func TestRanking(t *testing.T) {
	noDate := img("ami-nodate", "z", amd64, 0, 0)
	noDate.CreationDate = nil
	for _, tc := range []struct {
		name   string
		images []ec2types.Image
		want   []string
	}{
		{"the newer", []ec2types.Image{img("ami-a", "a", amd64, 1, 0), img("ami-b", "b", amd64, 2, 0)}, []string{"ami-b arch=amd64"}},
		{"an older live one beats a newer deprecated one", []ec2types.Image{img("ami-a", "a", amd64, 1, 0), img("ami-b", "b", amd64, 2, -1)}, []string{"ami-a arch=amd64"}},
		{"the newer of two deprecated ones", []ec2types.Image{img("ami-a", "a", amd64, 1, -1), img("ami-b", "b", amd64, 2, -2)}, []string{"ami-b! arch=amd64"}},
		{"deprecated later is not deprecated", []ec2types.Image{img("ami-a", "a", amd64, 1, 0), img("ami-b", "b", amd64, 2, 1)}, []string{"ami-b arch=amd64"}},
		{"the greater name", []ec2types.Image{img("ami-a", "b", amd64, 1, 0), img("ami-b", "a", amd64, 1, 0)}, []string{"ami-a arch=amd64"}},
		{"the lesser id", []ec2types.Image{img("ami-a", "a", amd64, 1, 0), img("ami-b", "a", amd64, 1, 0)}, []string{"ami-a arch=amd64"}},
		{"no date is the oldest", []ec2types.Image{noDate, img("ami-a", "a", amd64, -9999, 0)}, []string{"ami-a arch=amd64"}},
		{"the order is by age alone", []ec2types.Image{img("ami-a", "a", amd64, 1, 0), img("ami-b", "b", arm64, 2, -1)}, []string{"ami-b! arch=arm64", "ami-a arch=amd64"}},
		{"of one age by id", []ec2types.Image{img("ami-b", "a", amd64, 1, 0), img("ami-a", "b", arm64, 1, 0)}, []string{"ami-a arch=arm64", "ami-b arch=amd64"}},
	} {
		for range 2 {
			w := newWorld(t, tc.images...)
			result, err := w.Resolve(t.Context(), []awsv1.AMISelectorTerm{{Name: "*"}}, "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, text(result.AMIs)); diff != "" {
				t.Errorf("%s: %s", tc.name, diff)
			}
			tc.images[0], tc.images[1] = tc.images[1], tc.images[0]
		}
	}
}

// AWN-133: an image turns deprecated while it is remembered.
func TestDeprecationIsJudgedNow(t *testing.T) {
	w := newWorld(t, img("ami-a", "a", amd64, 1, 0))
	w.images[0].DeprecationTime = ptr(start().Add(30 * time.Second).Format(time.RFC3339))
	for _, want := range []string{"ami-a arch=amd64", "ami-a! arch=amd64"} {
		result, err := w.Resolve(t.Context(), []awsv1.AMISelectorTerm{{ID: "ami-a"}}, "")
		if err != nil || len(result.AMIs) != 1 || text(result.AMIs)[0] != want {
			t.Errorf("%v, %v, want %s", text(result.AMIs), err, want)
		}
		w.now = w.now.Add(30 * time.Second)
	}
	if len(w.asked) != 1 {
		t.Errorf("asked %q", w.asked)
	}
}

// AWN-136, AWN-137, AWN-355, AWN-361: how long answers are used, and that questions which look alike are told apart.
func TestMemory(t *testing.T) {
	w := newWorld(t, img("ami-a", "a", amd64, 1, 0))
	w.parameters = map[string]string{"/mine": "ami-a", "/aws/service/x": "ami-a"}
	terms := []awsv1.AMISelectorTerm{{SSMParameter: "/mine"}, {SSMParameter: "/aws/service/x"}}
	for _, tc := range []struct {
		after            time.Duration
		reads, questions int
	}{{0, 2, 1}, {59 * time.Second, 2, 1}, {time.Minute, 2, 2}, {5 * time.Minute, 3, 3}, {24 * time.Hour, 5, 4}} {
		w.now = start().Add(tc.after)
		if _, err := w.Resolve(t.Context(), terms, ""); err != nil {
			t.Fatal(err)
		}
		if len(w.read) != tc.reads || len(w.asked) != tc.questions {
			t.Errorf("after %s: read %q, asked %q", tc.after, w.read, w.asked)
		}
	}
	w = newWorld(t)
	for _, tags := range []map[string]string{{"a": "b,c"}, {"a": "b", "c": ""}, {"a,b": "c"}, {"a": "*"}} {
		if _, err := w.Resolve(t.Context(), []awsv1.AMISelectorTerm{{Tags: tags}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.asked) != 4 {
		t.Errorf("asked %q", w.asked)
	}
}

// AWN-137: a release that is withdrawn is left as soon as it is looked at again; pinned ones and the user's are not ours
// to judge.
func TestRecheck(t *testing.T) {
	const follows, pinned = "/aws/service/bottlerocket/aws-k8s-1.33/x86_64/latest/image_id", "/aws/service/bottlerocket/aws-k8s-1.33/x86_64/1.2.3/image_id"
	w := newWorld(t, img("ami-good", "g", amd64, 1, 9), img("ami-bad", "b", amd64, 2, -1))
	resolve := func() {
		t.Helper()
		if _, err := w.Resolve(t.Context(), []awsv1.AMISelectorTerm{{SSMParameter: follows}, {SSMParameter: pinned}, {SSMParameter: "/mine"}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	recheck := func(want int) {
		t.Helper()
		if n, err := w.Recheck(t.Context()); err != nil || n != want {
			t.Errorf("forgot %d, %v; want %d", n, err, want)
		}
	}
	recheck(0)
	w.parameters = map[string]string{follows: "ami-good", pinned: "ami-bad", "/mine": "ami-bad"}
	resolve()
	recheck(0)
	w.images[0].DeprecationTime = ptr(start().Format(time.RFC3339))
	recheck(1)
	w.read, w.parameters[follows] = nil, "ami-new"
	resolve()
	if diff := cmp.Diff([]string{follows}, w.read); diff != "" {
		t.Error(diff)
	}
	recheck(1) // ami-new is gone
	resolve()
	w.fails["DescribeImages"] = errors.New("broken")
	if _, err := w.Recheck(t.Context()); err == nil {
		t.Error("no error")
	}
}

func TestOptions(t *testing.T) {
	ctrl := gomock.NewController(t)
	api, parameters := mock.NewMockEC2API(ctrl), mock.NewMockSSMAPI(ctrl)
	if _, err := New(nil, parameters, Options{}); err == nil {
		t.Error("no EC2 client is taken")
	}
	if _, err := New(api, nil, Options{}); err == nil {
		t.Error("no SSM client is taken")
	}
	if _, err := New(api, parameters, Options{Lifetime: time.Second}); err == nil {
		t.Error("a second is taken")
	}
}

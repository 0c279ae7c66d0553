package simulate

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/commands/simulate/internal/live"
	"github.com/drawknife/drawknife/internal/moto"
)

// These tests run the whole way of an installed program: one without the AWS SDK runs the one with it that is next to it, unless
// they are run with -tags aws. They plan with what moto, an EC2 that nobody here wrote, says of us-east-1, through the SDK's own settings. It
// differs from AWS in that it has no price list, and in that spot prices are all alike.

var server moto.Server

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// awsAt makes the environment that of a user whose AWS is at an endpoint, with nothing of the real user's.
func awsAt(t *testing.T, endpoint string) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	if !linksAWS {
		buildSibling(t)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": empty, "AWS_SHARED_CREDENTIALS_FILE": empty, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
	} {
		t.Setenv(name, value)
	}
}

// buildSibling puts the program with the AWS SDK next to the one that is tested.
func buildSibling(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sibling := filepath.Join(filepath.Dir(self), siblingName())
	if output, err := exec.Command("go", "build", "-tags", "aws", "-o", sibling, "../../examples/simulate").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	t.Cleanup(func() { _ = os.Remove(sibling) })
}

// A program without the AWS SDK runs nothing but the one next to it: it builds nothing, and looks nowhere else.
func TestLiveRunsWhatIsNextToIt(t *testing.T) {
	if linksAWS {
		t.Skip("has the AWS SDK")
	}
	fakes, marker := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	script := "#!/bin/sh\ntouch " + marker + "\n"
	for _, name := range []string{"go", siblingName()} {
		if err := os.WriteFile(filepath.Join(fakes, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", fakes)
	t.Setenv("XDG_CACHE_HOME", fakes)
	got := simulate(t, "", "--provider", "aws")
	if got.code != exitInput || !strings.Contains(got.stderr, "go build -tags aws -o") {
		t.Errorf("exit status %d:\n%s", got.code, got.stderr)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program on the search path was run")
	}
	if runtime.GOOS == "windows" {
		return // scripts have no first line there
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sibling := filepath.Join(filepath.Dir(self), siblingName())
	if err := os.WriteFile(sibling, []byte("#!/bin/sh\necho \"$@\"\nexit 7\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(sibling)
	if got := simulate(t, "", "--provider", "aws", "x.yaml"); got.code != 7 || got.stdout != "--provider aws x.yaml\n" {
		t.Errorf("exit status %d, standard output %q, standard error %q", got.code, got.stdout, got.stderr)
	}
	// One that bears that name without having the SDK does not run itself.
	if err := os.Remove(sibling); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(self, sibling); err != nil {
		t.Fatal(err)
	}
	if got := simulate(t, "", "--provider", "aws"); got.code != exitInput || !strings.Contains(got.stderr, "though its name is") {
		t.Errorf("exit status %d:\n%s", got.code, got.stderr)
	}
}

// startMoto is moto with a price list of two types.
func startMoto(t *testing.T) *moto.Cloud {
	t.Helper()
	cloud := server.Start(t)
	awsAt(t, cloud.URL())
	cloud.Handle("GetProducts", func(moto.Call, func(moto.Call) moto.Answer) moto.Answer {
		return moto.JSON(`{"FormatVersion": "aws_v1", "PriceList": [` + product("m5.large", "0.0123") + `, ` + product("m5.xlarge", "0.5") + `]}`)
	})
	return cloud
}

// product is an entry of the price list: JSON in a JSON string.
func product(name, usd string) string {
	return `"{\"product\": {\"attributes\": {\"instanceType\": \"` + name + `\"}}, \"terms\": {\"OnDemand\": {\"a\": ` +
		`{\"priceDimensions\": {\"b\": {\"pricePerUnit\": {\"USD\": \"` + usd + `\"}}}}}}}"`
}

// codes of the plan's notes that are about the market.
func codes(d document) []string {
	var found []string
	for _, n := range d.Notes {
		if slices.Contains([]string{live.NoteMarket, live.NoteSkippedTypes, live.NoteZoneIDs, live.NoteOnDemandPrices, live.NoteUnpriced, live.NoteSpotPrices, live.NoteCurrency}, n.Code) {
			found = append(found, n.Code)
		}
	}
	return found
}

const onDemandPool = "testdata/ondemand-nodepool.yaml"

// AWI-004, AWI-107: pods are planned on nodes that the region has, at prices of the day; the plan can be replayed
// without AWS. With prices refused, those that are built in count, and notes say so.
func TestMotoLiveCatalog(t *testing.T) {
	cloud := startMoto(t)
	saved := filepath.Join(t.TempDir(), "saved.yaml")
	args := []string{"--provider", "aws", "--region", "us-east-1", "-o", "json", "testdata/deployment.yaml", onDemandPool}

	got := simulate(t, "", append(slices.Clone(args), "--save-snapshot", saved)...)
	if got.code != exitPlaced {
		t.Fatalf("exit status %d:\n%s", got.code, got.stderr)
	}
	d := got.plan(t)
	checkDocument(t, d)
	for _, node := range d.Nodes {
		if node.InstanceType != "m5.large" || node.Price != 0.0123 || !strings.HasPrefix(node.Zone, "us-east-1") {
			t.Errorf("%s in %s costs %v, want m5.large at the 0.0123 of the price list", node.InstanceType, node.Zone, node.Price)
		}
	}
	if want := []string{live.NoteMarket, live.NoteOnDemandPrices, live.NoteUnpriced}; !slices.Equal(codes(d), want) { // the list is short
		t.Errorf("notes are %v, want %v", d.Notes, want)
	}

	calls := cloud.Calls("")
	replayed := simulate(t, "", "--snapshot", saved, "-o", "json").plan(t)
	if replayed.Summary.HourlyCost != d.Summary.HourlyCost || cloud.Calls("") != calls {
		t.Errorf("a replay costs %v, want %v and no calls", replayed.Summary.HourlyCost, d.Summary.HourlyCost)
	}

	t.Setenv("AWS_REGION", "us-east-1")
	cloud.Handle("GetProducts", func(moto.Call, func(moto.Call) moto.Answer) moto.Answer {
		refusal := moto.JSON(`{"__type": "AccessDeniedException", "Message": "User is not authorized to perform: pricing:GetProducts"}`)
		refusal.Status = http.StatusBadRequest
		return refusal
	})
	cloud.Fail("DescribeSpotPriceHistory", 9, http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation.")
	got = simulate(t, "", "--provider", "aws", "-o", "json", "testdata/deployment.yaml")
	if got.code != exitPlaced {
		t.Fatalf("exit status %d:\n%s", got.code, got.stderr)
	}
	d = got.plan(t)
	checkDocument(t, d)
	if want := []string{live.NoteMarket, live.NoteOnDemandPrices, live.NoteUnpriced, live.NoteSpotPrices}; !slices.Equal(codes(d), want) {
		t.Errorf("notes are %v, want %v", d.Notes, want)
	}
	for _, want := range []string{"pricing:GetProducts", "ec2:DescribeSpotPriceHistory"} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("standard error does not name %s:\n%s", want, got.stderr)
		}
	}
	builtIn := simulate(t, "", "-o", "json", "testdata/deployment.yaml").plan(t)
	if low, high := 0.5*builtIn.Summary.HourlyCost, 2*builtIn.Summary.HourlyCost; d.Summary.HourlyCost < low || d.Summary.HourlyCost > high {
		t.Errorf("with built-in prices the plan costs %v, without AWS %v", d.Summary.HourlyCost, builtIn.Summary.HourlyCost)
	}

	cloud.Fail("DescribeInstanceTypes", 9, http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation.")
	refused(t, []string{"--provider", "aws"}, "us-east-1", "not authorised", "ec2:DescribeInstanceTypes", "policy")
}

// refused makes sure that AWS does not answer a command line, and that standard error has all texts.
func refused(t *testing.T, args []string, texts ...string) {
	t.Helper()
	got := simulate(t, "", args...)
	if got.code != exitCloud || got.stdout != "" {
		t.Errorf("exit status %d, standard output %q", got.code, got.stdout)
	}
	for _, text := range texts {
		if !strings.Contains(got.stderr, text) {
			t.Errorf("standard error lacks %q:\n%s", text, got.stderr)
		}
	}
}

// Without credentials or a region the user is told what to give.
func TestLiveNeedsCredentialsAndRegion(t *testing.T) {
	if testing.Short() && !linksAWS {
		t.Skip("builds a program; not with -short, but with -tags aws")
	}
	awsAt(t, "http://127.0.0.1:1")
	refused(t, []string{"--provider", "aws"}, "no AWS region", "give --region")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	refused(t, []string{"--provider", "aws", "--region", "eu-west-1"}, "eu-west-1", "there are no usable credentials", "AWS_PROFILE", "AWS_ACCESS_KEY_ID")
	refused(t, []string{"--provider", "aws", "--region", "eu west"}, `region "eu west"`, "look at --region")
}

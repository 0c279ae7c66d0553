package gate

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// brokenReport is a report in which two rules are broken, one is only a warning and one is kept.
func brokenReport() Report {
	return Evaluate(&Policy{File: "ci/budget.yaml", Name: "shop", Rules: []PolicyRule{
		{Name: "addedCost", Level: LevelError, Limits: map[string]float64{"maxPerMonth": 100, "maxPercent": 1}, Line: 4},
		{Name: "unplacedPods", Level: LevelError, Limits: map[string]float64{"max": 0}, Line: 5},
		{Name: "drift", Level: LevelWarning, Limits: map[string]float64{"maxNodes": 1}, Line: 6},
		{Name: "evictions", Level: LevelError, Limits: map[string]float64{"maxPods": 100}, Line: 7},
	}}, change())
}

func TestSARIF(t *testing.T) {
	var index Index
	index.Add("deploy/web app.yaml", []byte("# web\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n"))
	var out bytes.Buffer
	report := brokenReport()
	if err := report.WriteSARIF(&out, index.Locate); err != nil {
		t.Fatal(err)
	}
	var log any
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if faults := checkSARIF(log); len(faults) > 0 {
		t.Errorf("%s\n%s", strings.Join(faults, "\n"), out.String())
	}
	var got sarifLog
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range got.Runs[0].Results {
		at := r.Locations[0].PhysicalLocation
		lines = append(lines, fmt.Sprintf("%s %s %s:%d", r.RuleID, r.Level, at.ArtifactLocation.URI, at.Region.StartLine))
	}
	want := []string{
		"drawknife/addedCost error ci/budget.yaml:4", "drawknife/unplacedPods error ci/budget.yaml:5", "drawknife/unplacedPods error deploy/web%20app.yaml:3",
		"drawknife/unplacedPods error ci/budget.yaml:5", "drawknife/drift warning ci/budget.yaml:6",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
	if got.Runs[0].Invocations[0].ExitCode != StatusSeveral {
		t.Errorf("exit code %d", got.Runs[0].Invocations[0].ExitCode)
	}
	// The check is none if it takes everything.
	for _, odd := range []string{`{}`, `{"version": "2.0.0", "runs": []}`, `{"version": "2.1.0", "runs": [{}]}`, `{"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]}`,
		`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"level": "bad", "message": {}}]}]}`, `{"version": "2.1.0", "runs": [], "more": 1}`} {
		var log any
		if json.Unmarshal([]byte(odd), &log) != nil || len(checkSARIF(log)) == 0 {
			t.Errorf("%s has no fault", odd)
		}
	}
}

// sarifShape is the part of the schema of SARIF 2.1.0 that concerns what is written: for each object its required properties, and all
// properties that the standard gives it.
var sarifShape = map[string]struct{ required, known []string }{
	"sarifLog":    {[]string{"version", "runs"}, []string{"$schema", "version", "runs", "inlineExternalProperties", "properties"}},
	"run":         {[]string{"tool"}, []string{"tool", "invocations", "conversion", "language", "versionControlProvenance", "originalUriBaseIds", "artifacts", "logicalLocations", "graphs", "results", "automationDetails", "runAggregates", "baselineGuid", "redactionTokens", "defaultEncoding", "defaultSourceLanguage", "newlineSequences", "columnKind", "properties"}},
	"tool":        {[]string{"driver"}, []string{"driver", "extensions", "properties"}},
	"driver":      {[]string{"name"}, []string{"guid", "name", "organization", "product", "productSuite", "shortDescription", "fullDescription", "fullName", "version", "semanticVersion", "dottedQuadFileVersion", "releaseDateUtc", "downloadUri", "informationUri", "notifications", "rules", "taxa", "language", "contents", "isComprehensive", "properties"}},
	"rule":        {[]string{"id"}, []string{"id", "deprecatedIds", "guid", "name", "shortDescription", "fullDescription", "messageStrings", "defaultConfiguration", "helpUri", "help", "relationships", "properties"}},
	"invocation":  {[]string{"executionSuccessful"}, []string{"commandLine", "arguments", "startTimeUtc", "endTimeUtc", "exitCode", "executionSuccessful", "machine", "account", "processId", "workingDirectory", "environmentVariables", "properties"}},
	"result":      {[]string{"message"}, []string{"ruleId", "ruleIndex", "rule", "kind", "level", "message", "analysisTarget", "locations", "guid", "correlationGuid", "occurrenceCount", "partialFingerprints", "fingerprints", "relatedLocations", "suppressions", "baselineState", "rank", "hostedViewerUri", "workItemUris", "provenance", "fixes", "properties"}},
	"message":     {[]string{"text"}, []string{"text", "markdown", "id", "arguments", "properties"}},
	"location":    {nil, []string{"id", "physicalLocation", "logicalLocations", "message", "annotations", "relationships", "properties"}},
	"physical":    {[]string{"artifactLocation"}, []string{"address", "artifactLocation", "region", "contextRegion", "properties"}},
	"artifact":    {[]string{"uri"}, []string{"uri", "uriBaseId", "index", "description", "properties"}},
	"region":      {[]string{"startLine"}, []string{"startLine", "startColumn", "endLine", "endColumn", "charOffset", "charLength", "byteOffset", "byteLength", "snippet", "message", "sourceLanguage", "properties"}},
	"description": {[]string{"text"}, []string{"text", "markdown", "properties"}},
	"defaults":    {nil, []string{"enabled", "level", "rank", "parameters", "properties"}},
}

// checkSARIF holds a log to the essentials of the schema of SARIF 2.1.0, and to what code scanning needs: a location with a file and a line
// for every result.
func checkSARIF(log any) []string {
	c := &sarifCheck{}
	root := c.object("sarifLog", "log", log)
	if root["version"] != "2.1.0" {
		c.fault("version is %v", root["version"])
	}
	for i, run := range c.list("runs", root["runs"]) {
		c.run(fmt.Sprintf("runs[%d]", i), run)
	}
	return c.faults
}

type sarifCheck struct{ faults []string }

func (c *sarifCheck) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

func (c *sarifCheck) object(kind, path string, value any) map[string]any {
	o, ok := value.(map[string]any)
	if !ok {
		c.fault("%s is no object", path)
		return nil
	}
	for _, name := range sarifShape[kind].required {
		if o[name] == nil {
			c.fault("%s lacks %s", path, name)
		}
	}
	for name := range o {
		if !slices.Contains(sarifShape[kind].known, name) {
			c.fault("%s has %s, which the standard has not", path, name)
		}
	}
	return o
}

func (c *sarifCheck) list(path string, value any) []any {
	l, ok := value.([]any)
	if !ok {
		c.fault("%s is no list", path)
	}
	return l
}

func (c *sarifCheck) text(path string, value any) {
	if s, ok := value.(string); !ok || s == "" {
		c.fault("%s is no text: %v", path, value)
	}
}

func (c *sarifCheck) absolute(path string, value any) {
	s, _ := value.(string)
	if u, err := url.Parse(s); err != nil || !u.IsAbs() {
		c.fault("%s is no absolute URI: %v", path, value)
	}
}

func (c *sarifCheck) level(path string, value any) {
	if s, _ := value.(string); !slices.Contains([]string{"none", "note", "warning", "error"}, s) {
		c.fault("%s is no level: %v", path, value)
	}
}

func (c *sarifCheck) run(path string, value any) {
	run := c.object("run", path, value)
	driver := c.object("driver", path+".tool.driver", c.object("tool", path+".tool", run["tool"])["driver"])
	c.text(path+".tool.driver.name", driver["name"])
	c.absolute(path+".tool.driver.informationUri", driver["informationUri"])
	if s, _ := run["columnKind"].(string); s != "utf16CodeUnits" && s != "unicodeCodePoints" {
		c.fault("%s.columnKind is %v", path, run["columnKind"])
	}
	for i, invocation := range c.list(path+".invocations", run["invocations"]) {
		c.object("invocation", fmt.Sprintf("%s.invocations[%d]", path, i), invocation)
	}
	rules := c.list(path+".rules", driver["rules"])
	for i, rule := range rules {
		at := fmt.Sprintf("%s.rules[%d]", path, i)
		r := c.object("rule", at, rule)
		for _, name := range []string{"shortDescription", "fullDescription"} {
			c.text(at+"."+name, c.object("description", at+"."+name, r[name])["text"])
		}
		c.level(at, c.object("defaults", at, r["defaultConfiguration"])["level"])
		c.absolute(at+".helpUri", r["helpUri"])
	}
	for i, result := range c.list(path+".results", run["results"]) {
		c.result(fmt.Sprintf("%s.results[%d]", path, i), result, rules)
	}
}

func (c *sarifCheck) result(path string, value any, rules []any) {
	r := c.object("result", path, value)
	c.text(path+".message", c.object("message", path+".message", r["message"])["text"])
	c.level(path, r["level"])
	index, _ := r["ruleIndex"].(float64)
	if int(index) >= len(rules) || len(rules) > 0 && rules[int(index)].(map[string]any)["id"] != r["ruleId"] {
		c.fault("%s: rule %v is not that of index %v", path, r["ruleId"], index)
	}
	prints, _ := r["partialFingerprints"].(map[string]any)
	for name, print := range prints {
		c.text(path+"."+name, print)
	}
	locations := c.list(path+".locations", r["locations"])
	if len(locations) == 0 {
		c.fault("%s has no location", path)
	}
	for _, location := range locations {
		physical := c.object("physical", path, c.object("location", path, location)["physicalLocation"])
		uri, _ := c.object("artifact", path, physical["artifactLocation"])["uri"].(string)
		if _, err := url.Parse(uri); err != nil || uri == "" || strings.ContainsAny(uri, " \\") {
			c.fault("%s: %q is no URI", path, uri)
		}
		if line, _ := c.object("region", path, physical["region"])["startLine"].(float64); line < 1 || line != float64(int(line)) {
			c.fault("%s is at line %v", path, line)
		}
	}
}

// What CI systems read of JUnit: the counts, a name and a class for each case, the message of a failure, and the output.
func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	report := brokenReport()
	report.Results[1].Objects[0].Detail = "a < b & \x1b[31m\x00"
	if err := report.WriteJUnit(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites ") || strings.ContainsAny(out.String(), "\x1b\x00") {
		t.Errorf("%s", out.String())
	}
	var got junitSuites
	if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	suite := got.Suites[0]
	if len(got.Suites) != 1 || got.Tests != 4 || got.Failures != 2 || got.Errors != 0 || suite.Tests != 4 || suite.Failures != 2 || len(suite.Cases) != 4 {
		t.Errorf("%+v", got)
	}
	failures := 0
	for _, c := range suite.Cases {
		if c.Name == "" || c.ClassName != "drawknife.policy" || c.File != "ci/budget.yaml" {
			t.Errorf("%+v", c)
		}
		if c.Failure != nil {
			failures++
			if c.Failure.Message == "" || c.Failure.Type != c.Name || !strings.Contains(c.Failure.Text, "limit at most") {
				t.Errorf("%+v", c.Failure)
			}
		}
	}
	if failures != suite.Failures {
		t.Errorf("%d failures, and %d are counted", failures, suite.Failures)
	}
	if drift := suite.Cases[2]; drift.Failure != nil || !strings.HasPrefix(drift.Output, "warning: drift.maxNodes allows at most 1 node (replaced nodes), and the change has 5 nodes") {
		t.Errorf("a warning: %+v", drift)
	}
}

// Long lists of workloads are cut short, with their number.
func TestManyWorkloads(t *testing.T) {
	facts := change()
	for i := range 3 * maxResults {
		facts.Unplaced = append(facts.Unplaced, Object{Kind: "Deployment", Namespace: "many", Name: fmt.Sprint(i), Pods: 1})
	}
	report := Evaluate(&Policy{File: "p", Rules: []PolicyRule{{Name: "unplacedPods", Level: LevelError, Limits: map[string]float64{"max": 0}}}}, facts)
	var sarif, junit bytes.Buffer
	if report.WriteSARIF(&sarif, nil) != nil || report.WriteJUnit(&junit) != nil {
		t.Fatal("writing")
	}
	if n := strings.Count(sarif.String(), `"ruleIndex"`); n != maxResults+2 || !strings.Contains(sarif.String(), "402 more workloads count for unplacedPods.") {
		t.Errorf("%d results", n)
	}
	if !strings.Contains(junit.String(), "and 402 more workloads") {
		t.Errorf("%s", junit.String()[:400])
	}
}

// Workloads are found in YAML and JSON, in lists, and with the namespace default.
func TestIndex(t *testing.T) {
	var x Index
	x.Add("a.yaml", []byte("kind: Deployment\nmetadata: {name: web}\n---\nkind: List\nitems:\n- kind: Pod\n  metadata:\n    name: one\n    namespace: shop\n"))
	x.Add("b.json", []byte("{\"kind\": \"List\", \"items\": [\n{\"kind\": \"Job\", \"metadata\": {\"name\": \"j\"}}]}"))
	x.Add("c.yaml", []byte("kind: [\n"))
	x.Add("d.yaml", []byte("kind: Deployment\nmetadata: {name: web}\n")) // the first counts
	for o, want := range map[Object]Location{
		{Kind: "Deployment", Namespace: "default", Name: "web"}: {"a.yaml", 1}, {Namespace: "shop", Name: "one"}: {"a.yaml", 6}, {Kind: "Job", Namespace: "default", Name: "j"}: {"b.json", 2},
	} {
		if got, ok := x.Locate(o); !ok || got != want {
			t.Errorf("%s: %v, %v", o, got, ok)
		}
	}
	if _, ok := x.Locate(Object{Name: "none"}); ok {
		t.Error("found what is not there")
	}
	if _, ok := (*Index)(nil).Locate(Object{}); ok {
		t.Error("nil found something")
	}
}

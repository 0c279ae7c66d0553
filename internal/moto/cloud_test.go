package moto

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// upstream stands for moto: it launches the first override of a fleet and lists five items.
func upstream(t *testing.T) *Cloud {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		switch r.Form.Get("Action") {
		case "CreateFleet":
			first := overrides(r.Form)[0]
			_, _ = w.Write([]byte("<CreateFleetResponse><fleetInstanceSet>" + first.template + first.instanceType + "</fleetInstanceSet></CreateFleetResponse>"))
		case "DescribeInstances":
			_, _ = w.Write([]byte("<R><set><item>1<in><item>x</item></in></item><item>2</item><item>3</item><item>4</item><item>5</item></set></R>"))
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(s.Close)
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return newCloud(t, target, &facts{answers: map[string]Answer{}})
}

// call posts a form; an error counts as an empty answer of status 0.
func call(c *Cloud, form string) (int, string) {
	response, err := http.Post(c.URL(), "application/x-www-form-urlencoded", strings.NewReader(form))
	if err != nil {
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	var body strings.Builder
	buffer := make([]byte, 512)
	for {
		n, err := response.Body.Read(buffer)
		body.Write(buffer[:n])
		if err != nil {
			if err.Error() != "EOF" {
				return -1, body.String()
			}
			return response.StatusCode, body.String()
		}
	}
}

func TestFaults(t *testing.T) {
	c := upstream(t)
	c.Fail("DescribeInstances", 1, 503, "RequestLimitExceeded", "slow down")
	c.Lose("DescribeInstances", 1)
	c.CutOff("DescribeInstances", 1)
	const list = "Action=DescribeInstances"
	if status, body := call(c, list); status != -1 || !strings.HasPrefix(body, "<R>") {
		t.Errorf("cut off: %d %q", status, body)
	}
	if status, _ := call(c, list); status != 0 {
		t.Errorf("lost: %d", status)
	}
	if status, body := call(c, list); status != 503 || !strings.Contains(body, "RequestLimitExceeded") {
		t.Errorf("failed: %d %q", status, body)
	}
	if status, _ := call(c, list); status != 200 || c.Calls("DescribeInstances") != 4 || c.Calls("") != 4 {
		t.Errorf("afterwards: %d, %d calls", status, c.Calls(""))
	}
	if count := c.Count(); count["DescribeInstances"] != 4 || c.Calls("") != 0 {
		t.Errorf("counted %v", count)
	}
	if status, body := call(c, "Action=DescribeCapacityReservations"); status != 200 || !strings.Contains(body, "capacityReservationSet") {
		t.Errorf("what moto lacks: %d %q", status, body)
	}
}

func TestPaged(t *testing.T) {
	c := upstream(t)
	c.Paged("DescribeInstances", "set", 2)
	for token, want := range map[string]string{
		"":              "<R><set><item>1<in><item>x</item></in></item><item>2</item></set><nextToken>1</nextToken></R>",
		"&NextToken=1":  "<R><set><item>3</item><item>4</item></set><nextToken>2</nextToken></R>",
		"&NextToken=2":  "<R><set><item>5</item></set></R>",
		"&NextToken=99": "<R><set></set></R>",
	} {
		if _, body := call(c, "Action=DescribeInstances"+token); body != want {
			t.Errorf("%q gives %s, want %s", token, body, want)
		}
	}
}

const twoTemplates = "Action=CreateFleet&TargetCapacitySpecification.DefaultTargetCapacityType=spot" +
	"&LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName=lt1" +
	"&LaunchTemplateConfigs.1.Overrides.1.InstanceType=m5.large&LaunchTemplateConfigs.1.Overrides.1.AvailabilityZone=a" +
	"&LaunchTemplateConfigs.2.LaunchTemplateSpecification.LaunchTemplateName=lt2" +
	"&LaunchTemplateConfigs.2.Overrides.1.InstanceType=m6.large&LaunchTemplateConfigs.2.Overrides.1.AvailabilityZone=a" +
	"&LaunchTemplateConfigs.2.Overrides.2.InstanceType=m7.large&LaunchTemplateConfigs.2.Overrides.2.AvailabilityZone=a"

func TestOutOfStock(t *testing.T) {
	c := upstream(t)
	sold := map[string]bool{}
	c.OutOfStock("InsufficientInstanceCapacity", func(instanceType, zone, capacityType string) bool {
		return zone == "a" && capacityType == "spot" && sold[instanceType]
	})
	for _, step := range []struct{ sells, want string }{
		{"", "lt1m5.large"}, {"m5.large", "lt2m6.large"}, {"m6.large", "lt2m7.large"}, {"m7.large", ""},
	} {
		sold[step.sells] = true
		_, body := call(c, twoTemplates)
		if got := between(body, "<fleetInstanceSet>", "</fleetInstanceSet>"); got != step.want || strings.Count(body, "<errorCode>") != len(sold)-1 {
			t.Errorf("without %v: %s", sold, body)
		}
	}
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

func TestTokens(t *testing.T) {
	c := upstream(t)
	_, first := call(c, twoTemplates+"&ClientToken=t")
	if _, again := call(c, twoTemplates+"&ClientToken=t"); again != first {
		t.Errorf("the same request gives %s", again)
	}
	if status, body := call(c, twoTemplates+"&ClientToken=t&Context=x"); status != 400 || !strings.Contains(body, "IdempotentParameterMismatch") {
		t.Errorf("another request gives %d %s", status, body)
	}
	if status, _ := call(c, twoTemplates+"&Context=x"); status != 200 {
		t.Errorf("without a token: %d", status)
	}
}

// Facts are asked for once; a refusal is not a fact.
func TestFacts(t *testing.T) {
	c := upstream(t)
	asked, status := 0, http.StatusServiceUnavailable
	answer := func(Call) Answer {
		asked++
		return Answer{Status: status}
	}
	one, other := Call{Form: url.Values{"a": {"1"}}}, Call{Form: url.Values{"a": {"2"}}}
	c.facts.remember(one, answer)
	status = http.StatusOK
	for range 3 {
		c.facts.remember(one, answer)
		c.facts.remember(other, answer)
	}
	if asked != 3 {
		t.Errorf("asked %d times, want 3: a refusal and two facts", asked)
	}
}

func TestProgram(t *testing.T) {
	t.Setenv(ProgramVariable, "/nonexistent/moto_server")
	if _, err := program(); err == nil || !strings.Contains(err.Error(), ProgramVariable) {
		t.Errorf("got %v", err)
	}
	t.Setenv(ProgramVariable, "")
	if _, err := program(); err == nil || !strings.Contains(err.Error(), "pip install") {
		t.Errorf("got %v", err)
	}
}

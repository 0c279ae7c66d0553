package sdk_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

func static() *aws.Config {
	return &aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
}

// server answers as EC2 with the status and error code; an empty code succeeds with an empty answer.
func server(t *testing.T, answer func(n int, r *http.Request) (status int, code string)) (string, *atomic.Int32) {
	t.Helper()
	var requests atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, code := answer(int(requests.Add(1)), r)
		w.WriteHeader(status)
		if code != "" {
			_, _ = io.WriteString(w, "<Response><Errors><Error><Code>"+code+"</Code><Message>m</Message></Error></Errors><RequestID>r-1</RequestID></Response>")
			return
		}
		_, _ = io.WriteString(w, "<DescribeInstancesResponse><requestId>r-2</requestId></DescribeInstancesResponse>")
	}))
	t.Cleanup(s.Close)
	return s.URL, &requests
}

// AWN-313, AWN-321, AWI-002, AWI-243: every request bears the user agent, every call is told to the observer.
func TestClientsObserve(t *testing.T) {
	var agent string
	url, _ := server(t, func(_ int, r *http.Request) (int, string) {
		agent = r.UserAgent()
		return 200, ""
	})
	var calls []sdk.Call
	clients, err := sdk.Load(t.Context(), sdk.Config{Base: static(), Endpoint: url, UserAgent: "mine/1.2", Observe: func(c sdk.Call) { calls = append(calls, c) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clients.EC2(sdk.Normal).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(agent, "mine/1.2") {
		t.Errorf("user agent is %q", agent)
	}
	if len(calls) != 1 || calls[0].Service != "EC2" || calls[0].Operation != "DescribeInstances" || calls[0].Attempts != 1 || calls[0].Err != nil {
		t.Errorf("observed %+v", calls)
	}
}

// AWI-003 and no unbounded retry: a server that always throttles is asked as often as configured, and then the error
// says so. The budget learns of it.
func TestClientsThrottled(t *testing.T) {
	url, requests := server(t, func(int, *http.Request) (int, string) { return 503, "RequestLimitExceeded" })
	var seen sdk.Call
	budget := sdk.NewBudget(map[sdk.Class]sdk.Limit{sdk.ClassRead: {PerSecond: 1000, Burst: 1000}})
	clients, err := sdk.Load(t.Context(), sdk.Config{
		Base: static(), Endpoint: url, MaxAttempts: ptr(2), MaxBackoff: ptr(time.Millisecond), Budget: budget, Observe: func(c sdk.Call) { seen = c },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = clients.EC2(sdk.Normal).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
	if err = sdk.Wrap("listing", err); !cloudprovider.IsThrottled(err) {
		t.Errorf("got %v, want a throttled error", err)
	}
	if n := requests.Load(); n != 2 || seen.Attempts != 2 || seen.Code != "RequestLimitExceeded" {
		t.Errorf("%d requests, observed %+v; want 2 attempts", n, seen)
	}
}

// AWN-313, AWI-004: the probe distinguishes success, missing credentials and missing permissions.
func TestProbe(t *testing.T) {
	for code, kind := range map[string]cloudprovider.ErrorKind{
		"DryRunOperation":       "",
		"UnauthorizedOperation": cloudprovider.Unauthorized,
		"AuthFailure":           cloudprovider.Unauthorized,
	} {
		url, requests := server(t, func(_ int, r *http.Request) (int, string) { return 412, code })
		clients, err := sdk.Load(t.Context(), sdk.Config{Base: static(), Endpoint: url})
		if err != nil {
			t.Fatal(err)
		}
		if err := sdk.Probe(t.Context(), clients.EC2(sdk.Urgent)); cloudprovider.KindOf(err) != kind {
			t.Errorf("%s gives %v, want kind %q", code, err, kind)
		}
		if requests.Load() != 1 {
			t.Errorf("%s was retried", code)
		}
	}
}

// No credentials: an error of kind unauthorised that says so, at the first call.
func TestNoCredentials(t *testing.T) {
	url, requests := server(t, func(int, *http.Request) (int, string) { return 200, "" })
	base := static()
	base.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("no provider has any")
	})
	clients, err := sdk.Load(t.Context(), sdk.Config{Base: base, Endpoint: url})
	if err != nil {
		t.Fatal(err)
	}
	err = sdk.Probe(t.Context(), clients.EC2(sdk.Urgent))
	if !cloudprovider.IsUnauthorized(err) || !strings.Contains(err.Error(), "credentials") || requests.Load() != 0 {
		t.Errorf("got %v after %d requests", err, requests.Load())
	}
}

// AWI-001: without a region nothing can be made; settings are refused all at once.
func TestLoadRefuses(t *testing.T) {
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	if _, err := sdk.Load(t.Context(), sdk.Config{}); !errors.Is(err, sdk.ErrNoRegion) {
		t.Errorf("without a region: %v", err)
	}
	if _, err := sdk.Load(t.Context(), sdk.Config{Base: &aws.Config{}}); !errors.Is(err, sdk.ErrNoRegion) {
		t.Errorf("with a base without a region: %v", err)
	}
	_, err := sdk.Load(t.Context(), sdk.Config{Endpoint: "ftp://x", Region: "eu west", Timeout: ptr(time.Duration(-1)), MaxAttempts: ptr(0), MaxBackoff: ptr(time.Duration(-1))})
	for _, field := range []string{"endpoint", "region", "timeout", "max attempts", "max backoff"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
}

// AWI-108: which region's price list covers a region.
func TestPricingRegion(t *testing.T) {
	for region, want := range map[string]string{
		"ap-southeast-2": "ap-south-1", "cn-north-1": "cn-northwest-1", "eu-north-1": "eu-central-1", "us-west-2": "us-east-1", "sa-east-1": "us-east-1",
	} {
		if got := sdk.PricingRegion(region); got != want {
			t.Errorf("%s: %s, want %s", region, got, want)
		}
	}
}

// A server that answers at once, with much: the answer is read to its end, every time.
func TestFastLargeAnswers(t *testing.T) {
	var body strings.Builder
	body.WriteString("<DescribeInstancesResponse><reservationSet>")
	for range 20_000 {
		body.WriteString("<item><ownerId>123456789012</ownerId></item>")
	}
	body.WriteString("</reservationSet></DescribeInstancesResponse>")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, body.String())
	}))
	defer s.Close()
	clients, err := sdk.Load(t.Context(), sdk.Config{Base: static(), Endpoint: s.URL, MaxAttempts: ptr(1)})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		out, err := clients.EC2(sdk.Normal).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
		if err != nil || len(out.Reservations) != 20_000 {
			t.Fatal(err)
		}
	}
}

func ptr[T any](v T) *T { return &v }

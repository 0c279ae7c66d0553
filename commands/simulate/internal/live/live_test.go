package live

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/moto"
)

// at are settings for a server that stands in for AWS.
func at(url string) sdk.Config {
	return sdk.Config{
		Base:     &aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")},
		Endpoint: url, MaxAttempts: ptr(1),
	}
}

// AWI-004, AWI-015: whatever AWS answers instead of instance types, the error has its kind and says what helps.
func TestRefusals(t *testing.T) {
	const none = `<DescribeInstanceTypesResponse/>`
	for _, test := range []struct {
		name   string
		answer moto.Answer
		is     error
		cure   string
	}{
		{"no permission", moto.Refusal(403, "UnauthorizedOperation", "You are not authorized to perform this operation."), cloudprovider.Unauthorized, "let a policy allow"},
		{"wrong credentials", moto.Refusal(401, "AuthFailure", "AWS was not able to validate the provided access credentials"), cloudprovider.Unauthorized, "the region is enabled"},
		{"old credentials", moto.Refusal(400, "RequestExpired", "Request has expired."), cloudprovider.Unauthorized, "renew the credentials"},
		{"too many calls", moto.Refusal(503, "RequestLimitExceeded", "slow down"), cloudprovider.Throttled, "in a minute"},
		{"a bad request", moto.Refusal(400, "InvalidParameterValue", "no"), cloudprovider.Permanent, "the endpoint"},
		{"trouble", moto.Refusal(500, "InternalError", "oh"), cloudprovider.Transient, "try again"},
		{"nothing", moto.XML(none), nil, "another --region"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/xml")
				w.WriteHeader(test.answer.Status)
				_, _ = w.Write(test.answer.Body)
			}))
			defer server.Close()
			_, err := Read(t.Context(), Options{AWS: at(server.URL)})
			var refused *Error
			if !errors.As(err, &refused) || refused.Region != "eu-west-1" || !strings.Contains(refused.Cure, test.cure) {
				t.Errorf("error is %v, want a cure with %q", err, test.cure)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %v is not %v", err, test.is)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("error has several lines: %q", err)
			}
		})
	}
}

// A reader who gives up gets the context's error, although AWS still holds the line.
func TestGivesUp(t *testing.T) {
	gone, asked := make(chan struct{}), make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-gone
	}))
	defer server.Close()
	defer close(gone)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := Read(ctx, Options{AWS: at(server.URL)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// People see what AWS has not answered yet.
func TestSteps(t *testing.T) {
	var said []string
	s := &steps{region: "eu-west-1", report: func(stage string) { said = append(said, stage) }}
	s.begin("a", "b", "c")
	s.end("b")
	s.end("a")
	s.end("c")
	want := "asking AWS in eu-west-1 for a, b, c|asking AWS in eu-west-1 for a, c|asking AWS in eu-west-1 for c"
	if got := strings.Join(said, "|"); got != want {
		t.Errorf("said %s, want %s", got, want)
	}
}

// AWI-112: GovCloud's prices are not in the price list, which is not asked.
func TestGovCloud(t *testing.T) {
	source := onDemandSource("us-gov-west-1", nil)
	if _, err := source.Prices(t.Context()); err == nil || !strings.Contains(err.Error(), "GovCloud") {
		t.Errorf("error is %v", err)
	}
}

// A whole day of prices carries the day.
func TestDay(t *testing.T) {
	r := &reading{now: func() time.Time { return time.Date(2026, 8, 1, 23, 0, 0, 0, time.FixedZone("", -3600)) }}
	if got := r.day(); got != "2026-08-02" {
		t.Errorf("day is %s", got)
	}
}

func ptr[T any](v T) *T { return &v }

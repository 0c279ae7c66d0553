package sdk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/drawknife/drawknife/api/option"
)

// Defaults of a Config.
const (
	// DefaultTimeout applies to one HTTP request, of which a call may need several.
	DefaultTimeout = 4 * time.Minute
	// DefaultMaxAttempts is the number of attempts of a call, including the first.
	DefaultMaxAttempts = 3
	// DefaultMaxBackoff is the longest pause between two attempts.
	DefaultMaxBackoff = 20 * time.Second

	// loadTimeout limits the search for a region and for credentials, which may try to call a missing instance metadata service.
	loadTimeout = 15 * time.Second
)

// Config contains the settings for connections to AWS. With the zero value, all settings come from the environment, the shared
// configuration files and the instance metadata service, as for the AWS command line.
type Config struct {
	// Region of the clients; empty means the region of the environment, or else of the instance on which the program runs.
	Region string
	// Endpoint is the URL for all services, for a test server; empty means AWS's own endpoints.
	Endpoint string
	// Base is a loaded configuration with credentials, for programs that have one; nil means the SDK's default chain. The other fields
	// override Base.
	Base *aws.Config
	// UserAgent is added to the user agent of every request, "name/version"; empty adds "drawknife".
	UserAgent string
	// Timeout is the longest duration of one HTTP request; 0 means no limit, and nil means DefaultTimeout. Timeout is ignored if Base has
	// its own HTTP client.
	Timeout *time.Duration
	// MaxAttempts is the number of attempts of a call, at least 1; nil means DefaultMaxAttempts.
	MaxAttempts *int
	// MaxBackoff is the longest pause between attempts; nil means DefaultMaxBackoff.
	MaxBackoff *time.Duration
	// Budget for the calls; nil means a new one with DefaultLimits. Clients of one account and region should share a Budget.
	Budget *Budget
	// Observe is called after every call, for metrics and logs; it may be nil. It must be safe for concurrent use and return quickly.
	Observe func(Call)
}

// Validate returns everything that is wrong with the configuration, or nil if it is valid.
func (c Config) Validate() error {
	var faults []error
	if c.Endpoint != "" {
		if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			faults = append(faults, fmt.Errorf("endpoint %q: must be an http or https URL with a host", c.Endpoint))
		}
	}
	if strings.ContainsAny(c.Region, " /:@") {
		faults = append(faults, fmt.Errorf("region %q: must be a name such as eu-west-1", c.Region))
	}
	if timeout := option.Or(c.Timeout, DefaultTimeout); timeout < 0 {
		faults = append(faults, fmt.Errorf("timeout %s: must not be negative", timeout))
	}
	if attempts := option.Or(c.MaxAttempts, DefaultMaxAttempts); attempts < 1 {
		faults = append(faults, fmt.Errorf("max attempts %d: must be at least 1", attempts))
	}
	if backoff := option.Or(c.MaxBackoff, DefaultMaxBackoff); backoff < 0 {
		faults = append(faults, fmt.Errorf("max backoff %s: must not be negative", backoff))
	}
	return errors.Join(faults...)
}

// ErrNoRegion means that no region is configured.
var ErrNoRegion = errors.New("no AWS region: name one in the configuration or in AWS_REGION")

// Clients creates API clients that share a configuration and a budget. They are safe for concurrent use. Make them with Load.
type Clients struct {
	base   aws.Config
	budget *Budget
}

// Load completes the configuration and makes clients. It returns an error if no region is known; only the first call shows whether the
// credentials are valid (see Probe).
func Load(ctx context.Context, c Config) (*Clients, error) {
	if ctx == nil {
		return nil, option.Missing("Load", "the context")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("configuration of AWS clients: %w", err)
	}
	base, err := c.load(ctx)
	if err != nil {
		return nil, err
	}
	if base.Region == "" {
		return nil, ErrNoRegion
	}
	if c.Endpoint != "" {
		base.BaseEndpoint = aws.String(c.Endpoint)
	}
	if base.HTTPClient == nil || c.Base == nil {
		base.HTTPClient = &http.Client{Timeout: option.Or(c.Timeout, DefaultTimeout), Transport: newTransport(base.HTTPClient)}
	}
	base.RetryMode, base.RetryMaxAttempts = "", 0
	base.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = option.Or(c.MaxAttempts, DefaultMaxAttempts)
			o.MaxBackoff = option.Or(c.MaxBackoff, DefaultMaxBackoff)
		})
	}
	budget := c.Budget
	if budget == nil {
		budget = NewBudget(nil)
	}
	clients := &Clients{base: base, budget: budget}
	clients.base.APIOptions = append(base.APIOptions[:len(base.APIOptions):len(base.APIOptions)],
		userAgent(orDefault(c.UserAgent, "drawknife")), observing(c.Observe))
	return clients, nil
}

// load returns the configuration with region and credentials.
func (c Config) load(ctx context.Context) (aws.Config, error) {
	if c.Base != nil {
		base := c.Base.Copy()
		base.Region = orDefault(c.Region, base.Region)
		return base, nil
	}
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	region := config.WithRegion(c.Region)
	if c.Region == "" {
		region = config.WithEC2IMDSRegion()
	}
	base, err := config.LoadDefaultConfig(ctx, region)
	switch {
	case err != nil && c.Region == "":
		return aws.Config{}, fmt.Errorf("%w (%w)", ErrNoRegion, err)
	case err != nil:
		return aws.Config{}, Wrap("reading the configuration of AWS clients", err)
	}
	return base, nil
}

// Region of the clients.
func (c *Clients) Region() string { return c.base.Region }

// at returns the configuration for calls of a priority.
func (c *Clients) at(p Priority) aws.Config {
	base := c.base.Copy()
	base.APIOptions = append(base.APIOptions[:len(base.APIOptions):len(base.APIOptions)], budgeted(c.budget, p))
	return base
}

// EC2 makes a client of EC2.
func (c *Clients) EC2(p Priority) EC2API { return ec2.NewFromConfig(c.at(p)) }

// EC2Migration makes a client for the calls of the check before a migration.
func (c *Clients) EC2Migration(p Priority) EC2MigrationAPI { return ec2.NewFromConfig(c.at(p)) }

// EC2CapacityBlocks makes a client for finding and buying capacity blocks.
func (c *Clients) EC2CapacityBlocks(p Priority) EC2CapacityBlockAPI {
	return ec2.NewFromConfig(c.at(p))
}

// IAMMigration makes a client for the calls of the check before a migration.
func (c *Clients) IAMMigration(p Priority) IAMMigrationAPI { return iam.NewFromConfig(c.at(p)) }

// SSM makes a client of Systems Manager.
func (c *Clients) SSM(p Priority) SSMAPI { return ssm.NewFromConfig(c.at(p)) }

// EKS makes a client of EKS.
func (c *Clients) EKS(p Priority) EKSAPI { return eks.NewFromConfig(c.at(p)) }

// IAM makes a client of IAM.
func (c *Clients) IAM(p Priority) IAMAPI { return iam.NewFromConfig(c.at(p)) }

// SQS makes a client of SQS.
func (c *Clients) SQS(p Priority) SQSAPI { return sqs.NewFromConfig(c.at(p)) }

// ZonalShift makes a client of ARC zonal shift.
func (c *Clients) ZonalShift(p Priority) ZonalShiftAPI {
	return arczonalshift.NewFromConfig(c.at(p))
}

// Pricing makes a client of the price list, in the region that serves the prices of the clients' region.
func (c *Clients) Pricing(p Priority) PricingAPI {
	base := c.at(p)
	base.Region = PricingRegion(base.Region)
	return pricing.NewFromConfig(base)
}

// PricingRegion returns the region that serves the price list of a region.
func PricingRegion(region string) string {
	switch {
	case strings.HasPrefix(region, "ap-"):
		return "ap-south-1"
	case strings.HasPrefix(region, "cn-"):
		return "cn-northwest-1"
	case strings.HasPrefix(region, "eu-"):
		return "eu-central-1"
	}
	return "us-east-1"
}

// Probe checks with a dry run whether EC2 can be reached in the region and accepts the credentials. The error has a kind: unauthorised if
// the credentials are missing or wrong, permanent if the region does not exist.
func Probe(ctx context.Context, api EC2API) error {
	if api == nil {
		return option.Missing("Probe", "the API")
	}
	_, err := api.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{DryRun: aws.Bool(true)}, func(o *ec2.Options) {
		o.Retryer = aws.NopRetryer{}
	})
	if err == nil || IsDryRun(err) {
		return nil
	}
	return Wrap("checking whether EC2 can be reached", err)
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

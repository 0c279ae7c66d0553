package amis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/sdk"
)

const (
	// DefaultLifetime is how long an answer about images is used.
	DefaultLifetime = time.Minute
	// publishedLifetime is how long the value of a parameter that AWS publishes is used. userLifetime applies to the values of all other
	// parameters.
	publishedLifetime, userLifetime = 24 * time.Hour, 5 * time.Minute
)

// Options of a Resolver. The zero value means the defaults.
type Options struct {
	// Lifetime is how long an answer about images is used, at least DefaultLifetime; 0 means DefaultLifetime.
	Lifetime time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Resolver finds images and remembers them for a while.
type Resolver struct {
	ec2        sdk.EC2API
	ssm        sdk.SSMAPI
	now        func() time.Time
	images     *cache[[]ec2types.Image]
	parameters *cache[string]
	lifetime   time.Duration
}

// New makes a resolver.
func New(ec2 sdk.EC2API, ssm sdk.SSMAPI, o Options) (*Resolver, error) {
	if ec2 == nil || ssm == nil {
		return nil, errors.New("images: there is no EC2 client or no SSM client")
	}
	if o.Lifetime == 0 {
		o.Lifetime = DefaultLifetime
	}
	if o.Lifetime < DefaultLifetime {
		return nil, fmt.Errorf("images: Lifetime, the time for which answers about images are cached, is %s and must be at least %s", o.Lifetime, DefaultLifetime)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Resolver{ec2: ec2, ssm: ssm, now: o.Now, lifetime: o.Lifetime, images: newCache[[]ec2types.Image](), parameters: newCache[string]()}, nil
}

// Result contains the images that the terms select.
type Result struct {
	// AMIs are in the order of preference; empty if the terms match nothing.
	AMIs []awsv1.AMI
	// Outcomes contain the result of each term, or of each parameter of an alias.
	Outcomes []Outcome
}

// Outcome is the result of one term, or of one parameter of an alias.
type Outcome struct {
	// Term is the term's index.
	Term int
	// Parameter is the SSM parameter that was read; empty for a term without a parameter.
	Parameter string
	// Images is the number of images that were found, before the newest were chosen.
	Images int
	// Problem is a sentence that says why no images were found; empty if Images is not 0.
	Problem string
}

// Resolve finds the images that the terms select, for a cluster of a Kubernetes version "1.33". If AWS publishes no images for an alias, it
// returns an *UnsupportedAliasError. If terms can't be read, the errors have the kinds of their causes (see sdk.Wrap), and no image is
// returned.
func (r *Resolver) Resolve(ctx context.Context, terms []awsv1.AMISelectorTerm, kubernetes string) (Result, error) {
	for i, term := range terms {
		if term.Alias == "" {
			continue
		}
		alias, err := awsv1.ParseAlias(term.Alias)
		if err != nil {
			return Result{}, fmt.Errorf("amiSelectorTerms[%d]: %w", i, err)
		}
		return r.resolveAlias(ctx, i, alias, kubernetes)
	}
	return r.resolveTerms(ctx, terms)
}

// resolveAlias reads the parameters of the alias and looks their images up.
func (r *Resolver) resolveAlias(ctx context.Context, term int, alias awsv1.Alias, kubernetes string) (Result, error) {
	parameters, err := parametersOf(alias, kubernetes)
	if err != nil {
		return Result{}, err
	}
	var result Result
	var ids []string
	// sets has the requirement sets of each image, by image id. If several parameters name an image, it has the sets of all these
	// parameters.
	sets := make(map[string][][]corev1.NodeSelectorRequirement)
	outcomeOf := make(map[string][]int)
	for _, p := range parameters {
		id, problem, err := r.parameter(ctx, p.name)
		if err != nil {
			return Result{}, err
		}
		result.Outcomes = append(result.Outcomes, Outcome{Term: term, Parameter: p.name, Problem: problem})
		if problem != "" {
			continue
		}
		ids = append(ids, id)
		outcomeOf[id] = append(outcomeOf[id], len(result.Outcomes)-1)
		for _, v := range p.variants {
			sets[id] = append(sets[id], append(v.requirements(), p.further...))
		}
	}
	if len(ids) == 0 {
		return result, nil
	}
	images, err := r.ask(ctx, queryByID(ids))
	if err != nil {
		return Result{}, err
	}
	var all []candidate
	for _, image := range images {
		if image.ImageId == nil {
			continue
		}
		found := candidates(image, sets[*image.ImageId], r.now())
		for _, at := range outcomeOf[*image.ImageId] {
			result.Outcomes[at].Images += min(len(found), 1)
		}
		all = append(all, found...)
	}
	result.AMIs = newest(all)
	result.explain("the image it names is not available in this region, or of another architecture than x86_64 and arm64")
	return result, nil
}

// resolveTerms sends one query for each term with tags, a name or an owner, and one query for all ids.
func (r *Resolver) resolveTerms(ctx context.Context, terms []awsv1.AMISelectorTerm) (Result, error) {
	var result Result
	var ids []string
	outcomeOf := make(map[string][]int)
	var all []candidate
	anywhere := [][]corev1.NodeSelectorRequirement{nil}
	for i, term := range terms {
		outcome := Outcome{Term: i}
		id := term.ID
		if id == "" && term.SSMParameter != "" {
			var err error
			outcome.Parameter = term.SSMParameter
			if id, outcome.Problem, err = r.parameter(ctx, term.SSMParameter); err != nil {
				return Result{}, fmt.Errorf("amiSelectorTerms[%d].ssmParameter: %w", i, err)
			}
		}
		switch {
		case outcome.Problem != "":
		case id != "":
			ids = append(ids, id)
			outcomeOf[id] = append(outcomeOf[id], i)
		default:
			images, err := r.ask(ctx, queryOf(term))
			if err != nil {
				return Result{}, fmt.Errorf("amiSelectorTerms[%d]: %w", i, err)
			}
			for _, image := range images {
				found := candidates(image, anywhere, r.now())
				outcome.Images += len(found)
				all = append(all, found...)
			}
		}
		result.Outcomes = append(result.Outcomes, outcome)
	}
	if len(ids) > 0 {
		images, err := r.ask(ctx, queryByID(ids))
		if err != nil {
			return Result{}, fmt.Errorf("resolving the amiSelectorTerms with an id: %w", err)
		}
		for _, image := range images {
			if image.ImageId == nil {
				continue
			}
			found := candidates(image, anywhere, r.now())
			for _, at := range outcomeOf[*image.ImageId] {
				result.Outcomes[at].Images += len(found)
			}
			all = append(all, found...)
		}
	}
	result.AMIs = newest(all)
	result.explain("no available and visible image for x86_64 or arm64 matches")
	return result, nil
}

// explain sets reason as the problem of each outcome that has neither images nor a problem.
func (r *Result) explain(reason string) {
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Images == 0 && o.Problem == "" {
			o.Problem = reason
		}
	}
}

// ask returns a cached answer if there is one; otherwise it asks EC2.
func (r *Resolver) ask(ctx context.Context, q query) ([]ec2types.Image, error) {
	key := q.key()
	if images, ok := r.images.get(key, r.now()); ok {
		return images, nil
	}
	images, err := ask(ctx, r.ec2, q)
	if err != nil {
		return nil, err
	}
	r.images.put(key, images, r.now(), r.lifetime)
	return images, nil
}

// cache keeps answers for a while; expired answers are dropped when an answer is added.
type cache[T any] struct {
	mu      sync.Mutex
	entries map[string]cached[T]
}

type cached[T any] struct {
	value T
	until time.Time
}

func newCache[T any]() *cache[T] { return &cache[T]{entries: make(map[string]cached[T])} }

func (c *cache[T]) get(key string, now time.Time) (value T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	return e.value, ok && now.Before(e.until)
}

func (c *cache[T]) put(key string, value T, now time.Time, lifetime time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for other, e := range c.entries {
		if !now.Before(e.until) {
			delete(c.entries, other)
		}
	}
	c.entries[key] = cached[T]{value, now.Add(lifetime)}
}

func (c *cache[T]) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}

// values returns a copy of the answers that have not expired.
func (c *cache[T]) values(now time.Time) map[string]T {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]T, len(c.entries))
	for key, e := range c.entries {
		if now.Before(e.until) {
			all[key] = e.value
		}
	}
	return all
}

// isPublished reports whether AWS manages a parameter, given by name or ARN.
func isPublished(name string) bool {
	return strings.HasPrefix(name, "/aws/service/") || strings.Contains(name, ":parameter/aws/service/")
}

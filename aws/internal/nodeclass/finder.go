package nodeclass

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/sdk"
)

const (
	// Period is the default lifetime of EC2's answers about subnets and security groups.
	Period = time.Minute
	// pageSize is the number of items per page of EC2's answers.
	pageSize = 500
)

// Counts receives the numbers of free addresses of subnets, by ID. *subnets.Tracker implements it.
type Counts interface {
	Observe(free map[string]int64)
}

// Finder resolves selector terms to subnets and security groups. It is safe for concurrent use. Make one with NewFinder.
type Finder struct {
	api     sdk.EC2API
	counts  Counts
	now     func() time.Time
	subnets answers[subnet]
	groups  answers[awsv1.SecurityGroup]
}

// FinderOptions are the options of NewFinder; the zero value means the defaults.
type FinderOptions struct {
	// Counts receives numbers of free addresses. It may be nil.
	Counts Counts
	// SubnetsEvery is how long an answer about subnets is used, at least Period; 0 means Period.
	SubnetsEvery time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// NewFinder returns a Finder.
func NewFinder(api sdk.EC2API, o FinderOptions) *Finder {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Finder{
		api: api, counts: o.Counts, now: o.Now,
		subnets: answers[subnet]{period: max(Period, o.SubnetsEvery)}, groups: answers[awsv1.SecurityGroup]{period: Period},
	}
}

// filter is a condition of a query to EC2; it holds if any of the values matches.
type filter struct {
	name   string
	values []string
}

// query is a query to EC2: filters that must all hold. Equal queries have equal keys.
type query []filter

func (q query) key() string {
	var b strings.Builder
	for _, f := range q {
		// Tags can't contain this character.
		b.WriteString("\x01" + f.name + "\x00" + strings.Join(f.values, "\x00"))
	}
	return b.String()
}

// String returns the query for people: "tag:team=blue, subnet-id=subnet-1".
func (q query) String() string {
	texts := make([]string, len(q))
	for i, f := range q {
		texts[i] = f.name + "=" + strings.Join(f.values, "|")
	}
	return strings.Join(texts, ", ")
}

func (q query) filters() []ec2types.Filter {
	list := make([]ec2types.Filter, len(q))
	for i, f := range q {
		list[i] = ec2types.Filter{Name: aws.String(f.name), Values: f.values}
	}
	return list
}

// tagQuery returns the query for a term that selects by tags.
func tagQuery(tags map[string]string) query {
	var q query
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if value := tags[key]; value == awsv1.TagAnyValue {
			q = append(q, filter{"tag-key", []string{key}})
		} else {
			q = append(q, filter{"tag:" + key, []string{value}})
		}
	}
	return q
}

// gathered returns one query for all values, or none if there are no values.
func gathered(name string, values []string) []query {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	return []query{{{name, slices.Compact(values)}}}
}

// answers remembers EC2's answers for a period, by query.
type answers[T any] struct {
	period time.Duration
	mu     sync.Mutex
	known  map[string]answer[T]
}

type answer[T any] struct {
	at    time.Time
	found []T
}

// ask returns a cached answer, or calls read and caches its answer.
func (a *answers[T]) ask(ctx context.Context, q query, now time.Time, read func(context.Context, query) ([]T, error)) ([]T, error) {
	a.mu.Lock()
	known, ok := a.known[q.key()]
	a.mu.Unlock()
	if ok && now.Sub(known.at) < a.period {
		return known.found, nil
	}
	found, err := read(ctx, q)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[string]answer[T]{}
	}
	// Drop all expired answers, for instance to queries of deleted classes.
	maps.DeleteFunc(a.known, func(_ string, old answer[T]) bool { return now.Sub(old.at) >= a.period })
	a.known[q.key()] = answer[T]{at: now, found: found}
	return found, nil
}

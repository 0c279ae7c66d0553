package reservations

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// Query is one query to EC2 for a selector term. Equal queries have equal keys.
type Query struct {
	id      string
	filters []filter
}

type filter struct{ name, value string }

// Queries returns the EC2 queries for selector terms, without duplicates, in a fixed order.
func Queries(terms []awsv1.CapacityReservationSelectorTerm) []Query {
	byKey := map[string]Query{}
	for _, term := range terms {
		q := queryOf(term)
		byKey[q.Key()] = q
	}
	return slices.SortedFunc(maps.Values(byKey), func(a, b Query) int { return strings.Compare(a.Key(), b.Key()) })
}

func queryOf(term awsv1.CapacityReservationSelectorTerm) Query {
	q := Query{id: term.ID, filters: []filter{{"state", string(ec2types.CapacityReservationStateActive)}}}
	if term.ID != "" {
		return q
	}
	for key, value := range term.Tags {
		if value == "*" {
			q.filters = append(q.filters, filter{"tag-key", key})
		} else {
			q.filters = append(q.filters, filter{"tag:" + key, value})
		}
	}
	if term.OwnerID != "" {
		q.filters = append(q.filters, filter{"owner-id", term.OwnerID})
	}
	if term.InstanceMatchCriteria != "" {
		q.filters = append(q.filters, filter{"instance-match-criteria", string(term.InstanceMatchCriteria)})
	}
	slices.SortFunc(q.filters, func(a, b filter) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.value, b.value))
	})
	return q
}

// Key distinguishes questions.
func (q Query) Key() string {
	var b strings.Builder
	b.WriteString(q.id)
	for _, f := range q.filters {
		// Names and values contain only printable characters, so they don't contain this separator.
		b.WriteString("\x00" + f.name + "\x00" + f.value)
	}
	return b.String()
}

// input returns the query as an EC2 request. EC2 refuses a page size together with ids.
func (q Query) input(token *string) *ec2.DescribeCapacityReservationsInput {
	in := &ec2.DescribeCapacityReservationsInput{NextToken: token}
	if q.id != "" {
		in.CapacityReservationIds = []string{q.id}
	} else {
		in.MaxResults = aws.Int32(1000)
	}
	for _, f := range q.filters {
		in.Filters = append(in.Filters, ec2types.Filter{Name: aws.String(f.name), Values: []string{f.value}})
	}
	return in
}

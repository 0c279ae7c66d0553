package amis

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// pageSize is the largest number of images that EC2 lists in one page.
const pageSize = 1000

// query is one query for images. Equal queries have equal fields.
type query struct {
	Owners  []string
	Filters []filter
}

type filter struct {
	Name   string
	Values []string
}

// key returns a string that is different for different queries, whatever their tags contain.
func (q query) key() string {
	text, err := json.Marshal(q)
	if err != nil {
		return fmt.Sprint(q) // unreachable: strings can always be encoded
	}
	return string(text)
}

// queryOf returns the query for a term with a name, tags or an owner.
func queryOf(term awsv1.AMISelectorTerm) query {
	var q query
	switch {
	case term.Owner != "":
		q.Owners = []string{term.Owner}
	case term.Name != "":
		// Anyone may publish an image under any name, so search only these owners.
		q.Owners = []string{"amazon", "self"}
	}
	if term.Name != "" {
		q.Filters = append(q.Filters, filter{"name", []string{term.Name}})
	}
	for _, key := range slices.Sorted(maps.Keys(term.Tags)) {
		if value := term.Tags[key]; value == awsv1.TagAnyValue {
			q.Filters = append(q.Filters, filter{"tag-key", []string{key}})
		} else {
			q.Filters = append(q.Filters, filter{"tag:" + key, []string{value}})
		}
	}
	return q
}

// queryByID returns the query for images with these ids, no matter who owns them.
func queryByID(ids []string) query {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	return query{Filters: []filter{{"image-id", slices.Compact(sorted)}}}
}

// ask sends the query to EC2. The answer includes deprecated images.
func ask(ctx context.Context, api sdk.EC2API, q query) ([]ec2types.Image, error) {
	available, deprecated, size := "state", true, int32(pageSize)
	filters := []ec2types.Filter{{Name: &available, Values: []string{"available"}}}
	for _, f := range q.Filters {
		filters = append(filters, ec2types.Filter{Name: &f.Name, Values: f.Values})
	}
	var images []ec2types.Image
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := api.DescribeImages(ctx, &ec2.DescribeImagesInput{
			Owners: q.Owners, Filters: filters, IncludeDeprecated: &deprecated, MaxResults: &size, NextToken: token,
		})
		if err != nil {
			return nil, sdk.Wrap("reading images", err)
		}
		images = append(images, out.Images...)
		return out.NextToken, nil
	})
	if err != nil {
		return nil, err
	}
	return images, nil
}

package amis_test

import (
	"context"
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/amis"
	"github.com/drawknife/drawknife/aws/sdk"
)

// account is an EC2 with two images. A real one comes from sdk.Load.
type account struct {
	sdk.EC2API
}

func (account) DescribeImages(context.Context, *ec2.DescribeImagesInput, ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	image := func(id, created string) ec2types.Image {
		return ec2types.Image{ImageId: &id, CreationDate: &created, Architecture: ec2types.ArchitectureValuesArm64}
	}
	return &ec2.DescribeImagesOutput{Images: []ec2types.Image{
		image("ami-old", "2026-01-01T00:00:00.000Z"), image("ami-new", "2026-06-01T00:00:00.000Z"),
	}}, nil
}

// Of the images that a name matches, the newest of each architecture is used.
func ExampleResolver_Resolve() {
	resolver, err := amis.New(account{}, struct{ sdk.SSMAPI }{}, amis.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := resolver.Resolve(context.Background(), []awsv1.AMISelectorTerm{{Name: "my-image-*", Owner: "self"}}, "1.33")
	if err != nil {
		log.Fatal(err)
	}
	for _, ami := range result.AMIs {
		fmt.Println(ami.ID, ami.Requirements[0].Key, ami.Requirements[0].Values)
	}
	fmt.Println("the term matches", result.Outcomes[0].Images)
	// Output:
	// ami-new kubernetes.io/arch [arm64]
	// the term matches 2
}

package capacityblocks

import (
	"context"
	"fmt"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/sdk"
)

// Approval is the buyer's consent to one purchase. It repeats the offering that the buyer saw, so that Purchase can't buy a different
// offering.
type Approval struct {
	// By names the person who approved.
	By string
	// OfferingID, UpfrontFee and Currency must be those of the offering.
	OfferingID string
	UpfrontFee string
	Currency   string
}

// ApprovalError means that the approval is not for the offering; nothing was bought.
type ApprovalError struct {
	// Field of the approval that does not match.
	Field string
	// Approved and Offered are the values of approval and offering.
	Approved, Offered string
}

func (e *ApprovalError) Error() string {
	if e.Field == "By" {
		return "buying a capacity block: By is empty: name the person who approved the purchase"
	}
	return fmt.Sprintf("buying a capacity block: %s %q was approved, but the offering has %q: have the purchase approved as it is offered", e.Field, e.Approved, e.Offered)
}

// Purchase buys an offering for Linux, tagged with tags, and returns the ID of its capacity reservation, "cr-…". It costs the whole
// UpfrontFee at once and can't be undone. EC2 ends an offering after some minutes; the error then has a kind, and nothing was bought. An
// *ApprovalError says that the approval is for another offering or price. A lost answer may hide a purchase: list the capacity reservations
// before calling again.
func Purchase(ctx context.Context, api sdk.EC2CapacityBlockAPI, o Offering, approval Approval, tags map[string]string) (reservationID string, err error) {
	if api == nil {
		return "", option.Missing("capacityblocks.Purchase", "the EC2 client")
	}
	for _, each := range []ApprovalError{
		{"OfferingID", approval.OfferingID, o.ID}, {"UpfrontFee", approval.UpfrontFee, o.UpfrontFee}, {"Currency", approval.Currency, o.Currency},
	} {
		if each.Approved != each.Offered || each.Approved == "" {
			return "", &each
		}
	}
	if approval.By == "" {
		return "", &ApprovalError{Field: "By"}
	}
	input := &ec2.PurchaseCapacityBlockInput{CapacityBlockOfferingId: &o.ID, InstancePlatform: ec2types.CapacityReservationInstancePlatformLinuxUnix}
	if len(tags) > 0 {
		specification := ec2types.TagSpecification{ResourceType: ec2types.ResourceTypeCapacityReservation}
		for key, value := range tags {
			specification.Tags = append(specification.Tags, ec2types.Tag{Key: &key, Value: &value})
		}
		input.TagSpecifications = []ec2types.TagSpecification{specification}
	}
	// The call has no token, so a second attempt could buy a second block.
	out, err := api.PurchaseCapacityBlock(ctx, input, func(options *ec2.Options) { options.Retryer = awssdk.NopRetryer{} })
	if err != nil {
		return "", sdk.Wrap("buying capacity block "+o.ID, err)
	}
	if out.CapacityReservation == nil || awssdk.ToString(out.CapacityReservation.CapacityReservationId) == "" {
		return "", fmt.Errorf("buying capacity block %s: EC2's answer names no capacity reservation: look for it before buying again", o.ID)
	}
	return *out.CapacityReservation.CapacityReservationId, nil
}

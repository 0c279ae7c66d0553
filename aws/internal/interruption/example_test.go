package interruption_test

import (
	"fmt"

	"github.com/drawknife/drawknife/aws/internal/interruption"
)

// What the body of one message says.
func ExampleParse() {
	event, err := interruption.Parse([]byte(`{
		"version": "0", "id": "12345678-1234-1234-1234-123456789012",
		"detail-type": "EC2 Spot Instance Interruption Warning", "source": "aws.ec2",
		"time": "2026-05-04T12:00:00Z", "detail": {"instance-id": "i-0123456789abcdef0", "instance-action": "terminate"}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(event.Kind, event.Instances, event.Deadline)
	// Output:
	// spot_interrupted [i-0123456789abcdef0] 2026-05-04 12:02:00 +0000 UTC
}

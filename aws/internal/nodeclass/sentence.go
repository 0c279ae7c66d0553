package nodeclass

import (
	"regexp"
	"strings"

	"github.com/drawknife/drawknife/aws/sdk"
)

// mostOfMessage limits the length of condition messages; an API server accepts 32 KiB.
const mostOfMessage = 2048

// perCall matches the parts of an error text that differ from call to call. If a condition's message contained these parts, each
// reconciliation would change the class, and the change would start the next reconciliation.
var perCall = regexp.MustCompile(`(?i)(,? ?(RequestID|Request ID|HostID): ?[A-Za-z0-9/+=-]*|\.? ?Encoded authorization failure message: ?\S+)`)

// sentence returns an error as a condition's message.
func sentence(err error) string {
	text := err.Error()
	if code := sdk.Code(err); code != "" {
		_, text = sdk.Explain(code, sdk.Message(err))
	}
	text = strings.TrimSpace(perCall.ReplaceAllString(text, ""))
	if len(text) > mostOfMessage {
		text = strings.ToValidUTF8(text[:mostOfMessage], "")
	}
	return text
}

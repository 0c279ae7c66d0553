package reconcilers

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// orderAnnotation tells by which order a claim was created, so that an order whose answer was lost is not carried out
// twice.
const orderAnnotation = "drawknife.dev/order"

// claimStore creates NodeClaims.
type claimStore struct {
	client client.Client
	// reader reads the API itself: a cache does not show yet what was just created.
	reader client.Reader
}

// nameAttempts is how many names are tried for a claim: those of other claims are taken.
const nameAttempts = 5

// CreateNodeClaim stores the claim under a name that follows from the token (see provisioning.NodeClaimCreator).
func (s *claimStore) CreateNodeClaim(ctx context.Context, token string, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	for attempt := range nameAttempts {
		out := claim.DeepCopy()
		out.Name = nameOf(claim.GenerateName, token, attempt)
		out.GenerateName = ""
		if out.Annotations == nil {
			out.Annotations = map[string]string{}
		}
		out.Annotations[orderAnnotation] = token
		err := s.client.Create(ctx, out)
		if err == nil {
			return out, nil
		}
		// The name is taken, or the answer was lost and the claim may be there all the same.
		if !apierrors.IsAlreadyExists(err) && !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) {
			return nil, err
		}
		there := &v1.NodeClaim{}
		if readErr := s.reader.Get(ctx, client.ObjectKeyFromObject(out), there); readErr != nil {
			return nil, fmt.Errorf("%w; whether it is there all the same can't be told: %w", err, readErr)
		}
		if there.Annotations[orderAnnotation] == token {
			return there, nil
		}
	}
	return nil, fmt.Errorf("no name that begins with %q is free after %d attempts", claim.GenerateName, nameAttempts)
}

// longestPrefix leaves room for the rest of a name: nodes and labels bear it, whose values have at most 63 characters.
const longestPrefix = 63 - suffixLength

const suffixLength = 5

// nameOf is a name for the claim that a token orders: the prefix and five letters and digits.
func nameOf(prefix, token string, attempt int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", token, attempt))
	suffix := strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:suffixLength]
	return prefix[:min(len(prefix), longestPrefix)] + suffix
}

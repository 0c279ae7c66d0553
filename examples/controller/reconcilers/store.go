package reconcilers

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// orderAnnotation is the annotation with the token of the order that created the claim. So an order is not carried out twice if the
// response to its request was lost.
const orderAnnotation = "drawknife.dev/order"

// Created reports whether the reconcilers created a claim, and not another client such as Karpenter or a user.
func Created(claim *v1.NodeClaim) bool { return claim.Annotations[orderAnnotation] != "" }

// claimStore creates NodeClaims.
type claimStore struct {
	client client.Client
	// reader reads from the API server, because the cache does not show new objects at once.
	reader client.Reader
}

const (
	// nameAttempts is how many names are tried for a claim if other claims already have the names.
	nameAttempts = 5
	// answerAttempts is how often the creation of a claim is repeated under one name while its result is unknown.
	answerAttempts = 3
)

// CreateNodeClaim stores the claim under a name that is computed from the token (see provisioning.NodeClaimCreator).
func (s *claimStore) CreateNodeClaim(ctx context.Context, token string, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	for attempt := range nameAttempts {
		out := claim.DeepCopy()
		out.Name = nameOf(claim.GenerateName, token, attempt)
		out.GenerateName = ""
		if out.Annotations == nil {
			out.Annotations = map[string]string{}
		}
		out.Annotations[orderAnnotation] = token
		stored, err := s.createNamed(ctx, token, out)
		if !apierrors.IsAlreadyExists(err) {
			return stored, err
		}
	}
	return nil, fmt.Errorf("no free name with prefix %q after %d attempts", claim.GenerateName, nameAttempts)
}

// createNamed stores the claim under its name. If the error is an AlreadyExists error, another claim has this name.
func (s *claimStore) createNamed(ctx context.Context, token string, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	var lost error
	for range answerAttempts {
		out := claim.DeepCopy()
		err := s.client.Create(ctx, out)
		if err == nil {
			return out, nil
		}
		if refused(err) {
			return nil, err
		}
		// Another claim has the name, or the response was lost and the claim may exist.
		there := &v1.NodeClaim{}
		readErr := s.reader.Get(ctx, client.ObjectKeyFromObject(claim), there)
		switch {
		case readErr == nil && there.Annotations[orderAnnotation] == token:
			return there, nil
		case readErr == nil:
			return nil, apierrors.NewAlreadyExists(schema.GroupResource{Group: v1.Group, Resource: "nodeclaims"}, claim.Name)
		case !apierrors.IsNotFound(readErr) || ctx.Err() != nil:
			return nil, fmt.Errorf("%w; cannot check whether it was created: %w", err, readErr)
		}
		// The claim does not exist, but the request may still be in progress. Use the same name again: then a second request can't create a
		// second claim.
		lost = err
	}
	return nil, lost
}

// refused reports whether the API server's error proves that no claim was created. An error about an existing name does not prove this.
// Errors of proxies, timeouts and broken connections do not prove it either.
func refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsAlreadyExists(err) || apierrors.IsTimeout(err) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500
}

// longestPrefix is the maximum length of the prefix of a claim's name. The whole name is also used for nodes and labels, and may have at
// most 63 characters.
const longestPrefix = 63 - suffixLength

const suffixLength = 5

// nameOf returns the claim's name for a token: the prefix, and five letters or digits.
func nameOf(prefix, token string, attempt int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", token, attempt))
	suffix := strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:suffixLength]
	return prefix[:min(len(prefix), longestPrefix)] + suffix
}

package launch

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Tags of instances that one CreateFleet call launched for several claims. EC2 gives all instances of a fleet the same tags, so an instance
// can't have only the UID of its own claim when it is launched. Instead each instance has the UIDs of all claims, sorted. The instances are
// assigned to the claims by order: the instance whose ID comes n-th belongs to the claim whose UID comes n-th. So all processes that see
// the whole batch assign its instances in the same way.
const (
	// TagBatch identifies the batch: see BatchID.
	TagBatch = "drawknife.dev/batch"
	// TagBatchUIDs, followed by a number from 0, has the UIDs of the batch's claims.
	TagBatchUIDs = "drawknife.dev/batch-uids-"
	// Batched is the value of TagNodeClaimUID until the instance gets the tags of its own claim.
	Batched = "batch"
)

const (
	// longestTagValue is the number of characters that EC2 allows in the value of a tag.
	longestTagValue = 256
	// mostTags is the number of tags that EC2 allows on a resource, without those of AWS itself.
	mostTags = 50
	// laterTags is the number of tags that an instance gets when its node has joined: its name, its claim's name and its cluster's name.
	laterTags = 3
	// mostInFleet is the largest minimum target capacity that EC2 accepts.
	mostInFleet = 1000
)

// BatchID returns an ID for a launch of several claims. It consists of a hash of their UIDs in any order, the generation, and a suffix for
// a launch of all or nothing. The generation grows with each attempt whose instances are all gone. The ID has at most 64 characters.
func BatchID(uids []types.UID, generation int, whole bool) string {
	id := setHash(uids) + "-" + strconv.Itoa(generation)
	if whole {
		id += wholeSuffix
	}
	return id
}

const wholeSuffix = "-whole"

// BatchFilter returns a filter value with EC2's wildcard that matches the BatchID of the claims with any generation.
func BatchFilter(uids []types.UID) string { return setHash(uids) + "-*" }

// setHash identifies a set of UIDs.
func setHash(uids []types.UID) string {
	sorted := slices.Clone(uids)
	slices.Sort(sorted)
	sum := sha256.New()
	for _, uid := range sorted {
		fmt.Fprintf(sum, "%q\n", uid)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Batch contains what the tags of an instance say about a launch of several claims.
type Batch struct {
	// ID as BatchID made it.
	ID string
	// UIDs of the claims, sorted.
	UIDs []types.UID
}

// BatchOf reads the batch from the tags of an instance. It returns false if the instance was launched for one claim, or if its tags can't
// be read.
func BatchOf(tags map[string]string) (Batch, bool) {
	b := Batch{ID: tags[TagBatch]}
	if b.ID == "" {
		return Batch{}, false
	}
	for n := 0; ; n++ {
		value, ok := tags[TagBatchUIDs+strconv.Itoa(n)]
		if !ok {
			break
		}
		for _, text := range strings.Split(value, ":") {
			uid, err := unpacked(text)
			if err != nil {
				return Batch{}, false
			}
			b.UIDs = append(b.UIDs, uid)
		}
	}
	slices.Sort(b.UIDs)
	return b, len(b.UIDs) > 0
}

// Whole reports whether EC2 launched either one instance for each claim or no instances at all. If there are fewer instances than claims,
// some instances are missing.
func (b Batch) Whole() bool { return strings.HasSuffix(b.ID, wholeSuffix) }

// Generation returns the generation in BatchID, or 0 if the ID has none.
func (b Batch) Generation() int {
	_, text, _ := strings.Cut(strings.TrimSuffix(b.ID, wholeSuffix), "-")
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// uidTags returns the values of the tags with the UIDs, in the order of the UIDs, in as few tags as possible. It returns an error for UIDs
// that tags can't contain.
func uidTags(uids []types.UID) ([]string, error) {
	sorted := slices.Clone(uids)
	slices.Sort(sorted)
	var values []string
	for _, uid := range sorted {
		text, err := packed(uid)
		if err != nil {
			return nil, err
		}
		if last := len(values) - 1; last >= 0 && len(values[last])+1+len(text) <= longestTagValue {
			values[last] += ":" + text
		} else {
			values = append(values, text)
		}
	}
	return values, nil
}

// Formats of UIDs: Kubernetes' own, and other UIDs that tags can contain.
var (
	uuidFormat  = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	otherFormat = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)
)

// packed returns a UID as a string for a tag: the 16 bytes of a UUID in base64, of which eleven fit into a tag. Other UIDs stay unchanged,
// with a prefix that marks them.
func packed(uid types.UID) (string, error) {
	text := string(uid)
	if uuidFormat.MatchString(text) {
		bytes, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		return base64.RawURLEncoding.EncodeToString(bytes), err
	}
	if otherFormat.MatchString(text) {
		return "=" + text, nil
	}
	return "", fmt.Errorf("metadata.uid %q can't be written into a tag", text)
}

// unpacked is the inverse of packed.
func unpacked(text string) (types.UID, error) {
	if other, ok := strings.CutPrefix(text, "="); ok {
		if !otherFormat.MatchString(other) {
			return "", fmt.Errorf("%q is no UID", other)
		}
		return types.UID(other), nil
	}
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(bytes) != 16 {
		return "", fmt.Errorf("%q is no UID", text)
	}
	h := hex.EncodeToString(bytes)
	return types.UID(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]), nil
}

// Assign assigns the instances of one batch to the UIDs of its claims: the n-th instance in the order of IDs to the n-th UID. Surplus
// instances get no UID.
func Assign(instanceIDs []string, uids []types.UID) map[string]types.UID {
	ids, claims := slices.Clone(instanceIDs), slices.Clone(uids)
	slices.Sort(ids)
	slices.Sort(claims)
	assigned := make(map[string]types.UID, len(ids))
	for n, id := range ids[:min(len(ids), len(claims))] {
		assigned[id] = claims[n]
	}
	return assigned
}

package objects

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// SpecHashes are the hashes of many groups' pod specs. Building and encoding a spec is
// most of the work of checking a pod, and the specs of one class differ only in the group's
// number, and in what follows from it, the distribution key: so the text is built once per class
// and key, and the number inserted.
type SpecHashes struct {
	cluster      *v1beta2.FoundationDBCluster
	distribution distribution.Distribution
	texts        map[textKey]specText
	memo         *plan.HashMemo
}

// textKey is what the text of a spec depends on, apart from the number.
type textKey struct {
	class v1beta2.ProcessClass
	// bucket is that of the distribution; 0 for pods that are not packed.
	bucket int
}

// NewSpecHashes are the hashes for a cluster whose status is complete. It must not
// change while they are used.
func NewSpecHashes(c *v1beta2.FoundationDBCluster) *SpecHashes { return RememberedSpecHashes(c, nil) }

// RememberedSpecHashes are the same, of which a memo knows those that were computed before.
func RememberedSpecHashes(c *v1beta2.FoundationDBCluster, memo *plan.HashMemo) *SpecHashes {
	return &SpecHashes{cluster: c, distribution: distribution.Of(c), texts: map[textKey]specText{}, memo: memo}
}

// specText is the text of a class's specs, cut at every place of the group's number;
// without pieces when the text does not depend on the number in that simple way.
type specText struct {
	pieces [][]byte
	// known are hashes of this very text by number.
	known *plan.KnownHashes
}

// hashWith is the hash of the text with a number in every cut.
func (t specText) hashWith(number string) string {
	text, digits := sha256.New(), []byte(number)
	for i, piece := range t.pieces {
		if i > 0 {
			text.Write(digits)
		}
		text.Write(piece)
	}
	return hex.EncodeToString(text.Sum(nil))
}

// Of is the hash that the pod of a group, created now, would record of its spec.
func (h *SpecHashes) Of(g *v1beta2.ProcessGroupStatus) (string, error) {
	number, plain := h.plainNumber(g)
	if !plain {
		return h.whole(g)
	}
	bucket, _ := h.distribution.BucketOf(g)
	key := textKey{g.ProcessClass, bucket}
	text, known := h.texts[key]
	if !known {
		var err error
		if text, err = h.cut(key); err != nil {
			return "", err
		}
		h.texts[key] = text
	}
	if text.pieces == nil {
		return h.whole(g)
	}
	return text.known.Of(number, text.hashWith), nil
}

func (h *SpecHashes) whole(g *v1beta2.ProcessGroupStatus) (string, error) {
	spec, err := PodSpec(h.cluster, g)
	if err != nil {
		return "", err
	}
	return SpecHash(spec)
}

// plainNumber is the number of a group that is like all others of its class: its ID has the
// current form, and no buggify setting names it.
func (h *SpecHashes) plainNumber(g *v1beta2.ProcessGroupStatus) (number string, plain bool) {
	_, _, n, err := g.ProcessGroupID.Split()
	if err != nil || g.ProcessGroupID != h.cluster.ProcessGroupIDFor(g.ProcessClass, n) {
		return "", false
	}
	faults := h.cluster.Spec.Buggify
	singledOut := slices.Contains(faults.NoSchedule, g.ProcessGroupID) ||
		slices.ContainsFunc(faults.CrashLoopContainers, func(o v1beta2.CrashLoopContainerObject) bool {
			return slices.Contains(o.Targets, g.ProcessGroupID)
		})
	return strconv.Itoa(n), !singledOut
}

// Two numbers that no group has, and none near them: the largest that one can have has five
// digits.
const (
	standIn      = 918273645
	otherStandIn = 546372819
)

// placeholder stands for the number in a text that hashes are remembered by: no JSON has it.
const placeholder = "\x00"

// inBucket returns the next number from n on that is in the bucket of a key.
func (h *SpecHashes) inBucket(n int, key textKey) int {
	if !h.distribution.Packs(key.class) {
		return n
	}
	domains := h.distribution.Domains()
	return n - n%domains + domains + key.bucket
}

// cut builds the text for a placeholder number and splits it there. To verify the result, the
// same pieces must build the text of another placeholder.
func (h *SpecHashes) cut(key textKey) (specText, error) {
	number, otherNumber := h.inBucket(standIn, key), h.inBucket(otherStandIn, key)
	text, err := h.textFor(key.class, number)
	if err != nil {
		return specText{}, err
	}
	other, err := h.textFor(key.class, otherNumber)
	if err != nil {
		return specText{}, err
	}
	pieces := bytes.Split(text, []byte(strconv.Itoa(number)))
	if !bytes.Equal(bytes.Join(pieces, []byte(strconv.Itoa(otherNumber))), other) {
		return specText{}, nil
	}
	return specText{pieces, h.memo.Of(bytes.Join(pieces, []byte(placeholder)))}, nil
}

func (h *SpecHashes) textFor(class v1beta2.ProcessClass, number int) ([]byte, error) {
	g := &v1beta2.ProcessGroupStatus{ProcessGroupID: h.cluster.ProcessGroupIDFor(class, number), ProcessClass: class}
	spec, err := PodSpec(h.cluster, g)
	if err != nil {
		return nil, err
	}
	return hashedText(spec)
}

// SpecHash is the hash that the operator stores of the desired spec: the SHA-256,
// in lower-case hex, of Go's JSON encoding with sorted map keys, escaped HTML
// and a final newline. Equal hashes mean byte-identical JSON, so the order of
// every list matters.
func SpecHash(v any) (string, error) {
	text, err := hashedText(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// hashedText is the text behind a hash.
func hashedText(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return b.Bytes(), nil
}

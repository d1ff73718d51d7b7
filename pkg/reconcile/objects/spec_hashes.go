package objects

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// SpecHashes are the hashes of many groups' pod specs. Building and encoding a spec is
// most of the work of checking a pod, and the specs of one class differ only in the group's
// number, and in what follows from it, the distribution key: so the text is built once per class
// and key, and the number inserted. They may be used by several goroutines at once.
type SpecHashes struct {
	// cluster has only what specs depend on.
	cluster      *v1beta2.FoundationDBCluster
	distribution distribution.Distribution

	mu     sync.Mutex
	texts  map[textKey]specText
	wholes map[groupKey]string
}

// groupKey is what a spec depends on of its process group.
type groupKey struct {
	class v1beta2.ProcessClass
	id    v1beta2.ProcessGroupID
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

// RememberedSpecHashes are the same, of which a memo knows those that were computed before. The cluster may change then.
func RememberedSpecHashes(c *v1beta2.FoundationDBCluster, memo *plan.HashMemo) *SpecHashes {
	return memo.Of(specInputs(c), func(inputs *v1beta2.FoundationDBCluster) any {
		return &SpecHashes{cluster: inputs, distribution: distribution.Of(inputs), texts: map[textKey]specText{}, wholes: map[groupKey]string{}}
	}).(*SpecHashes)
}

// specInputs are the parts of a cluster that pod specs depend on. Hashes are computed of them alone, so that what is
// missing here is missing in every hash, and a test finds it.
func specInputs(c *v1beta2.FoundationDBCluster) *v1beta2.FoundationDBCluster {
	return &v1beta2.FoundationDBCluster{
		TypeMeta: c.TypeMeta, ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: c.Namespace},
		Spec: c.Spec, Status: v1beta2.FoundationDBClusterStatus{RunningVersion: c.Status.RunningVersion},
	}
}

// specText is the text of a class's specs, cut at every place of the group's number;
// without pieces when the text does not depend on the number in that simple way.
type specText struct {
	pieces [][]byte
	// known are hashes of this very text by number.
	known map[string]string
}

// of is the hash of the text with a number, computed at most once.
func (t specText) of(number string) string {
	hash, known := t.known[number]
	if !known {
		hash = t.hashWith(number)
		t.known[number] = hash
	}
	return hash
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
	h.mu.Lock()
	defer h.mu.Unlock()
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
	return text.of(number), nil
}

// whole is the hash of a spec that is built for its process group alone.
func (h *SpecHashes) whole(g *v1beta2.ProcessGroupStatus) (string, error) {
	key := groupKey{g.ProcessClass, g.ProcessGroupID}
	if hash, known := h.wholes[key]; known {
		return hash, nil
	}
	spec, err := PodSpec(h.cluster, &v1beta2.ProcessGroupStatus{ProcessGroupID: g.ProcessGroupID, ProcessClass: g.ProcessClass})
	if err != nil {
		return "", err
	}
	hash, err := SpecHash(spec)
	if err == nil {
		h.wholes[key] = hash
	}
	return hash, err
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
	return specText{pieces, map[string]string{}}, nil
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

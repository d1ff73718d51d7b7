package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/faults"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/node"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/volumes"
)

// NodeRequest changes a node. Exactly one of Health and a taint is given.
type NodeRequest struct {
	Name    string
	Health  *node.Health  `json:",omitempty"`
	Taint   *corev1.Taint `json:",omitempty"`
	Untaint string        `json:",omitempty"` // key of the taints to remove
}

func (m *Machine) changeNode(ctx context.Context, r NodeRequest) error {
	if r.Health != nil {
		return m.Agent.SetHealth(ctx, r.Name, *r.Health)
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		n, err := m.Client.CoreV1().Nodes().Get(ctx, r.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if n.Spec.Taints, err = changeTaints(n.Spec.Taints, r); err != nil {
			return err
		}
		_, err = m.Client.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{})
		return err
	})
}

func changeTaints(taints []corev1.Taint, r NodeRequest) ([]corev1.Taint, error) {
	if r.Taint != nil {
		taints = slices.DeleteFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(r.Taint) })
		return append(taints, *r.Taint), nil
	}
	left := slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool { return t.Key == r.Untaint })
	if len(left) == len(taints) {
		return nil, fmt.Errorf("node %s has no taint %q", r.Name, r.Untaint)
	}
	return left, nil
}

// PodRequest sets a pod's faults. An empty Add clears Remove, or everything.
type PodRequest struct{ Namespace, Name, Add, Remove string }

func (m *Machine) changePod(ctx context.Context, r PodRequest) error {
	pod, err := m.Client.CoreV1().Pods(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	next, err := changeFaults(pod.Annotations[faults.PodAnnotation], r)
	if err != nil {
		return err
	}
	var value any = next
	if next == "" {
		value = nil // removes the annotation
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{faults.PodAnnotation: value}}})
	if err != nil {
		return err
	}
	_, err = m.Client.CoreV1().Pods(r.Namespace).Patch(ctx, r.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// changeFaults computes the next value of the annotation.
func changeFaults(now string, r PodRequest) (string, error) {
	name := func(fault string) string { before, _, _ := strings.Cut(fault, "="); return before }
	words := slices.DeleteFunc(strings.Split(now, ","), func(w string) bool {
		all := r.Add == "" && r.Remove == ""
		return w == "" || all || name(w) == name(r.Add) || name(w) == name(r.Remove)
	})
	if r.Add != "" {
		words = append(words, r.Add)
	}
	next := strings.Join(words, ",")
	_, err := faults.ParsePod(next)
	return next, err
}

// VolumeRequest destroys what a claim's volume holds.
type VolumeRequest struct{ Namespace, Claim string }

// VolumeAnswer is what was lost.
type VolumeAnswer struct {
	Volume string
	Lost   int // simulated data directories
}

func (m *Machine) loseVolume(ctx context.Context, r VolumeRequest) (VolumeAnswer, error) {
	claim, err := m.Client.CoreV1().PersistentVolumeClaims(r.Namespace).Get(ctx, r.Claim, metav1.GetOptions{})
	if err != nil {
		return VolumeAnswer{}, err
	}
	volume, err := m.Client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		return VolumeAnswer{}, err
	}
	dir, err := volumes.Directory(volume)
	if err != nil {
		return VolumeAnswer{}, err
	}
	answer := VolumeAnswer{Volume: volume.Name, Lost: m.Tools.Lose(dir)}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return answer, fmt.Errorf("empty the volume: %w", err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return answer, fmt.Errorf("empty the volume: %w", err)
		}
	}
	return answer, nil
}

// ServerRequest does something to one simulated server.
type ServerRequest struct {
	Address string
	Do      string // kill, freeze or thaw
}

func (m *Machine) changeServer(_ context.Context, r ServerRequest) error {
	verbs := map[string]func(string) error{"kill": m.Tools.Kill, "freeze": m.Tools.Freeze, "thaw": m.Tools.Thaw}
	do := verbs[r.Do]
	if do == nil {
		return fmt.Errorf("unknown verb %q", r.Do)
	}
	return do(r.Address)
}

// DatabaseRequest changes a simulated database and returns its actual state.
type DatabaseRequest struct {
	Name      string         // its description or connection string
	Faults    *fdbsim.Faults `json:",omitempty"` // replace those in force
	LoadBytes int64          `json:",omitempty"` // of user data to store
}

// DatabaseAnswer is the actual state of a database, whatever its status document has.
type DatabaseAnswer struct {
	ConnectionString string   `json:"connectionString"`
	Available        bool     `json:"available"`
	Readable         bool     `json:"readable"`
	Generation       int      `json:"generation"`
	Replicas         []int    `json:"replicas"` // per shard, on undamaged directories in different zones
	Processes        []string `json:"processes"`
}

func (m *Machine) database(_ context.Context, r DatabaseRequest) (DatabaseAnswer, error) {
	d, ok := m.Tools.Database(r.Name)
	if !ok {
		return DatabaseAnswer{}, fmt.Errorf("there is no simulated database %q", r.Name)
	}
	if r.LoadBytes < 0 {
		return DatabaseAnswer{}, errors.New("data cannot be taken away")
	}
	if r.Faults != nil {
		d.SetFaults(*r.Faults)
	}
	if r.LoadBytes > 0 {
		d.LoadBytes(r.LoadBytes)
	}
	return DatabaseAnswer{
		ConnectionString: d.ConnectionString().String(), Available: d.Available(), Readable: d.Readable(),
		Generation: d.Generation(), Replicas: d.Replicas(), Processes: d.Processes(),
	}, nil
}

// APIRequest adds a fault of the API or clears all of them.
type APIRequest struct {
	Add   *faults.Rule `json:",omitempty"`
	Clear bool         `json:",omitempty"`
}

func (m *Machine) changeAPI(_ context.Context, r APIRequest) error {
	if r.Clear {
		m.Proxy.Rules().Clear()
	}
	if r.Add == nil {
		return nil
	}
	if r.Add.Delay > maxDelay {
		return fmt.Errorf("a delay of more than %s is too long", maxDelay)
	}
	return m.Proxy.Rules().Add(*r.Add)
}

// maxDelay bounds how long a request can be held up.
const maxDelay = time.Hour

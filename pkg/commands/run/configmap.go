package run

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const (
	// configMapPrefix begins the value of --state that names a ConfigMap.
	configMapPrefix = "configmap/"
	// stateKey is the key of the state in the data of the ConfigMap.
	stateKey = "state.json"
	// savedPrefix and savedSuffix surround the name of a saved output among the binary data.
	savedPrefix, savedSuffix = "saved.", ".gz"
	// holderAnnotation is the run that uses the state, and renewedAnnotation when it last wrote.
	holderAnnotation  = "kubectl-fdb/runbook-holder"
	renewedAnnotation = "kubectl-fdb/runbook-renewed"

	// renewInterval is how often a run renews its hold during a step.
	renewInterval = 15 * time.Second
	// holdDuration is after how long without a renewal another run may continue.
	holdDuration = time.Minute
	// writeLimit bounds a write, also after the command was interrupted.
	writeLimit = 30 * time.Second
	// maxConfigMapBytes is below the limit of the API server, which counts all of the object.
	maxConfigMapBytes = 1000 << 10
)

// stateMap keeps a state in a ConfigMap. Two runs are kept apart by its resourceVersion, and by who
// holds it: a second run is refused before its first step.
type stateMap struct {
	client client.Client
	key    types.NamespacedName
	holder string
	clock  clock.PassiveClock

	mu sync.Mutex
	// last is the object as this run read or wrote it; nil if there was none.
	last *corev1.ConfigMap
}

func configMapStore(env *session.Env, name string) (*store, error) {
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return nil, exit.Usagef("invalid --state %s%s: %s", configMapPrefix, name, strings.Join(problems, "; "))
	}
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return nil, err
	}
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kubectl-fdb-run-") // only the user may read it
	if err != nil {
		return nil, err
	}
	return &store{files: dir, saved: map[string][]byte{}, temporary: true, keeper: &stateMap{
		client: c, key: types.NamespacedName{Namespace: namespace, Name: name}, holder: env.Holder + " run " + env.RunID, clock: env.Clock,
	}}, nil
}

func (m *stateMap) name() string { return configMapPrefix + m.key.Name }

func (m *stateMap) read(ctx context.Context) (text []byte, saved map[string][]byte, err error) {
	found := &corev1.ConfigMap{}
	err = m.client.Get(ctx, m.key, found)
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read state %s: %w", m.name(), err)
	}
	state, has := found.Data[stateKey]
	if !has {
		return nil, nil, exit.Usagef("read state %s: the ConfigMap in namespace %s has no %s: it is not the state of a run", m.name(), m.key.Namespace, stateKey)
	}
	if err := m.free(found); err != nil {
		return nil, nil, err
	}
	saved = map[string][]byte{}
	for key, packed := range found.BinaryData {
		name, is := strings.CutPrefix(strings.TrimSuffix(key, savedSuffix), savedPrefix)
		if !is {
			continue
		}
		if saved[name], err = unpacked(packed); err != nil {
			return nil, nil, exit.Usage(fmt.Errorf("read state %s: %s: %w", m.name(), key, err))
		}
	}
	m.last = found
	return []byte(state), saved, nil
}

// free fails while another run uses the state.
func (m *stateMap) free(found *corev1.ConfigMap) error {
	holder := found.Annotations[holderAnnotation]
	renewed, err := time.Parse(time.RFC3339, found.Annotations[renewedAnnotation])
	age := m.clock.Now().Sub(renewed)
	if holder == "" || err == nil && age > holdDuration {
		return nil
	}
	if err != nil {
		return exit.Usage(fmt.Errorf("read state %s: annotation %s: %w", m.name(), renewedAnnotation, err))
	}
	return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("the state %s is in use by %s, which renewed it %s ago", m.name(), holder, phrase.Duration(max(age, 0))), Hints: []string{
		"wait for the end of that run; if it was killed, its state can be continued " + phrase.Duration(holdDuration) + " after its last renewal",
	}}
}

// write replaces the ConfigMap, unless another run changed it.
func (m *stateMap) write(ctx context.Context, text []byte, saved map[string][]byte, ended *time.Time) error {
	next := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.key.Namespace, Name: m.key.Name}}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last != nil {
		next = m.last.DeepCopy()
	}
	next.Data = map[string]string{stateKey: string(text)}
	next.BinaryData = map[string][]byte{}
	size := len(text)
	for name, output := range saved {
		packed, err := packed(output)
		if err != nil {
			return fmt.Errorf("write state %s: %w", m.name(), err)
		}
		next.BinaryData[savedPrefix+name+savedSuffix] = packed
		size += len(packed)
	}
	if size > maxConfigMapBytes {
		return exit.Usage(fmt.Errorf("write state %s: %s exceed the %s of a ConfigMap: use a state file", m.name(), phrase.Bytes(int64(size)), phrase.Bytes(maxConfigMapBytes)))
	}
	m.setHolder(next, ended)
	return m.put(ctx, next)
}

// setHolder notes who holds the state, and at the end of an invocation that no run does.
func (m *stateMap) setHolder(next *corev1.ConfigMap, ended *time.Time) {
	annotations := maps.Clone(next.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[holderAnnotation], annotations[renewedAnnotation] = m.holder, m.clock.Now().UTC().Format(time.RFC3339)
	if ended != nil {
		delete(annotations, holderAnnotation)
		delete(annotations, renewedAnnotation)
	}
	next.Annotations = annotations
}

// put writes the ConfigMap: also when the command was interrupted, which is a part of the state.
func (m *stateMap) put(ctx context.Context, next *corev1.ConfigMap) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	var err error
	if m.last == nil {
		err = m.client.Create(ctx, next)
	} else {
		err = m.client.Update(ctx, next)
	}
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err) && m.last != nil:
		return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("write state %s: %w", m.name(), errAnotherRun)}
	case err != nil:
		return fmt.Errorf("write state %s: %w", m.name(), err)
	}
	m.last = next
	return nil
}

// renew writes that the run goes on.
func (m *stateMap) renew(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.last.DeepCopy()
	m.setHolder(next, nil)
	return m.put(ctx, next)
}

// hold renews the hold on a state until stop is called. A renewal that fails is tried again; if another
// run has the state, the next write ends this one.
func (s *store) hold(ctx context.Context, clock clock.WithTicker) (stop func()) {
	m, is := s.keeper.(*stateMap)
	if !is {
		return func() {}
	}
	ended := make(chan struct{})
	var renewing sync.WaitGroup
	renewing.Go(func() {
		ticker := clock.NewTicker(renewInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C():
				if errors.Is(m.renew(ctx), errAnotherRun) {
					return
				}
			}
		}
	})
	return func() {
		close(ended)
		renewing.Wait()
	}
}

func packed(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// unpacked returns what packed was made of. A ConfigMap cannot hold more than it expands to here.
func unpacked(text []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	const most = 64 << 20
	all, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && len(all) > most {
		err = fmt.Errorf("it expands to more than %s", phrase.Bytes(most))
	}
	return all, err
}

package run

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func newStateMap(at time.Time) (*stateMap, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(at)
	return &stateMap{client: fake.NewClientBuilder().Build(), key: types.NamespacedName{Namespace: "fdb", Name: "change"}, holder: "me", clock: clock}, clock
}

func TestTheHoldOnARunbookStateIsRenewedWhileAStepRuns(t *testing.T) {
	m, clock := newStateMap(time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC))
	if err := m.write(t.Context(), []byte("{}"), nil, nil); err != nil {
		t.Fatal(err)
	}
	s := &store{keeper: m}
	stop := s.hold(t.Context(), clock)
	renewed := func() string {
		found := &corev1.ConfigMap{}
		if err := m.client.Get(t.Context(), m.key, found); err != nil {
			t.Fatal(err)
		}
		return found.Annotations[renewedAnnotation]
	}
	before := renewed()
	for start := time.Now(); renewed() == before; time.Sleep(time.Millisecond) {
		if time.Since(start) > 10*time.Minute {
			t.Fatal("the hold is not renewed")
		}
		clock.Step(renewInterval)
	}
	stop()
	if err := m.write(t.Context(), []byte("{}"), nil, new(clock.Now())); err != nil || renewed() != "" {
		t.Errorf("the hold stays after the end: %v", err)
	}
}

func TestRunbookStateTooLargeForAConfigMapIsAnError(t *testing.T) {
	m, _ := newStateMap(time.Now())
	err := m.write(t.Context(), bytes.Repeat([]byte("a"), maxConfigMapBytes+1), nil, nil)
	if exit.Code(err) != exit.ExitUsage || !strings.Contains(err.Error(), "use a state file") {
		t.Errorf("got %v", err)
	}
}

func TestSavedStepOutputSurvivesCompression(t *testing.T) {
	text := bytes.Repeat([]byte(`{"kind":"Plan"}`), 1000)
	small, err := packed(text)
	if err != nil || len(small) > len(text)/2 {
		t.Errorf("%d bytes, %v", len(small), err)
	}
	if got, err := unpacked(small); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := unpacked(small[:len(small)/2]); err == nil {
		t.Error("a truncated output is accepted")
	}
	if _, err := unpacked([]byte("none")); err == nil {
		t.Error("another format is accepted")
	}
}

func TestTheSecondOfTwoSimultaneousRunsGetsAConflict(t *testing.T) {
	first, _ := newStateMap(time.Now())
	second := &stateMap{client: first.client, key: first.key, holder: "other", clock: first.clock}
	if err := first.write(t.Context(), []byte("{}"), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := second.write(t.Context(), []byte("{}"), nil, nil); !errors.Is(err, errAnotherRun) || exit.Code(err) != exit.ExitConflict {
		t.Errorf("got %v", err)
	}
}

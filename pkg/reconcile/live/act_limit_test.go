package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// answering answers commands in pods of agents as a test defines.
type answering func(ctx context.Context, c admin.Command) (admin.Result, error)

func (a answering) Run(ctx context.Context, c admin.Command) (admin.Result, error) { return a(ctx, c) }

func (answering) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("no backup tools here")
}

// deleting is a backup that a user has the Lease of, with agents that answer as a test defines.
func deleting(t *testing.T, a answering) (*vault, *clocktesting.FakeClock) {
	t.Helper()
	v := newVault(t)
	v.settleBackup()
	clock := clocktesting.NewFakeClock(v.backup.Clock.Now())
	v.backup.Clock = clock
	v.backup.Transport = func(*corev1.Pod) admin.Transport { return a }
	if err := v.backup.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.backup.End(context.Background()) })
	return v, clock
}

const nightlyPlaceURL = "blobstore://key@store:443/nightly?bucket=fdb-backups&region=eu"

// deletions are what deletes from a store.
var deletions = map[string]plan.Action{
	"a deletion": plan.ClearBackupData{Backup: "nightly", URL: nightlyPlaceURL},
	"an expiry":  plan.ExpireBackup{Backup: "nightly", URL: nightlyPlaceURL, Before: 5},
	"a policy":   plan.DeleteBackupData{Backup: "nightly", URL: nightlyPlaceURL},
}

func TestDeletionsFromABackupStoreTimeOutAfterAnHour(t *testing.T) {
	for name, a := range deletions {
		t.Run(name, func(t *testing.T) {
			limits := []time.Duration{}
			v, _ := deleting(t, func(ctx context.Context, c admin.Command) (admin.Result, error) {
				if c.Tied {
					until, _ := ctx.Deadline()
					limits = append(limits, c.Limit, time.Until(until).Round(time.Minute))
				}
				return admin.Result{ExitCode: 124 * tiedOnly(c)}, nil
			})
			err := v.backup.Act(t.Context(), a)
			if admin.KindOf(err) != admin.KindUnfinished {
				t.Errorf("got %v", err)
			}
			if len(limits) != 2 || limits[0] != 56*time.Minute || limits[1] < limits[0] || limits[1] > time.Hour {
				t.Errorf("limits %v", limits)
			}
		})
	}
}

func tiedOnly(c admin.Command) int {
	if c.Tied {
		return 1
	}
	return 0
}

// Once the Lease is lost others may act: begin a backup where data is being deleted.
func TestABackupDeletionIsCanceledIfTheLeaseIsLost(t *testing.T) {
	for name, a := range deletions {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{})
			v, clock := deleting(t, func(ctx context.Context, c admin.Command) (admin.Result, error) {
				if !c.Tied {
					return admin.Result{}, nil
				}
				close(begun)
				select {
				case <-ctx.Done():
					return admin.Result{}, &admin.TransportError{Started: true, Where: "the agent", Err: ctx.Err()}
				case <-time.After(10 * time.Minute):
					return admin.Result{}, errors.New("it is not ordered to end")
				}
			})
			ended := make(chan error, 1)
			go func() { ended <- v.backup.Act(t.Context(), a) }()
			<-begun
			var err error
			lease := &coordinationv1.Lease{}
			if err := v.api.Get(t.Context(), named(live.BackupLeaseName("nightly")), lease); err != nil {
				t.Fatal(err)
			}
			lease.Spec.HolderIdentity = new("bob@desk process 9")
			if err := v.api.Update(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
			for waiting := true; waiting; { // until the renewal has begun to look at the clock
				clock.Step(20 * time.Second)
				select {
				case err = <-ended:
					waiting = false
				case <-time.After(50 * time.Millisecond):
				}
			}
			if admin.KindOf(err) != admin.KindUnfinished || !strings.Contains(err.Error(), "lost the Lease during the pass") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The plan of a deletion policy is made without a read of the store. One that does not report would
// keep the tools busy for an hour, without a word.
func TestADeletionPolicyChecksTheStoreBeforeDeleting(t *testing.T) {
	var ran []string
	v, _ := deleting(t, func(_ context.Context, c admin.Command) (admin.Result, error) {
		ran = append(ran, c.Argv[1])
		return admin.Result{ExitCode: 124}, nil
	})
	err := v.backup.Act(t.Context(), deletions["a policy"])
	if admin.KindOf(err) != admin.KindStoreUnresponsive || len(ran) != 1 || ran[0] != "list" {
		t.Errorf("ran %v, got %v", ran, err)
	}
}

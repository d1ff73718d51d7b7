package live_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestExclusionsAreReadWithoutAnExcludeCommand(t *testing.T) {
	f := settled(t)
	f.observe(plan.ClusterResource | plan.Pods)
	if err := f.cli().Exclude(t.Context(), []string{"locality_instance_id:absent"}); err != nil {
		t.Fatal(err)
	}
	f.log.reset()
	facts, err := f.cluster.ReadExclusions(t.Context())
	if err != nil || !facts.ExclusionsRead {
		t.Fatalf("%v, %+v", err, facts)
	}
	if diff := cmp.Diff([]string{"locality_instance_id:absent"}, facts.Exclusions); diff != "" {
		t.Error(diff)
	}
	commands := f.log.those("exec")
	if len(commands) != 1 || strings.Contains(commands[0], "exclude ") || !strings.Contains(commands[0], "in_progress_exclusion") {
		t.Errorf("want one command that only reads, got %q", commands)
	}
}

func TestReadSharedReadsTheLockEvenIfTheSpecDisablesLocks(t *testing.T) {
	f := settled(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.LockOptions.DisableLocks = new(true) })
	if s := f.observe(plan.ClusterResource | plan.Pods | plan.Coordination); s.Coordination.Read {
		t.Fatal("a spec without locks has the lock read in a pass")
	}
	lock := fdb.Lock{Owner: "east", Start: f.cluster.Clock.Now().UTC().Truncate(time.Second), End: f.cluster.Clock.Now().UTC().Add(time.Hour).Truncate(time.Second)}
	keys := fdb.LockKeys{}
	f.put(admin.Set(keys.Lock(), lock.Encode()), admin.Set(keys.Denied("west"), []byte("west")))
	facts, err := f.cluster.ReadShared(t.Context())
	if err != nil || !facts.Read || !facts.Lists.Read {
		t.Fatalf("%v, %+v", err, facts)
	}
	if diff := cmp.Diff(&lock, facts.Lock); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"west"}, facts.DenyList); diff != "" {
		t.Error(diff)
	}
}

func TestClusterFilesAreReadFromThePods(t *testing.T) {
	f := settled(t)
	s := f.observe(plan.ClusterResource | plan.Pods)
	const odd = "sample:other@10.0.0.1:4501"
	first := slices.Sorted(maps.Keys(s.Pods))[0]
	f.cluster.Transport = catching(f.cluster.Transport, map[string]admin.Result{first: {Stdout: []byte(odd)}}, admin.Result{ExitCode: 1, Stderr: []byte("cat: no such file\n")})
	files, err := f.cluster.ReadClusterFiles(t.Context())
	if err != nil || files.LiveUnknown != "" {
		t.Fatalf("%v, %+v", err, files)
	}
	if files.Live.String() != s.Cluster.Status.ConnectionString {
		t.Errorf("live %s, recorded %s", files.Live, s.Cluster.Status.ConnectionString)
	}
	for name, file := range files.Pods {
		want := plan.ClusterFile{Unreadable: "cat: no such file"}
		if name == first {
			want = plan.ClusterFile{Content: odd}
		}
		if diff := cmp.Diff(want, file); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if len(files.Pods) != len(s.Pods) {
		t.Errorf("%d files of %d pods", len(files.Pods), len(s.Pods))
	}
}

func TestAReadInPodsThatPanicsIsAnError(t *testing.T) {
	f := settled(t)
	f.observe(plan.ClusterResource | plan.Pods)
	f.cluster.Transport = func(*corev1.Pod) admin.Transport { panic("no transport") }
	_, err := f.cluster.ReadClusterFiles(t.Context())
	if fault, is := errors.AsType[*reconcile.FaultError](err); !is || fault.Value != "no transport" {
		t.Errorf("%v", err)
	}

	f, _, _ = splitCluster(t, nil)
	f.cluster.Sidecars = func(live.SidecarQuery) live.SidecarQuery { panic("no sidecar") }
	var into plan.Snapshot
	err = f.cluster.Observe(t.Context(), &into, plan.ClusterResource|plan.Pods|plan.PodFiles)
	if fault, is := errors.AsType[*reconcile.FaultError](err); !is || fault.Value != "no sidecar" {
		t.Errorf("%v", err)
	}
}

// cats answers "cat" and leaves all else to the pod.
type cats struct {
	admin.Transport
	answer admin.Result
}

func (c cats) Run(ctx context.Context, command admin.Command) (admin.Result, error) {
	if command.Argv[0] == "cat" {
		return c.answer, nil
	}
	return c.Transport.Run(ctx, command)
}

func catching(to func(*corev1.Pod) admin.Transport, answers map[string]admin.Result, others admin.Result) func(*corev1.Pod) admin.Transport {
	return func(pod *corev1.Pod) admin.Transport {
		answer, known := answers[pod.Name]
		if !known {
			answer = others
		}
		return cats{to(pod), answer}
	}
}

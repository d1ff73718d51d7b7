package session

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Dumped is what commands read instead of the API server and the pods: a dump, or one that is being
// written.
type Dumped struct {
	Facts *dumps.Facts
	Runs  *dumps.Runs

	live *rest.Config // of the API server while a dump is written; nil for none
}

// NewDumped returns what serves a finished dump.
func NewDumped(d *dumps.Dump) *Dumped {
	return &Dumped{Facts: &dumps.Facts{Dump: d}, Runs: &dumps.Runs{Dump: d}}
}

// NewRecording returns what serves a dump that is being written: what it lacks is read through an
// environment, and added to it.
func NewRecording(d *dumps.Dump, e *Env) (*Dumped, error) {
	c, err := e.Client()
	if err != nil {
		return nil, err
	}
	config, err := e.Connection().Config()
	if err != nil {
		return nil, err
	}
	return &Dumped{live: config, Facts: &dumps.Facts{Dump: d, Live: c}, Runs: &dumps.Runs{Dump: d, Live: func(namespace, pod, container string) (admin.Transport, error) {
		at := &corev1.Pod{}
		at.Namespace, at.Name = namespace, pod
		return e.Tool(at, container)
	}}}, nil
}

func (d *Dumped) manifest() dumps.Manifest { return d.Facts.Dump.Manifest }

// namespaces returns the namespaces of the clusters.
func (d *Dumped) namespaces() []string {
	var all []string
	for _, c := range d.manifest().Clusters {
		if !slices.Contains(all, c.Namespace) {
			all = append(all, c.Namespace)
		}
	}
	return all
}

// config returns the configuration of a client that never leaves the dump.
func (d *Dumped) config() *rest.Config {
	return &rest.Config{
		Host: "http://dump.invalid", Transport: dumps.APIServer{Facts: d.Facts},
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON},
	}
}

func (d *Dumped) transport(pod *corev1.Pod) admin.Transport {
	return d.Runs.In(pod.Namespace, pod.Name, v1beta2.ContainerMain)
}

// sidecars returns what answers for the sidecars of split pods: the dump, or while it is written what
// queries them, whose answers are added to it.
func (d *Dumped) sidecars(query live.SidecarQuery) live.SidecarQuery {
	return func(ctx context.Context, pod *corev1.Pod, binaries []string) (plan.PodReport, error) {
		at := dumps.SidecarReport{Namespace: pod.Namespace, Pod: pod.Name, Binaries: binaries}
		answer, err := d.Facts.Sidecar(at, func() (any, error) { return query(ctx, pod, binaries) })
		if err != nil {
			return plan.PodReport{}, err
		}
		var report plan.PodReport
		if err := json.Unmarshal(answer, &report); err != nil {
			return plan.PodReport{}, fmt.Errorf("decode what the sidecar of %s reported: %w", pod.Name, err)
		}
		return report, nil
	}
}

// ReadFrom has all that the commands of an environment read come from a dump: objects, permissions,
// outputs of programs, the audit, and the time. Nothing can be changed then.
func ReadFrom(e *Env, d *Dumped) {
	e.dumped = d
	e.Clock, e.ServerTime = stoppedClock{at: d.manifest().At}, nil
	e.Random = func() uint64 { return d.manifest().Seed }
	c := e.Connection()
	e.Client, e.Connect, e.ConnectBackup, e.ConnectRestore, e.Follow = c.openClient, c.openCluster, c.openBackup, c.openRestore, c.openFollower
	e.Tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
		return d.Runs.In(pod.Namespace, pod.Name, container), nil
	}
	e.Logs = c.openLogs
}

// Dumping returns an environment whose commands read a dump, and print to output without a terminal.
func Dumping(e *Env, d *Dumped, output io.Writer) *Env {
	other := e.Beside(output)
	other.Kube = genericclioptions.NewConfigFlags(false)
	other.Global.Verbose = 0 // requests are logged for the whole program, not for one of its commands
	ReadFrom(other, d)
	return other
}

// DumpedAudit returns the audit of the dump that commands read; false if they read none.
func (e Connection) DumpedAudit() (text []byte, dumped bool) {
	if e.dumped == nil {
		return nil, false
	}
	return e.dumped.Facts.Dump.Files[dumps.AuditFile], true
}

// DumpedFiles returns the files of the dump that commands read, by path, and how much of each is omitted
// at its beginning; false if they read none.
func (e Connection) DumpedFiles() (files map[string][]byte, omitted map[string]int64, dumped bool) {
	if e.dumped == nil {
		return nil, nil, false
	}
	d := e.dumped.Facts.Dump
	return d.Files, d.Omitted, true
}

// stoppedClock shows the time at which a dump was read. Waits take as long as they do.
type stoppedClock struct {
	clock.RealClock
	at time.Time
}

// Now returns the time of the dump.
func (c stoppedClock) Now() time.Time { return c.at }

// Since returns the time between t and the dump.
func (c stoppedClock) Since(t time.Time) time.Duration { return c.at.Sub(t) }

// retryPauses are the pauses before a read is repeated that the API server answered with an error of its own and without
// the header Retry-After; with it client-go repeats the request itself. They end within half of exit.RequestTimeout.
var retryPauses = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// retryingReads repeats reads. It never repeats a write: one that was answered with an error may have been carried out.
type retryingReads struct {
	client.Client
	clock clock.Clock
}

// Get implements client.Reader.
func (r retryingReads) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	return r.repeat(ctx, func() error { return r.Client.Get(ctx, key, o, options...) })
}

// List implements client.Reader.
func (r retryingReads) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return r.repeat(ctx, func() error { return r.Client.List(ctx, list, options...) })
}

// repeat reads until there is an answer, another kind of error, or no pause left.
func (r retryingReads) repeat(ctx context.Context, read func() error) error {
	began := r.clock.Now()
	err := read()
	for n, pause := range retryPauses {
		if !isTemporary(err) {
			return err
		}
		timer := r.clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C():
		}
		if err = read(); n == len(retryPauses)-1 && isTemporary(err) {
			return fmt.Errorf("no answer after %s in %s: %w", phrase.Count(n+2, "attempt"), r.clock.Since(began).Round(time.Second), err)
		}
	}
	return err
}

// isTemporary reports whether an API server, or what is in front of it, answered that it cannot answer now.
func isTemporary(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsTimeout(err) || apierrors.IsInternalError(err)
}

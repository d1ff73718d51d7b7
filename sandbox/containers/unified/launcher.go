package unified

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/containers/process"
)

// Facts are the inputs of a monitor.
type Facts struct {
	Annotations map[string]string
	NodeLabels  map[string]string
}

// Pod is the monitor's own pod.
type Pod interface {
	// Facts delivers the pod's facts now and whenever they change; it is closed
	// when the pod cannot be reached any more.
	Facts() <-chan Facts
	// Annotate sets annotations.
	Annotate(ctx context.Context, set map[string]string) error
}

// monitor runs the processes of one container.
type monitor struct {
	Options
	pod   Pod
	start process.Start
	clock clock.WithTicker
	log   *slog.Logger

	mu      sync.Mutex
	env     map[string]string
	active  *accepted // nil until the first configuration is accepted
	refused string    // the last text that was refused, and why
	facts   Facts
	slots   []*slot           // one per process number
	cluster string            // the live cluster file as last seen
	pending map[string]string // annotations still to be set
	work    sync.WaitGroup
}

// slot is one process number.
type slot struct {
	number  int
	running bool            // its loop runs
	process process.Process // nil while there is none
	stop    chan struct{}   // closed when it must not run any more
}

// RunLauncher runs the processes until ctx ends, and returns when they have ended.
func RunLauncher(ctx context.Context, o Options, pod Pod, start process.Start, c clock.WithTicker, out io.Writer) error {
	m := &monitor{
		Options: o, pod: pod, start: start, clock: c, env: o.Env, pending: map[string]string{},
		log: slog.New(slog.NewJSONHandler(out, nil)),
	}
	for n := 1; n <= o.ProcessCount; n++ {
		m.slots = append(m.slots, &slot{number: n})
	}
	ticker := c.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		m.poll(ctx)
		select {
		case <-ctx.Done():
			m.shutDown()
			return nil
		case facts, ok := <-pod.Facts():
			if !ok {
				m.shutDown()
				return fmt.Errorf("the pod is out of reach")
			}
			m.take(facts)
		case <-ticker.C():
		}
	}
}

func (m *monitor) take(f Facts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.facts = f
	if m.EnableNodeWatch {
		m.env = withNodeLabels(m.Env, f.NodeLabels)
	}
}

// poll reads the files and updates processes and annotations.
func (m *monitor) poll(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readConfiguration()
	m.readClusterFile()
	m.arrange()
	m.annotate(ctx)
}

// readConfiguration takes the configuration when it is a new one. One that is
// refused leaves everything as it was.
func (m *monitor) readConfiguration() {
	raw, err := os.ReadFile(filepath.Join(m.InputDir, m.InputMonitorConf))
	if err != nil {
		m.refuse("", err)
		return
	}
	if m.active != nil && m.active.raw == string(raw) {
		return
	}
	a, err := m.accept(raw, m.env)
	if err != nil {
		m.refuse(string(raw), err)
		return
	}
	environment, err := a.environment(m.env)
	if err != nil {
		m.refuse(string(raw), err)
		return
	}
	m.active, m.refused = &a, ""
	m.log.Info("Received new configuration file", "version", a.Version, "binary", a.binary)
	m.pending[AnnotationConfiguration], m.pending[AnnotationEnvironment] = a.raw, environment
}

// refuse logs once why a configuration is not used.
func (m *monitor) refuse(raw string, err error) {
	if why := raw + err.Error(); m.refused != why {
		m.refused = why
		m.log.Error("Refused configuration file", "error", err.Error())
	}
}

// readClusterFile notes changes of the live cluster file after the first read.
func (m *monitor) readClusterFile() {
	content, err := os.ReadFile(m.ClusterFile)
	if err != nil || string(content) == m.cluster {
		return // there is none before the first start
	}
	if m.cluster != "" {
		m.pending[AnnotationClusterFile] = strconv.FormatInt(m.clock.Now().Unix(), 10)
	}
	m.cluster = string(content)
}

// annotate sets the pending annotations; after a failure the next poll retries.
func (m *monitor) annotate(ctx context.Context) {
	if len(m.pending) == 0 {
		return
	}
	if err := m.pod.Annotate(ctx, m.pending); err != nil {
		m.log.Error("Could not update annotations", "error", err.Error())
		return
	}
	clear(m.pending)
}

// shouldRun reports whether processes should run.
func (m *monitor) shouldRun() bool {
	return m.active != nil && m.active.ServersRun() && m.facts.Annotations[AnnotationIsolate] != "true"
}

// arrange starts the loops of processes that should run and ends the others.
func (m *monitor) arrange() {
	for _, s := range m.slots {
		switch shouldRun := m.shouldRun(); {
		case shouldRun && !s.running:
			s.running, s.stop = true, make(chan struct{})
			m.work.Go(func() { m.keep(s, s.stop) })
		case !shouldRun && s.running:
			m.end(s)
		}
	}
}

// end stops a slot's loop and its process. The caller holds the lock.
func (m *monitor) end(s *slot) {
	select {
	case <-s.stop:
		return // it is ending
	default:
	}
	close(s.stop)
	if s.process != nil {
		s.process.Kill()
	}
}

// keep restarts a process until its slot is stopped.
func (m *monitor) keep(s *slot, stop <-chan struct{}) {
	defer func() {
		m.mu.Lock()
		s.running = false
		m.mu.Unlock()
	}()
	failures := 0
	for {
		began := m.clock.Now()
		code, ran := m.runOnce(s, stop)
		if m.clock.Since(began) > stableAfter {
			failures = 0
		}
		if !ran || code != 0 {
			failures++
		} else {
			failures = 0
		}
		timer := m.clock.NewTimer(backOff(failures))
		select {
		case <-stop:
			timer.Stop()
			return
		case <-timer.C():
		}
	}
}

// runOnce runs the process to its end.
func (m *monitor) runOnce(s *slot, stop <-chan struct{}) (code int, ran bool) {
	wait, err := m.begin(s, stop)
	if err != nil {
		m.log.Error("Could not start subprocess", "processNumber", s.number, "error", err.Error())
		return 0, false
	}
	code = wait()
	m.mu.Lock()
	s.process = nil
	m.mu.Unlock()
	m.log.Info("Subprocess ended", "processNumber", s.number, "exitCode", code)
	return code, true
}

// begin starts the process, unless it is stopped, and returns what waits for its end.
func (m *monitor) begin(s *slot, stop <-chan struct{}) (wait func() int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-stop:
		return func() int { return 0 }, nil
	default:
	}
	argv, err := m.active.CommandLine(m.active.binary, s.number, m.env)
	if err != nil {
		return nil, err
	}
	p, err := m.start(argv)
	if err != nil {
		return nil, err
	}
	s.process = p
	m.log.Info("Subprocess started", "processNumber", s.number, "arguments", argv)
	return p.Wait, nil
}

// shutDown waits for the time in an annotation of the pod, and ends every process.
func (m *monitor) shutDown() {
	m.mu.Lock()
	delay, err := time.ParseDuration(m.facts.Annotations[AnnotationDelayShutdown])
	m.mu.Unlock()
	if err == nil && delay > 0 {
		m.log.Info("Delaying shutdown", "duration", delay.String())
		m.clock.Sleep(delay)
	}
	m.mu.Lock()
	for _, s := range m.slots {
		if s.running {
			m.end(s)
		}
	}
	m.mu.Unlock()
	m.work.Wait()
}

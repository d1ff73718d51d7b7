package split

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/containers/process"
)

// Monitor is fdbmonitor's flags.
type Monitor struct{ ConfFile, LockFile, LogGroup string }

// ParseMonitor reads fdbmonitor's command line. A flag it does not know is an error.
func ParseMonitor(args []string) (Monitor, error) {
	var m Monitor
	f := pflag.NewFlagSet("fdbmonitor", pflag.ContinueOnError)
	f.StringVar(&m.ConfFile, "conffile", "/etc/foundationdb/foundationdb.conf", "configuration file")
	f.StringVar(&m.LockFile, "lockfile", "/var/run/fdbmonitor.pid", "lock file")
	f.StringVar(&m.LogGroup, "loggroup", "default", "log group")
	if err := f.Parse(args); err != nil {
		return m, fmt.Errorf("read flags: %w", err)
	}
	return m, nil
}

// pollInterval is how often the configuration file is read.
const pollInterval = 200 * time.Millisecond

// fdbmonitor runs the processes of a configuration file.
type fdbmonitor struct {
	Monitor
	start process.Start
	clock clock.WithTicker
	out   io.Writer

	mu      sync.Mutex
	text    string // of the configuration in force
	servers map[string]*slot
	work    sync.WaitGroup
}

// slot is one process of the configuration.
type slot struct {
	conf    ServerConf
	process process.Process // nil while it does not run
	stop    chan struct{}   // closed when it is removed from the configuration
}

// Run runs the processes until ctx ends, and returns when they have ended.
func (m Monitor) Run(ctx context.Context, start process.Start, c clock.WithTicker, out io.Writer) error {
	if err := os.WriteFile(m.LockFile, fmt.Appendln(nil, os.Getpid()), 0o644); err != nil {
		return fmt.Errorf("write the lock file: %w", err)
	}
	f := &fdbmonitor{Monitor: m, start: start, clock: c, out: out, servers: map[string]*slot{}}
	ticker := c.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		f.poll()
		select {
		case <-ctx.Done():
			f.apply(MonitorConf{})
			f.work.Wait()
			return nil
		case <-ticker.C():
		}
	}
}

func (f *fdbmonitor) log(id, format string, args ...any) {
	fmt.Fprintf(f.out, "Time=\"%.6f\" Severity=\"10\" LogGroup=%q Process=%q: %s\n",
		float64(f.clock.Now().UnixMicro())/1e6, f.LogGroup, id, fmt.Sprintf(format, args...))
}

// poll applies the configuration file if it changed; one that cannot be read changes nothing.
func (f *fdbmonitor) poll() {
	text, err := os.ReadFile(f.ConfFile)
	if err != nil || string(text) == f.text {
		return
	}
	f.text = string(text)
	conf, err := ParseMonitorConf(f.text)
	if err != nil {
		f.log("fdbmonitor", "Unable to load configuration file: %v", err)
		return
	}
	f.log("fdbmonitor", "Loading configuration %s", f.ConfFile)
	f.apply(conf)
}

// apply starts new processes and ends removed ones. The others get their new
// settings at their next start; those with KillOnChange are restarted for it.
func (f *fdbmonitor) apply(conf MonitorConf) {
	f.mu.Lock()
	defer f.mu.Unlock()
	desired := map[string]bool{}
	for _, c := range conf.Servers {
		desired[c.ID] = true
		f.applyOne(c)
	}
	for id, s := range f.servers {
		if desired[id] {
			continue
		}
		f.log(id, "Deconfigured %s", id)
		delete(f.servers, id)
		close(s.stop)
		if s.process != nil {
			s.process.Kill()
		}
	}
}

func (f *fdbmonitor) applyOne(c ServerConf) {
	s := f.servers[c.ID]
	if s == nil {
		s = &slot{conf: c, stop: make(chan struct{})}
		f.servers[c.ID] = s
		f.work.Go(func() { f.keep(s) })
		return
	}
	changed := !slices.Equal(s.conf.Argv, c.Argv)
	s.conf = c
	if changed && c.KillOnChange && s.process != nil {
		f.log(c.ID, "Found new configuration for process %s", c.ID)
		s.process.Kill()
	}
}

// keep restarts a process until it is removed from the configuration.
func (f *fdbmonitor) keep(s *slot) {
	delay := time.Duration(-1)
	for {
		began := f.clock.Now()
		conf := f.runOnce(s)
		if f.clock.Since(began) >= conf.ResetInterval {
			delay = -1
		}
		delay = conf.nextDelay(delay)
		f.log(conf.ID, "Restarting process in %d seconds", int(delay.Seconds()))
		timer := f.clock.NewTimer(delay)
		select {
		case <-s.stop:
			timer.Stop()
			return
		case <-timer.C():
		}
	}
}

// runOnce runs the process to its end with the settings in force now.
func (f *fdbmonitor) runOnce(s *slot) ServerConf {
	f.mu.Lock()
	conf := s.conf
	select {
	case <-s.stop:
		f.mu.Unlock()
		return conf
	default:
	}
	p, err := f.start(conf.Argv)
	if err == nil {
		s.process = p
		f.log(conf.ID, "Launching %s (%d) for %s", conf.Argv[0], p.PID(), conf.ID)
	} else {
		f.log(conf.ID, "Unable to launch %s: %v", conf.Argv[0], err)
	}
	f.mu.Unlock()
	if err != nil {
		return conf
	}
	code := p.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	s.process = nil
	f.log(conf.ID, "Process %d exited %d", p.PID(), code)
	return conf
}

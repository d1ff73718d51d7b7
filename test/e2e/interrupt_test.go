package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// running are the directories of sandboxes that run: they would outlive a test binary that an interrupt ends.
type running struct {
	sync.Mutex
	dirs map[string]bool
}

var sandboxes = running{dirs: map[string]bool{}}

func (r *running) add(dir string) {
	r.Lock()
	defer r.Unlock()
	r.dirs[dir] = true
}

func (r *running) forget(dir string) {
	r.Lock()
	defer r.Unlock()
	delete(r.dirs, dir)
}

// end ends a sandbox and removes its directory.
func (r *running) end(dir string) {
	stopSandbox(dir)
	r.forget(dir)
}

func stopSandbox(dir string) {
	stop := exec.Command(filepath.Join(binDir, "fdb-sandbox"), "down", "--dir", dir)
	if out, err := stop.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "stopping the sandbox: %v\n%s", err, out)
	}
	_ = os.RemoveAll(dir)
}

// endOnInterrupt ends all sandboxes when the tests are interrupted, and then the tests. What it returns ends it.
func endOnInterrupt() (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
		case s := <-signals:
			sandboxes.Lock() // for good: no test starts another one
			var ends sync.WaitGroup
			for _, dir := range slices.Collect(maps.Keys(sandboxes.dirs)) {
				ends.Go(func() { stopSandbox(dir) })
			}
			ends.Wait()
			const bySignal = 128 // what shells add; where the signal is ignored, as in the background, sending it again ends nothing
			os.Exit(bySignal + int(s.(syscall.Signal)))
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

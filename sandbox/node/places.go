package node

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
)

func (a *Agent) wakeHosts() {
	select {
	case a.hostsWake <- struct{}{}:
	default: // an update is due already
	}
}

// keepHosts keeps the names current in every running container.
func (a *Agent) keepHosts(ctx context.Context) {
	for {
		if err := a.updateHosts(); err != nil {
			a.Log.Error("updating hosts files", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-a.hostsWake:
		}
		// Pods change several at a time, and each change is a file for every container.
		select {
		case <-ctx.Done():
			return
		case <-time.NewTimer(hostsDelay).C:
		}
	}
}

// hostsDelay is how late a changed name is known.
const hostsDelay = 100 * time.Millisecond

func (a *Agent) updateHosts() error {
	pods, err := a.pods.List(labels.Everything())
	if err != nil {
		return err
	}
	services, err := a.services.List(labels.Everything())
	if err != nil {
		return err
	}
	if !a.Hosts.set(names(pods, services)) {
		return nil
	}
	a.placesMu.Lock()
	defer a.placesMu.Unlock()
	return writeHosts(a.RunDir, a.Hosts.file(), slices.Collect(maps.Keys(a.runDirs)))
}

// writeHosts replaces the files of containers at once, so that no program reads half of one. They are one file with many
// names: each change of a pod is one for every container.
func writeHosts(runDir string, content []byte, dirs []string) error {
	written := filepath.Join(runDir, "hosts")
	if err := os.WriteFile(written, content, 0o644); err != nil {
		return err
	}
	var errs []error
	for _, dir := range dirs {
		errs = append(errs, replaceHosts(written, dir))
	}
	return errors.Join(append(errs, os.Remove(written))...)
}

func replaceHosts(written, dir string) error {
	next := filepath.Join(dir, "hosts.new")
	if err := os.Link(written, next); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(dir, "hosts"))
}

// places are the directories of one box.
type places struct{ root, run, socket string }

// newPlaces makes them, with a hosts file that is kept current until dropPlaces.
func (a *Agent) newPlaces(address string) (places, error) {
	name := strconv.FormatInt(a.boxes.Add(1), 10)
	p := places{
		root: filepath.Join(a.RunDir, name, "root"), run: filepath.Join(a.RunDir, name, "run"),
		socket: filepath.Join(a.ShortRunDir, name, "run", "tools.sock"),
	}
	for _, dir := range []string{p.root, p.run} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return p, err
		}
	}
	if err := os.WriteFile(filepath.Join(p.run, box.AddressFile), []byte(address), 0o644); err != nil {
		return p, err
	}
	a.placesMu.Lock()
	defer a.placesMu.Unlock()
	a.runDirs[p.run] = struct{}{}
	return p, writeHosts(a.RunDir, a.Hosts.file(), []string{p.run})
}

func (a *Agent) dropPlaces(p places) {
	a.placesMu.Lock()
	delete(a.runDirs, p.run)
	a.placesMu.Unlock()
	if err := os.RemoveAll(filepath.Dir(p.run)); err != nil {
		a.Log.Error("removing a container's directory", "error", err)
	}
}

package machine

import (
	"fmt"
	"os"
	"path/filepath"
)

// Paths are where a sandbox keeps things below its directory.
type Paths struct{ Dir string }

func (p Paths) at(name string) string { return filepath.Join(p.Dir, name) }

// Kubeconfig is the administrator's way in.
func (p Paths) Kubeconfig() string { return p.at("kubeconfig") }

// Log is what the sandbox has to say after it started.
func (p Paths) Log() string { return p.at("sandbox.log") }

// ComponentLog is what the Kubernetes components have to say.
func (p Paths) ComponentLog() string { return p.at("kubernetes.log") }

// Lock is held by the process that runs the sandbox; it names the process.
func (p Paths) Lock() string { return p.at("lock") }

// ControlSocket is where the running sandbox takes commands.
func (p Paths) ControlSocket() string { return p.at("control.sock") }

// ClientSocket is where programs that link the model's client library reach the databases.
func (p Paths) ClientSocket() string { return p.at("clients.sock") }

// State is what a sandbox keeps for its next start besides what others keep.
func (p Paths) State() string { return p.at("state.json") }

// Prepare makes the directory, for its owner alone.
func (p Paths) Prepare() error {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return fmt.Errorf("create the sandbox's directory: %w", err)
	}
	if err := os.Chmod(p.Dir, 0o700); err != nil {
		return fmt.Errorf("close the sandbox's directory to others: %w", err)
	}
	return nil
}

// shortDir is another name of a directory: one short enough for the sockets
// in it, whose paths may have 107 bytes only. It is good in this process.
func shortDir(dir string) (string, *os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, fmt.Errorf("open the sandbox's directory: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d", f.Fd()), f, nil
}

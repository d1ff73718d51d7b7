package split

import (
	"fmt"
	"os"
	"path/filepath"
)

// requireContent checks the files that must not be empty.
func (s Sidecar) requireContent() error {
	for _, name := range s.RequireNotEmpty {
		info, err := os.Stat(filepath.Join(s.InputDir, name))
		if err != nil {
			return fmt.Errorf("check file %s: %w", name, err)
		}
		if info.Size() == 0 {
			return fmt.Errorf("file %s is empty", name)
		}
	}
	return nil
}

// CopyMonitorConf fills in the monitor configuration and puts it in its place.
func (s Sidecar) CopyMonitorConf() error {
	if s.InputMonitorConf == "" {
		return nil
	}
	template, err := os.ReadFile(filepath.Join(s.InputDir, s.InputMonitorConf))
	if err != nil {
		return fmt.Errorf("read the monitor configuration: %w", err)
	}
	substitutions, err := s.Substitutions()
	if err != nil {
		return err
	}
	target := filepath.Join(s.OutputDir, "fdbmonitor.conf")
	next := target + ".tmp"
	if err := os.WriteFile(next, []byte(FillIn(string(template), substitutions)), 0o644); err != nil {
		return fmt.Errorf("write the monitor configuration: %w", err)
	}
	return os.Rename(next, target)
}

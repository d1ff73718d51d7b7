package split

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MonitorConf is an fdbmonitor.conf, understood.
type MonitorConf struct {
	Servers []ServerConf // in the order of their IDs
}

// ServerConf is one process of the configuration.
type ServerConf struct {
	ID                  string // such as fdbserver.1
	Argv                []string
	KillOnChange        bool
	InitialDelay, Delay time.Duration
	BackOff             float64
	ResetInterval       time.Duration
}

// notArguments are the keys that tell fdbmonitor what to do; all others are
// arguments of the process.
var notArguments = []string{
	"command", "kill_on_configuration_change", "restart_delay", "initial_restart_delay", "restart_backoff",
	"restart_delay_reset_interval", "disable_lifecycle_logging", "delete_envvars", "user", "group", "cluster-file", "cluster_file_path",
}

// ParseMonitorConf reads an fdbmonitor.conf. A section inherits from the one
// of its kind, and that from [general].
func ParseMonitorConf(text string) (MonitorConf, error) {
	sections, order, err := parseIni(text)
	if err != nil {
		return MonitorConf{}, err
	}
	var c MonitorConf
	for _, name := range order {
		kind, id, numbered := strings.Cut(name, ".")
		if !numbered {
			continue
		}
		merged := map[string]string{}
		for _, from := range []string{"general", kind, name} {
			maps.Copy(merged, sections[from])
		}
		server, err := newServerConf(name, id, merged)
		if err != nil {
			return MonitorConf{}, fmt.Errorf("section %s: %w", name, err)
		}
		c.Servers = append(c.Servers, server)
	}
	return c, nil
}

func parseIni(text string) (sections map[string]map[string]string, order []string, err error) {
	sections = map[string]map[string]string{}
	current := ""
	for number, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		if name, ok := strings.CutPrefix(line, "["); ok {
			current = strings.TrimSuffix(name, "]")
			if sections[current] == nil {
				sections[current] = map[string]string{}
				order = append(order, current)
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || current == "" {
			return nil, nil, fmt.Errorf("line %d: neither a section nor a setting: %s", number+1, line)
		}
		sections[current][strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return sections, order, nil
}

func newServerConf(name, id string, settings map[string]string) (ServerConf, error) {
	s := ServerConf{ID: name, KillOnChange: settings["kill_on_configuration_change"] != "false"}
	if settings["command"] == "" {
		return s, fmt.Errorf("no command")
	}
	s.Argv = strings.Fields(settings["command"])
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if slices.Contains(notArguments, key) {
			continue
		}
		value := strings.ReplaceAll(settings[key], "$ID", id)
		if name, isFlag := strings.CutPrefix(key, "flag_"); isFlag {
			if value == "true" {
				s.Argv = append(s.Argv, "--"+name)
			}
			continue
		}
		s.Argv = append(s.Argv, "--"+key+"="+value)
	}
	return s, s.readDelays(settings)
}

func (s *ServerConf) readDelays(settings map[string]string) error {
	text, ok := settings["restart_delay"]
	if !ok {
		return fmt.Errorf("no restart_delay")
	}
	var err error
	if s.Delay, err = seconds(text); err != nil {
		return fmt.Errorf("restart_delay: %w", err)
	}
	s.BackOff, s.ResetInterval = s.Delay.Seconds(), s.Delay
	if text, ok := settings["initial_restart_delay"]; ok {
		if s.InitialDelay, err = seconds(text); err != nil {
			return fmt.Errorf("initial_restart_delay: %w", err)
		}
	}
	if text, ok := settings["restart_delay_reset_interval"]; ok {
		if s.ResetInterval, err = seconds(text); err != nil {
			return fmt.Errorf("restart_delay_reset_interval: %w", err)
		}
	}
	if text, ok := settings["restart_backoff"]; ok {
		if s.BackOff, err = strconv.ParseFloat(text, 64); err != nil || s.BackOff < 1 {
			return fmt.Errorf("restart_backoff: %q is not a number of at least 1", text)
		}
	}
	return nil
}

func seconds(text string) (time.Duration, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a number of seconds", text)
	}
	return time.Duration(n * float64(time.Second)), nil
}

// nextDelay is the wait after the one before, which is negative for none.
func (s ServerConf) nextDelay(before time.Duration) time.Duration {
	if before < 0 {
		return s.InitialDelay
	}
	return min(s.Delay, time.Duration(s.BackOff*max(1, before.Seconds())*float64(time.Second)))
}
